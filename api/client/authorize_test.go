package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/api/client"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/warrant"
)

const executor = "up.example"

func warrantKey(t *testing.T) *keys.Signer {
	t.Helper()
	s, err := keys.NewSigner(keys.Warrants, []byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serviceOf is a service that runs up.note for whoever has a warrant.
func serviceOf(t *testing.T, g *gateway, ran *[]string) *httptest.Server {
	t.Helper()
	c, err := warrant.New(warrant.Config{Audience: executor, Keys: warrantKey(t).Public(), Now: g.Clock.Now, Ask: g.client.Standing})
	if err != nil {
		t.Fatal(err)
	}
	guard := &warrant.Guard{Checker: c}
	s := httptest.NewServer(guard.Wrap("up.note", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*ran = append(*ran, string(body)+" "+r.Header.Get("Idempotency-Key"))
		_, _ = io.WriteString(w, `{"id":17}`)
	})))
	t.Cleanup(s.Close)
	return s
}

// present sends arguments with a warrant and returns the verdict and the body.
func present(t *testing.T, url string, envelope []byte, args string) (warrant.Verdict, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(args))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(warrant.Header, warrant.Encode(envelope))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return warrant.Verdict(answer.Header.Get(warrant.VerdictHeader)), string(text)
}

func TestAnAuthorizedCallRunsAtItsExecutorAndIsReported(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	var ran []string
	service := serviceOf(t, g, &ran)
	a, err := g.client.Authorize(t.Context(), client.Call{Tool: "up.note", Arguments: `{"text":"a","n":1e0}`, Key: "k"})
	if err != nil || a.Outcome.Code != verbatim.CodeAuthorized || a.Args != `{"n":1,"text":"a"}` || a.SendBy.IsZero() {
		t.Fatalf("%+v, %v", a, err)
	}
	id := a.Outcome.ActionID
	if v, text := present(t, service.URL, a.Warrant, `{"n":2,"text":"a"}`); v != warrant.ArgumentsChanged || !strings.Contains(text, `"code":"arguments_changed"`) {
		t.Errorf("changed: %s %s", v, text)
	}
	v, text := present(t, service.URL, a.Warrant, ` {"text":"a", "n":1.0}`)
	if v != warrant.OK || text != `{"id":17}` || len(ran) != 1 || ran[0] != `{"n":1,"text":"a"} "`+action.ProviderKey(id, 1)+`"` {
		t.Fatalf("%s %s %v", v, text, ran)
	}
	if v, _ := present(t, service.URL, a.Warrant, a.Args); v != warrant.Replayed {
		t.Errorf("again: %s", v)
	}
	done := verbatim.Report{Warrant: a.Warrant, Ended: verbatim.ReportSucceeded, Verdict: v, Output: []byte(text)}
	for range 2 {
		if o, err := g.client.Report(t.Context(), id, done); err != nil || o.State != action.Succeeded || string(o.Output) != `{"id":17}` {
			t.Errorf("%+v, %v", o, err)
		}
	}
	done.Ended, done.Output = verbatim.ReportFailed, nil
	var p *client.Problem
	if o, err := g.client.Report(t.Context(), id, done); !errors.As(err, &p) || p.Code != verbatim.CodeTooLate || o.State != action.Succeeded {
		t.Errorf("the contrary: %+v, %v", o, err)
	}
	if again, err := g.client.Authorize(t.Context(), client.Call{Tool: "up.note", Arguments: `{"text":"a","n":1}`, Key: "k"}); err != nil || again.Warrant != nil || !again.Outcome.Replayed {
		t.Errorf("its key again: %+v, %v", again, err)
	}
	if len(g.runs) > 0 {
		t.Errorf("the gateway ran %v", g.runs)
	}
}

func TestWhatHasEndedDoesNotStartAtTheExecutor(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	var ran []string
	service := serviceOf(t, g, &ran)
	a, err := g.client.Authorize(t.Context(), client.Call{Tool: "up.note", Arguments: `{"text":"a"}`})
	if err != nil {
		t.Fatal(err)
	}
	o, err := g.client.Report(t.Context(), a.Outcome.ActionID, verbatim.Report{Warrant: a.Warrant, Ended: verbatim.ReportFailed})
	if err != nil || o.Status != verbatim.StatusFailed {
		t.Fatalf("%+v, %v", o, err)
	}
	if v, _ := present(t, service.URL, a.Warrant, a.Args); v != warrant.Replayed || len(ran) > 0 {
		t.Errorf("%s, ran %v", v, ran)
	}
	g.server.Close()
	other := newGateway(t)
	b, err := other.client.Authorize(t.Context(), client.Call{Tool: "up.note", Arguments: `{"text":"a"}`})
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := present(t, service.URL, b.Warrant, b.Args); v != warrant.Unavailable || len(ran) > 0 {
		t.Errorf("with a gateway that cannot be asked: %s, ran %v", v, ran)
	}
}

func TestARefusedAuthorizationHasNoWarrant(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	for tool, want := range map[string]verbatim.Code{"up.pay": verbatim.CodeApprovalRequired, "up.secret": verbatim.CodePolicyDenied, "up.none": verbatim.CodeUnknownTool} {
		if a, err := g.client.Authorize(t.Context(), client.Call{Tool: tool, Arguments: `{"text":"a"}`}); err != nil || a.Warrant != nil || a.Outcome.Code != want {
			t.Errorf("%s: %+v, %v", tool, a, err)
		}
	}
	var p *client.Problem
	if _, err := g.client.Report(t.Context(), "none", verbatim.Report{Ended: verbatim.ReportSucceeded}); !errors.As(err, &p) || p.Status != 400 && p.Status != 404 {
		t.Errorf("a report of nothing: %v", err)
	}
}
