package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/api"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// event is one server-sent event.
type event struct{ id, name, data string }

// listener reads events as they come.
type listener struct {
	t      *testing.T
	status int
	header http.Header
	lines  *bufio.Scanner
	end    context.CancelFunc
}

// listen opens a stream at a real server.
func (w *world) listen(t *testing.T, id, last string) *listener {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		r.Host = "gate.test"
		w.http.ServeHTTP(rw, r)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v1/actions/"+id+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer maria-"+canary)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); answer.Body.Close(); server.CloseClientConnections(); server.Close() })
	return &listener{t, answer.StatusCode, answer.Header, bufio.NewScanner(answer.Body), cancel}
}

// next returns the next event; ok is false at the end of the stream.
func (l *listener) next() (e event, ok bool) {
	l.t.Helper()
	for l.lines.Scan() {
		line := l.lines.Text()
		if strings.Contains(line, canary) {
			l.t.Errorf("the stream tells a secret: %s", line)
		}
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "":
			if e.name != "" {
				return e, true
			}
		}
	}
	return event{}, false
}

// words are an event's event or state.
func (e event) words() string {
	var x struct{ Event, State string }
	if err := json.Unmarshal([]byte(e.data), &x); err != nil {
		return err.Error()
	}
	return e.name + " " + x.Event + x.State
}

func (l *listener) rest() (out []string, last string) {
	for {
		e, ok := l.next()
		if !ok {
			return out, last
		}
		out = append(out, e.words())
		if e.id != "" {
			last = e.id
		}
	}
}

func TestEventsTellEveryRecordOnceAndEndWithTheAction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId")
	l := w.listen(t, id, "")
	if l.status != 200 || l.header.Get("Content-Type") != "text/event-stream" || l.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", l.status, l.header)
	}
	var got []string
	for range 3 {
		e, _ := l.next()
		got = append(got, e.words())
	}
	w.Approve(id, "ada")
	for range 3 {
		e, _ := l.next()
		got = append(got, e.words())
	}
	w.call("maria", "up.pay", `{"text":"a"}`)
	rest, last := l.rest()
	states := []string{}
	var records []string
	for _, x := range append(got, rest...) {
		if strings.HasPrefix(x, "state ") {
			states = append(states, x)
		} else {
			records = append(records, x)
		}
	}
	if diff := cmp.Diff([]string{"record action_suspended", "record caller_left", "record vote_approve", "record action_approved",
		"record action_claimed", "record action_started", "record action_succeeded"}, records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if states[0] != "state pending_approval" || states[len(states)-1] != "state succeeded" {
		t.Errorf("states %v", states)
	}
	if again := w.listen(t, id, last); again.status != http.StatusNoContent {
		t.Errorf("after the last event: %d", again.status)
	}
}

func TestEventsGoOnBehindTheLastOneThatTheClientKnows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId")
	first := w.listen(t, id, "")
	one, _ := first.next()
	first.end()
	w.Approve(id, "ada") // while nobody listens
	w.ask("maria", http.MethodPost, "/v1/actions/"+id+"/dismiss", "{}")
	got, _ := w.listen(t, id, one.id).rest()
	if diff := cmp.Diff([]string{"record caller_left", "record vote_approve", "record action_approved", "record action_dismissed", "state revoked"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestAStreamEndsInTimeAndWithTheGateway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId")
	l := w.listen(t, id, "")
	l.next()
	w.hub.Close(context.Background())
	l.rest() // it ends, or the test never does
	if got, _ := w.listen(t, id, "").rest(); len(got) != 3 || got[2] != "state pending_approval" {
		t.Errorf("at a gateway that ends: %v", got)
	}
}

func TestAStreamLastsNoLongerThanItMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId")
	a, err := api.New(api.Config{Calls: w.hub, Actions: w.Gate, Pause: time.Millisecond, Stream: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/actions/"+id+"/events", nil)
	a.ServeFor(rec, r, endpoint.Identity{Key: "maria", Caller: hub.Caller{Session: w.Session()}}) // it returns, or the test never does
	if !strings.HasPrefix(rec.Body.String(), "retry: 1000\n\nid: ") || strings.Count(rec.Body.String(), "event: state") != 1 {
		t.Error(rec.Body.String())
	}
}

func TestAPrincipalHasAsManyWaitingRequestsAsPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId")
	var open []*listener
	for range api.MaxWaiting {
		l := w.listen(t, id, "")
		if _, ok := l.next(); !ok {
			t.Fatal(l.status)
		}
		open = append(open, l)
	}
	for _, path := range []string{"/events", "?wait=1"} {
		if got := w.get("maria", "/v1/actions/"+id+path); got.status != 429 || got.header.Get("Retry-After") != "1" {
			t.Errorf("%s: %d %s", path, got.status, got.text)
		}
	}
	if got := w.get("maria", "/v1/actions/"+id); got.status != 200 {
		t.Errorf("what does not wait: %d %s", got.status, got.text)
	}
	other := w.ask("bob", http.MethodPost, "/v1/call", bodyOf("up.pay", `{"text":"b"}`)).at("/outcome/data/actionId")
	if got := w.get("bob", "/v1/actions/"+other+"?wait=1&state=approved"); got.status != 200 {
		t.Errorf("another principal: %d %s", got.status, got.text)
	}
	for _, l := range open {
		l.end()
	}
	for got := w.get("maria", "/v1/actions/"+id+"?wait=1&state=approved"); got.status != 200; {
		got = w.get("maria", "/v1/actions/"+id+"?wait=1&state=approved") // once the server has seen that they are gone
	}
}

func TestAStrangeLastEventIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId")
	for _, last := range []string{"0", "-1", "x", "01", "1.0", "+1", "", "9223372036854775808", canary} {
		if got := w.ask("maria", http.MethodGet, "/v1/actions/"+id+"/events", "", "Last-Event-ID", last); got.status != 400 || got.at("/code") != "invalid_request" {
			t.Errorf("%q: %d %s", last, got.status, got.text)
		}
	}
	if got := w.ask("maria", http.MethodGet, "/v1/actions/"+id+"/events", "", "Last-Event-ID", "1", "Last-Event-ID", "2"); got.status != 400 {
		t.Errorf("two: %d %s", got.status, got.text)
	}
	for _, who := range []string{"bob", "foreign", "narrow"} {
		if got := w.get(who, "/v1/actions/"+id+"/events"); got.status != 404 {
			t.Errorf("%s: %d %s", who, got.status, got.text)
		}
	}
}

// Many listeners of one action hear the same, whenever they begin.
func TestListenersHearTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId")
	heard := make([]string, 8)
	var all sync.WaitGroup
	for i := range heard {
		l := w.listen(t, id, "")
		all.Go(func() {
			for {
				e, ok := l.next()
				if !ok {
					return
				}
				if e.name == "record" {
					heard[i] += e.id + " "
				}
			}
		})
	}
	w.Approve(id, "ada")
	w.call("maria", "up.pay", `{"text":"a"}`)
	all.Wait()
	for i, x := range heard {
		if x != heard[0] || x == "" {
			t.Errorf("listener %s heard %q, the first %q", strconv.Itoa(i), x, heard[0])
		}
	}
}
