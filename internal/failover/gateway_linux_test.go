package failover_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/store/postgres"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// order is the variable that makes this binary a gateway.
const order = "VERBATIM_FAILOVER_GATEWAY"

// place is where a gateway works.
type place struct {
	DSN      string
	Dir      string // of this gateway
	Provider string // directory of the providers' files
	Sync     bool
}

// request is a line to a gateway.
type request struct {
	ID   int
	N    int // number of the proposal
	Tool string
	Ask  bool   // people must approve it
	Vote string // the action on which Voter votes yes; then it is no call
	By   string
}

// answer is a line from a gateway.
type answer struct {
	ID       int
	Status   verbatim.Status
	Code     verbatim.Code
	Action   string
	State    action.State
	Output   string
	Replayed bool
	Error    string
}

// tenant, patience and toolTimeout: the lease of a run is 15 s longer than its
// timeout.
const (
	tenant      = "acme"
	toolTimeout = time.Second
	leaseOver   = toolTimeout + 16*time.Second
)

// tools by the effect class of their provider. More calls go to the blind one.
func tools() map[string]catalog.EffectClass {
	return map[string]catalog.EffectClass{"blind": catalog.Blind, "queryable": catalog.Queryable, "keyed": catalog.Keyed,
		"cancel": catalog.KeyedCancel}
}

func provider(dir, tool string) *verbatimtest.Provider {
	return verbatimtest.NewProvider(filepath.Join(dir, tool), tools()[tool])
}

// TestGateway is what a gateway process does: calls, until its input ends.
func TestGateway(t *testing.T) {
	text := os.Getenv(order)
	if text == "" {
		return // this is the parent
	}
	var p place
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	s, err := openStore(p.DSN, nil, func(o *postgres.Options) { o.RequireSync = p.Sync })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := &gateway{Fixture: newGate(t, p, s, unsteady)}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go g.Gate.Tend(ctx, verbatim.Upkeep{Every: 300 * time.Millisecond, Sweep: true})
	g.listen(t)
}

func openStore(dsn string, now func() time.Time, change func(*postgres.Options)) (*postgres.Store, error) {
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{9}, 32))
	if err != nil {
		return nil, err
	}
	opt := postgres.Options{DSN: dsn, Sealer: sealer, Connections: 12, Patience: 10 * time.Second, Now: now}
	if change != nil {
		change(&opt)
	}
	return postgres.Open(context.Background(), opt)
}

// newGate is a gate on a shared store, with a tool for each effect class.
func newGate(t *testing.T, p place, s *postgres.Store, step func(context.Context, string) error) *verbatimtest.Fixture {
	t.Helper()
	var bound []verbatim.Bound
	for tool, effect := range tools() {
		from := provider(p.Provider, tool)
		from.OnStep(step)
		spec := catalog.Spec{Name: tool, Impact: catalog.Ordinary, Reason: "play money", Effect: effect, Timeout: toolTimeout,
			Schema: []byte(`{"type":"object","required":["n","ask"],"properties":{"n":{"type":"integer"},"ask":{"type":"boolean"}}}`)}
		if effect == catalog.Keyed || effect == catalog.KeyedCancel {
			spec.Retention = 24 * time.Hour
		}
		b, err := verbatim.Untyped(spec, from.Handler())
		if err != nil {
			t.Fatal(err)
		}
		bound = append(bound, b)
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return verbatimtest.New(t, verbatimtest.Config{Dir: p.Dir, Tools: bound, Policy: policy.FromFunc("1", decide),
		Gate: func(c *verbatim.Config) { c.Store = s }})
}

// unsteady makes providers slow, and loses some requests and some replies.
func unsteady(ctx context.Context, step string) error {
	if rand.IntN(4) == 0 {
		select {
		case <-time.After(time.Duration(rand.IntN(40)) * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	switch n := rand.IntN(200); {
	case n < 2:
		return execute.ErrLost
	case n < 3 && step == verbatimtest.StepArrive:
		return execute.ErrNotRun
	}
	return nil
}

func decide(_ context.Context, in policy.Input) (policy.Decision, error) {
	ask, _ := in.Requested.Get("ask")
	if ask.Bool() {
		return policy.Decision{Effect: policy.RequireApproval, Reason: "test", Approval: &policy.Approval{
			Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}}, TTL: 5 * time.Minute,
			PendingTTL: time.Hour}}, nil
	}
	return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
}

type gateway struct {
	*verbatimtest.Fixture
	mu sync.Mutex // of what it says
}

func (g *gateway) listen(t *testing.T) {
	lines := bufio.NewScanner(os.Stdin)
	var calls sync.WaitGroup
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Error(err)
			break
		}
		calls.Go(func() { g.say(g.serve(r)) })
	}
	calls.Wait()
	g.Gate.Wait()
}

// callPatience is how long one call may take.
const callPatience = 40 * time.Second

func (g *gateway) serve(r request) answer {
	ctx, cancel := context.WithTimeout(context.Background(), callPatience)
	defer cancel()
	a := answer{ID: r.ID}
	if r.Vote != "" {
		row, err := g.Vote(r.Vote, r.By, true)
		a.State, a.Action = row.State, row.ID
		if err != nil {
			a.Error = err.Error()
		}
		return a
	}
	o, err := g.Gate.Call(ctx, session(), verbatim.Call{Tool: r.Tool, Arguments: fmt.Appendf(nil, `{"n":%d,"ask":%t}`, r.N, r.Ask),
		IdempotencyKey: fmt.Sprintf("key-%d", r.N)})
	a.Status, a.Code, a.Action, a.State, a.Output, a.Replayed = o.Status, o.Code, o.ActionID, o.State, string(o.Output), o.Replayed
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

func session() verbatim.Session {
	return verbatim.Session{Tenant: tenant, Principal: "maria", Owner: "maria", Agent: "Support Agent"}
}

func (g *gateway) say(a answer) {
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // plain fields
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	os.Stdout.Write(append(append([]byte("\nanswer "), text...), '\n'))
}
