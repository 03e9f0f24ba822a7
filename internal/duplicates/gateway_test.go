package duplicates_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/store/postgres"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// order is the variable that makes this binary a gateway: the connection
// string, the file of effects and what is planted, each on a line.
const order = "VERBATIM_DUPLICATES_GATEWAY"

// request is a line to a gateway.
type request struct {
	ID      int
	N       int    // number of the proposal
	Key     string // "" for none
	Hold    bool   // the tool waits until it is released
	Leave   bool   // the caller goes once the tool has begun
	Release bool   // lets the tool of N go on; not a call
}

// answer is a line from a gateway.
type answer struct {
	ID       int
	Status   verbatim.Status
	Code     verbatim.Code
	Output   string
	Replayed bool
	Joined   bool
	Error    string
}

// TestGateway is what a gateway process does: calls, until its input ends.
func TestGateway(t *testing.T) {
	text := os.Getenv(order)
	if text == "" {
		return // this is the parent
	}
	words := strings.Split(text, "\n")
	g := &gateway{effects: words[1], plant: words[2], begun: map[int]chan struct{}{}, held: map[int]chan struct{}{}, left: map[int]bool{}}
	g.open(t, words[0])
	lines := bufio.NewScanner(os.Stdin)
	var calls sync.WaitGroup
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		calls.Add(1)
		go func() {
			defer calls.Done()
			g.serve(r)
		}()
	}
	calls.Wait()
	g.gate.Wait()
}

type gateway struct {
	gate    *verbatim.Gate
	effects string
	plant   string

	mu    sync.Mutex
	begun map[int]chan struct{} // closed when the tool of a proposal has begun
	held  map[int]chan struct{} // closed when it may go on
	left  map[int]bool          // proposals whose caller goes, here
}

const schema = `{"type":"object","required":["n","hold"],"properties":{"n":{"type":"integer"},"hold":{"type":"boolean"}}}`

func (g *gateway) open(t *testing.T, dsn string) {
	t.Helper()
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{9}, 32))
	if err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(context.Background(), postgres.Options{DSN: dsn, Sealer: sealer, Connections: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	pay, err := verbatim.Untyped(catalog.Spec{Name: "pay", Schema: []byte(schema), Impact: catalog.Ordinary, Reason: "play money",
		Effect: catalog.Blind, Timeout: time.Minute}, execute.HandlerFunc(g.pay))
	if err != nil {
		t.Fatal(err)
	}
	rules := policy.FromFunc("1", func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
	})
	g.gate = verbatimtest.New(t, verbatimtest.Config{Tools: []verbatim.Bound{pay}, Policy: rules,
		Gate: func(c *verbatim.Config) { c.Store = forgetful{s, g.plant} }}).Gate
}

// pay takes its effect, a line in a file that nobody rewrites, and answers
// with what no other run answers.
func (g *gateway) pay(ctx context.Context, in execute.Input) (execute.Output, error) {
	var args struct {
		N    int
		Hold bool
	}
	if err := json.Unmarshal(in.JSON(), &args); err != nil {
		return execute.Output{}, err
	}
	f, err := os.OpenFile(g.effects, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return execute.Output{}, err
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%d\n", args.N); err != nil {
		return execute.Output{}, err
	}
	if args.Hold && g.hold(args.N) {
		_, held := g.signs(args.N)
		select {
		case <-held:
		case <-ctx.Done():
			return execute.Output{}, ctx.Err()
		}
	}
	return execute.Output{Bytes: fmt.Appendf(nil, `{"receipt":%q}`, rand.Text())}, nil
}

// hold notes that the tool has begun and says whether it is to wait: only the
// first run of a proposal in a process where one is let go.
func (g *gateway) hold(n int) bool {
	begun, _ := g.signs(n)
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-begun:
		return false
	default:
		close(begun)
		return g.left[n]
	}
}

func (g *gateway) signs(n int) (begun, held chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.begun[n] == nil {
		g.begun[n], g.held[n] = make(chan struct{}), make(chan struct{})
	}
	return g.begun[n], g.held[n]
}

func (g *gateway) serve(r request) {
	begun, held := g.signs(r.N)
	if r.Release {
		close(held)
		g.say(answer{ID: r.ID})
		return
	}
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	if r.Leave {
		g.mu.Lock()
		g.left[r.N] = true
		g.mu.Unlock()
		go func() {
			<-begun
			leave()
		}()
	}
	o, err := g.gate.Call(ctx, verbatim.Session{Tenant: "acme", Principal: "maria", Owner: "maria", Agent: "Support Agent"},
		verbatim.Call{Tool: "pay", Arguments: fmt.Appendf(nil, `{"n":%d,"hold":%t}`, r.N, r.Hold), IdempotencyKey: r.Key})
	a := answer{ID: r.ID, Status: o.Status, Code: o.Code, Output: string(o.Output), Replayed: o.Replayed, Joined: o.Joined}
	if err != nil {
		a.Error = err.Error()
	}
	g.say(a)
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

// What may be planted, for the harness to find.
const (
	plantNoKey  = "no key"
	plantNoJoin = "no join"
)

// forgetful is a store with a plant.
type forgetful struct {
	verbatim.Store
	plant string
}

func (f forgetful) ByKey(ctx context.Context, tenant, principal, key string) (action.Action, error) {
	if f.plant == plantNoKey {
		return action.Action{}, action.ErrNotFound
	}
	return f.Store.ByKey(ctx, tenant, principal, key)
}

func (f forgetful) Begin(ctx context.Context, s action.Start) (action.Action, error) {
	if f.plant == plantNoKey {
		s.Action.Key = ""
	}
	return f.Store.Begin(ctx, s)
}

func (f forgetful) Joinable(ctx context.Context, tenant, principal string, mark canon.Digest) ([]action.Action, error) {
	if f.plant == plantNoJoin {
		return nil, nil
	}
	return f.Store.Joinable(ctx, tenant, principal, mark)
}
