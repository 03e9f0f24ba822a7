package daemon_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// running is a daemon in this process.
type running struct {
	t      *testing.T
	gate   *verbatimtest.Fixture
	home   config.Home
	client *daemon.Client
	ended  chan error
}

// start runs a daemon whose one tool, pay, needs an admin. change may alter
// its configuration.
func start(t *testing.T, change func(*daemon.Config)) *running {
	t.Helper()
	bound, err := verbatim.Untyped(catalog.Spec{Name: "pay", Sentence: "Pay {amount} to {to}", Impact: catalog.Financial,
		Schema: []byte(`{"type":"object","properties":{"amount":{"type":"integer"},"to":{"type":"string"},"pin":{"type":"string"}}}`), Secrets: []string{"/pin"}},
		execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: []byte(`{}`)}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	f := verbatimtest.New(t, verbatimtest.Config{Tools: []verbatim.Bound{bound}, Policy: asks{}})
	signer, err := keys.NewSigner(keys.Votes, []byte(strings.Repeat("7", 32)))
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := auth.New(auth.Config{Book: f.Store, Votes: signer})
	if err != nil {
		t.Fatal(err)
	}
	cfg := daemon.Config{Home: config.Home(t.TempDir()), Listen: "127.0.0.1:0", Tenant: "acme", Gate: f.Gate, Accounts: accounts,
		Tools: func(name string) (*catalog.Tool, bool) { return bound.Tool, name == "pay" },
		Pages: func(string) (http.Handler, error) {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the page") }), nil
		},
		Attach: func(h daemon.Hello, n *daemon.Notes) (daemon.Upstream, error) {
			if h.Command == "" {
				return nil, errors.New("there is no such server")
			}
			n.Say("started %s", h.Command)
			return echo{}, nil
		},
		Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&cfg)
	}
	r := &running{t: t, gate: f, home: cfg.Home, ended: make(chan error, 1)}
	r.run(cfg)
	return r
}

func (r *running) run(cfg daemon.Config) {
	r.t.Helper()
	lock, err := daemon.TakeLock(cfg.Home)
	if err != nil {
		r.t.Fatal(err)
	}
	ready := make(chan daemon.State, 1)
	cfg.Ready = func(s daemon.State) { ready <- s }
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		r.ended <- errors.Join(daemon.Run(ctx, lock, cfg), lock.Free())
		close(r.ended)
	}()
	r.t.Cleanup(func() { cancel(); <-r.ended })
	select {
	case <-ready:
	case err := <-r.ended:
		r.t.Fatalf("the daemon ended: %v", err)
	}
	if r.client, err = daemon.Connect(context.Background(), cfg.Home); err != nil {
		r.t.Fatal(err)
	}
}

// asks requires approval of everything.
type asks struct{}

func (asks) Version(string) string { return "1" }

func (asks) Decide(context.Context, policy.Input) (policy.Decision, error) {
	return policy.Decision{Effect: policy.RequireApproval, Reason: "always ask"}, nil
}

// echo is an upstream that says back what it hears.
type echo struct{}

func (echo) Serve(ctx context.Context, client io.ReadWriteCloser) error {
	stop := context.AfterFunc(ctx, func() { client.Close() })
	defer stop()
	_, err := io.Copy(client, client)
	return err
}

func (echo) Stop() {}

// pending proposes one payment and returns its id.
func (r *running) pending(arguments string) string {
	r.t.Helper()
	o, err := r.gate.Gate.Call(context.Background(), r.gate.Session(), verbatim.Call{Tool: "pay", Arguments: []byte(arguments)})
	if err != nil || o.ActionID == "" {
		r.t.Fatalf("%+v, %v", o, err)
	}
	return o.ActionID
}

func status(err error) int {
	var refused *daemon.Refusal
	if !errors.As(err, &refused) {
		return 0
	}
	return refused.Status
}

func TestAttachmentCarriesBytesBothWaysAndNotesBeside(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	ctx := context.Background()
	a, err := r.client.Attach(ctx, daemon.Hello{Command: "some-server", Env: []string{"A=b"}})
	if err != nil {
		t.Fatal(err)
	}
	notes := make(chan string, 1)
	go func() {
		var b strings.Builder
		if err := r.client.Notes(ctx, a, &b); err != nil {
			t.Error(err)
		}
		notes <- b.String()
	}()
	if _, err := io.WriteString(a, "frame\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(a).ReadString('\n'); err != nil || line != "frame\n" {
		t.Errorf("got %q, %v", line, err)
	}
	if err := a.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, a); err != nil {
		t.Error(err)
	}
	if got := <-notes; got != "verbatim: started some-server\n" {
		t.Errorf("notes %q", got)
	}
	if _, err := r.client.Attach(ctx, daemon.Hello{}); status(err) != http.StatusUnprocessableEntity || !strings.Contains(err.Error(), "no such server") {
		t.Errorf("a server that does not start: %v", err)
	}
}

