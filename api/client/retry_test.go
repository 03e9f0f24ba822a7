package client_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/api/client"
)

// cutAfter lets the gateway do its work and then cuts the line, n times.
func (g *gateway) cutAfter(n int) {
	server := g.server.Config.Handler
	g.meddling(func(w http.ResponseWriter, r *http.Request) bool {
		g.mu.Lock()
		cut := n > 0
		n--
		saved := g.meddle
		g.meddle = nil
		g.mu.Unlock()
		defer g.meddling(saved)
		if !cut {
			return false
		}
		server.ServeHTTP(discard{http.Header{}}, r)
		panic(http.ErrAbortHandler)
	})
}

type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

func TestACallWithAKeyIsRepeatedAndRunsOnce(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.cutAfter(2)
	o, err := g.client.Call(t.Context(), client.Call{Tool: "up.note", Arguments: `{"text":"a"}`, Key: client.NewKey()})
	if err != nil || o.Status != verbatim.StatusOK || !o.Replayed {
		t.Fatalf("%+v, %v", o, err)
	}
	if diff := cmp.Diff([]string{`{"n":3,"text":"a"}`}, g.ran()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestACallWithoutAKeyIsNeverRepeatedOnceItLeft(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.cutAfter(1)
	_, err := g.client.Call(t.Context(), client.Call{Tool: "up.note", Arguments: `{"text":"` + token + `"}`})
	if !errors.Is(err, client.ErrUnclear) || strings.Contains(err.Error(), token) {
		t.Fatalf("%v", err)
	}
	if n := len(g.ran()); n != 1 || g.asked("POST") != 2 { // the second is the one that was cut, inside
		t.Errorf("%d runs, %d requests", n, g.asked("POST"))
	}
}

func TestWhatNeverLeftOrWasTurnedAwayIsSentAgain(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	turned := 0
	g.meddling(func(w http.ResponseWriter, _ *http.Request) bool {
		if turned++; turned > 2 {
			return false
		}
		w.Header().Set("Retry-After", "0")
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"type":"about:blank","title":"Too Many Requests","status":429}`))
		return true
	})
	if o, err := g.client.Call(t.Context(), client.Call{Tool: "up.note", Arguments: `{"text":"a"}`}); err != nil || o.Code != "ok" {
		t.Errorf("%+v, %v", o, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	l.Close()
	tries := 0
	c, err := client.New(client.Config{URL: nobody, Rest: time.Millisecond, Tries: 3,
		Token: func(context.Context) (string, error) { tries++; return "t", nil }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.Call(t.Context(), client.Call{Tool: "a", Arguments: "{}"}); err == nil || errors.Is(err, client.ErrUnclear) || tries != 3 {
		t.Errorf("after %d tries: %v", tries, err)
	}
}

func TestUnavailableIsRepeatedOnlyWithAKey(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]int{"": 1, "k": 4} {
		g := newGateway(t)
		g.meddling(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"type":"x","title":"t","status":503,"code":"record_failed"}`))
			return true
		})
		_, err := g.client.Call(t.Context(), client.Call{Tool: "up.note", Arguments: `{"text":"a"}`, Key: key})
		var p *client.Problem
		if !errors.As(err, &p) || p.Code != "record_failed" || g.asked("POST") != want {
			t.Errorf("key %q: %d requests, %v", key, g.asked("POST"), err)
		}
	}
}

func TestAnswersThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status     int
		kind, text string
	}{
		"a page":                  {200, "text/html", "<html>"},
		"no JSON":                 {200, "application/json", "{"},
		"an array":                {200, "application/json", "[]"},
		"no outcome":              {200, "application/json", "{}"},
		"a new status":            {200, "application/json", `{"outcome":{"status":"done","code":"ok","data":{}}}`},
		"no code":                 {200, "application/json", `{"outcome":{"status":"ok","data":{}}}`},
		"a member twice":          {200, "application/json", `{"outcome":{"status":"denied","status":"ok","code":"ok","data":{}}}`},
		"case twins":              {200, "application/json", `{"outcome":{"status":"ok","Status":"ok","code":"ok","data":{}}}`},
		"a number for a text":     {200, "application/json", `{"outcome":{"status":"ok","code":5,"data":{}}}`},
		"a new state":             {200, "application/json", `{"outcome":{"status":"ok","code":"ok","data":{"state":"gone"}}}`},
		"a denial that went well": {200, "application/json", `{"outcome":{"status":"denied","code":"policy_denied","data":{}}}`},
		"a success that failed":   {403, "application/problem+json", `{"title":"t","outcome":{"status":"ok","code":"ok","data":{}}}`},
		"a failure without JSON":  {502, "text/plain", "bad gateway"},
		"an odd success":          {206, "application/json", `{"outcome":{"status":"ok","code":"ok","data":{}}}`},
		"output twice":            {200, "application/json", `{"outcome":{"status":"ok","code":"ok","data":{"output":1,"output":2}}}`},
		"outcome twice":           {200, "application/json", `{"outcome":{"status":"ok","code":"ok","data":{"output":1}},"outcome":{"status":"ok","code":"ok","data":{"output":2}}}`},
	} {
		g := newGateway(t)
		g.meddling(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", tt.kind)
			w.WriteHeader(tt.status)
			_, _ = w.Write([]byte(tt.text))
			return true
		})
		if o, err := g.client.Call(t.Context(), client.Call{Tool: "up.note", Arguments: `{}`}); !errors.Is(err, client.ErrAnswer) {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}

func TestWaitingGoesOnOverPollsAndBrokenStreams(t *testing.T) {
	t.Parallel()
	var broken atomic.Int32 // a cut line orders nothing between two handlers
	for name, meddle := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"no streams": func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/events") {
				return false
			}
			http.Error(w, "not here", http.StatusNotFound)
			return true
		},
		"a page instead of a stream": func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/events") {
				_, _ = w.Write([]byte("<html>"))
				return true
			}
			return false
		},
		"streams that break off": func(_ http.ResponseWriter, r *http.Request) bool {
			if n := broken.Add(1); strings.HasSuffix(r.URL.Path, "/events") && n%2 == 1 {
				panic(http.ErrAbortHandler)
			}
			return false
		},
		"streams that never come through": func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/events") {
				w.WriteHeader(http.StatusBadGateway)
				return true
			}
			return false
		},
	} {
		g := newGateway(t)
		o, err := g.client.Call(t.Context(), client.Call{Tool: "up.pay", Arguments: `{"text":"a"}`})
		if err != nil {
			t.Fatal(err)
		}
		g.meddling(meddle)
		got := make(chan client.Action, 1)
		go func() {
			a, err := g.client.Wait(context.Background(), o.ActionID, action.PendingApproval)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			got <- a
		}()
		for g.asked("GET") == 0 {
			time.Sleep(time.Millisecond)
		}
		g.Approve(o.ActionID, "ada")
		if a := <-got; a.State != action.Approved || a.ID != o.ActionID {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestWaitingForWhatIsOverEndsAtOnce(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	o, err := g.client.Call(t.Context(), client.Call{Tool: "up.note", Arguments: `{"text":"a"}`})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := g.client.Wait(t.Context(), o.ActionID, action.Succeeded); err != nil || a.State != action.Succeeded {
		t.Errorf("%+v, %v", a, err)
	}
	var p *client.Problem
	if _, err := g.client.Wait(t.Context(), "none", action.PendingApproval); !errors.As(err, &p) || !p.NotFound() {
		t.Errorf("%v", err)
	}
}