func TestRequestsAreReadStrictly(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	id := r.pending(`{"amount":1,"to":"x"}`)
	for name, body := range map[string]any{
		"unknown member": map[string]any{"approve": true, "digest": "", "name": "a", "password": "b", "admin": true},
		"other case":     map[string]any{"Approve": true, "digest": "", "name": "a", "password": "b"},
		"missing member": map[string]any{"digest": "", "name": "a", "password": "b"},
		"wrong type":     map[string]any{"approve": "yes", "digest": "", "name": "a", "password": "b"},
		"no object":      []any{},
		"no digest":      map[string]any{"approve": true, "digest": "", "name": "a", "password": "b"},
	} {
		if err := r.client.Post(context.Background(), "/v1/actions/"+id+"/vote", body); status(err) != http.StatusBadRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.client.Post(context.Background(), "/v1/nothing", nil); err == nil {
		t.Error("an unknown path answered")
	}
}

func TestVoteCountsForWhatWasShownOnly(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	ctx := context.Background()
	id := r.pending(`{"amount":5,"to":"acme","pin":"0000-1111"}`)
	shown, err := r.client.Action(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if shown.Headline != `Pay 5 to “acme”` {
		t.Errorf("headline %q", shown.Headline)
	}
	for _, row := range shown.Arguments {
		if strings.Contains(row.Effective, "1111") {
			t.Errorf("a secret is shown: %+v", row)
		}
	}
	other := strings.Repeat("0", 64)
	_, err = r.client.Vote(ctx, id, daemon.Ballot{Approve: true, Digest: other, Name: "ada", Password: "x"})
	if status(err) != http.StatusConflict {
		t.Errorf("another digest: %v", err)
	}
	_, err = r.client.Vote(ctx, id, daemon.Ballot{Approve: true, Digest: shown.Digest, Name: "nobody", Password: "x"})
	if status(err) != http.StatusUnauthorized {
		t.Errorf("a name that does not exist: %v", err)
	}
	_, err = r.client.Vote(ctx, "act_none", daemon.Ballot{Approve: true, Digest: shown.Digest, Name: "ada", Password: "x"})
	if status(err) != http.StatusNotFound {
		t.Errorf("an action that does not exist: %v", err)
	}
	if again, err := r.client.Action(ctx, id); err != nil || len(again.Votes) != 0 || again.State != "pending_approval" {
		t.Errorf("after refused votes: %+v, %v", again, err)
	}
}

func TestToolThatIsNotTheOneDecidedOnCannotBeApproved(t *testing.T) {
	t.Parallel()
	known := true
	r := start(t, func(c *daemon.Config) {
		tools := c.Tools
		c.Tools = func(name string) (*catalog.Tool, bool) {
			if !known {
				return nil, false
			}
			return tools(name)
		}
	})
	id := r.pending(`{"amount":5,"to":"acme"}`)
	known = false
	shown, err := r.client.Action(context.Background(), id)
	if err != nil || shown.WhyNot == "" || strings.Contains(shown.Headline, "acme") {
		t.Errorf("of an unknown tool %+v is shown (%v)", shown, err)
	}
	_, err = r.client.Vote(context.Background(), id, daemon.Ballot{Approve: true, Digest: shown.Digest, Name: "ada", Password: "x"})
	if status(err) != http.StatusConflict {
		t.Errorf("vote: %v", err)
	}
}

func TestLaterAccountNeedsAnEarlierOne(t *testing.T) {
	t.Parallel()
	r := start(t, nil) // ada and bob exist
	_, err := r.client.AddAccount(context.Background(), daemon.NewAccount{Name: "eve", Password: "a good long password"})
	if status(err) != http.StatusForbidden {
		t.Errorf("an account without a login: %v", err)
	}
	people, err := r.client.Accounts(context.Background())
	if err != nil || len(people.Accounts) != 2 {
		t.Errorf("%+v, %v", people, err)
	}
}

func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	ctx := context.Background()
	first, second := r.pending(`{"amount":1,"to":"x"}`), r.pending(`{"amount":2,"to":"x"}`)
	list, err := r.client.Actions(ctx, "pending", 1)
	if err != nil || len(list.Actions) != 1 || list.Actions[0].ID != second {
		t.Errorf("%+v, %v; want only %s", list, err, second)
	}
	for _, limit := range []int{0, -1, 1001} {
		if _, err := r.client.Actions(ctx, "all", limit); status(err) != http.StatusBadRequest {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	records, err := r.client.Records(ctx, first, "", 10, 0)
	if err != nil || len(records.Records) == 0 || records.Records[0].Action != first {
		t.Errorf("%+v, %v", records, err)
	}
}
