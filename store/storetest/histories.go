package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
)

// The size of the histories: VERBATIM_HISTORIES of VERBATIM_HISTORY_OPS
// operations each; less by default.
const (
	historiesVariable  = "VERBATIM_HISTORIES"
	historyOpsVariable = "VERBATIM_HISTORY_OPS"

	defaultHistories  = 4
	defaultHistoryOps = 600
	historyClients    = historyRows / 2 // the search takes all orders of what overlaps
	seenWithin        = 200             // histories, a planted bug must be seen
	opsOfPart         = 96              // so that parts are fought over from their beginning to their end
)

func sized(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is no number", variable)
	}
	return n
}

// testHistories lets many clients use the store at once and asks for each
// history whether one order of its operations explains every answer
// (linearizability). Stores with a planted bug must have no such order.
func testHistories(t *testing.T, open Open) {
	t.Parallel()
	t.Run("have an order", func(t *testing.T) {
		t.Parallel()
		b := prepare(t, open)
		histories, ops := sized(t, historiesVariable, defaultHistories), sized(t, historyOpsVariable, defaultHistoryOps)
		done := map[string]int{}
		for range histories {
			history := record(b, b.store, ops)
			if !ordered(t, history) {
				t.Fatalf("no order explains this history:\n%s", unexplained(history))
			}
			count(done, history)
		}
		t.Logf("%d histories of %d operations of %d clients; of them moved a row: %v", histories, ops, historyClients, done)
	})
	for name, spoil := range map[string]func(verbatim.Store) verbatim.Store{
		"two claims win":             func(s verbatim.Store) verbatim.Store { return &lenientClaim{Store: s} },
		"a read is a little late":    func(s verbatim.Store) verbatim.Store { return &staleRead{Store: s} },
		"a refused start is a start": func(s verbatim.Store) verbatim.Store { return &lenientBegin{Store: s} },
	} {
		t.Run("a store where "+name+" has none", func(t *testing.T) {
			t.Parallel()
			b := prepare(t, open)
			for range seenWithin {
				if !ordered(t, record(b, spoil(b.store), defaultHistoryOps)) {
					return
				}
			}
			t.Fatal("the planted bug was not seen")
		})
	}
}

// count adds which operations moved a row.
func count(done map[string]int, history []porcupine.Operation) {
	for _, op := range history {
		in := op.Input.(historyInput)
		if op.Output.(historyOutput).Err == nil && in.Op != lookOp && !in.Perhaps {
			done[in.Op]++
		}
	}
}

func ordered(t *testing.T, history []porcupine.Operation) bool {
	t.Helper()
	result := porcupine.CheckOperationsTimeout(historyModel(), history, time.Minute)
	if result == porcupine.Unknown {
		t.Fatal("the search for an order did not end")
	}
	return result == porcupine.Ok
}

// unexplained prints the parts of a history that have no order.
func unexplained(history []porcupine.Operation) string {
	m, out := historyModel(), ""
	for _, part := range m.Partition(history) {
		if porcupine.CheckOperations(m, part) {
			continue
		}
		for _, op := range part {
			out += fmt.Sprintf("%d-%d client %d: %+v gave %+v\n", op.Call, op.Return, op.ClientId, op.Input, op.Output)
		}
	}
	return out
}

// contest is one part of a history: rows that clients fight over.
type contest struct {
	keyed bool
	calls [historyRows]action.Action
	index map[string]int // id to row
}

func newContest(b *bench, part int) *contest {
	c := &contest{keyed: part%2 == 0, index: map[string]int{}}
	mark := fmt.Sprintf("h%d", b.next())
	for i := range c.calls {
		a := b.callWith(mark)
		if c.keyed {
			a.Key = mark
		}
		if i >= historyRows/2 {
			a = b.asking(a, []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}})
		}
		c.calls[i], c.index[a.ID] = a, i
	}
	return c
}

// record runs clients against a store and returns what they did and saw.
func record(b *bench, store verbatim.Store, ops int) []porcupine.Operation {
	return recorder{b, []verbatim.Store{store}, nil}.record(ops)
}

// recorder takes down what clients of several stores of one database do.
type recorder struct {
	*bench
	stores []verbatim.Store
	// failed takes an error that is no refusal. It returns whether the
	// operation may have happened nevertheless, or ends the client. nil: none
	// may fail.
	failed func(error) (perhaps, end bool)
}

func (r recorder) record(ops int) []porcupine.Operation {
	contests := make([]*contest, max(1, ops/opsOfPart))
	for i := range contests {
		contests[i] = newContest(r.bench, i)
	}
	begun := time.Now()
	seen := make([][]porcupine.Operation, historyClients)
	var clients sync.WaitGroup
	for id := range historyClients {
		clients.Go(func() {
			for i := range ops / historyClients {
				part := i * len(contests) * historyClients / ops
				part = min(part, len(contests)-1)
				did, end := r.one(contests[part], draw(id, part, contests[part].keyed), id, begun)
				if seen[id] = append(seen[id], did...); end {
					return
				}
			}
		})
	}
	clients.Wait()
	var all []porcupine.Operation
	for _, ops := range seen {
		all = append(all, ops...)
	}
	return all
}

// one makes one operation.
func (r recorder) one(c *contest, in historyInput, client int, begun time.Time) (did []porcupine.Operation, end bool) {
	call := time.Since(begun)
	out, err := c.run(r.Context(), r.stores[client%len(r.stores)], in)
	switch {
	case err == nil:
		return halves(client, in, out, call, time.Since(begun)), false
	case r.failed == nil:
		r.Errorf("%s: %v", in.Op, err)
		return nil, true
	}
	perhaps, end := r.failed(err)
	if perhaps {
		did = doubtful(client, in, call)
	}
	return did, end
}

// halves is one operation as the search takes it: a start that was granted is
// a look and a commit.
func halves(client int, in historyInput, out historyOutput, call, end time.Duration) []porcupine.Operation {
	granted := out.Err == nil && (in.Op == "start" || in.Op == "suspend" || in.Op == "begin")
	in.Looked = granted
	op := porcupine.Operation{ClientId: client, Input: in, Call: call.Nanoseconds(), Output: out, Return: end.Nanoseconds()}
	if !granted {
		return []porcupine.Operation{op}
	}
	look := op
	in.Op = lookOp
	look.Input, look.Output = in, historyOutput{Row: in.Row}
	return []porcupine.Operation{op, look}
}

// draw chooses an operation. What usually comes next is drawn more often.
func draw(client, part int, keyed bool) historyInput {
	pick := func(list ...action.State) action.State { return list[rand.IntN(len(list))] }
	in := historyInput{Part: part, Keyed: keyed, Row: rand.IntN(historyRows), Voter: rand.IntN(2), Fence: 1}
	if rand.IntN(8) == 0 {
		in.Fence = 2
	}
	usual := []string{"start", "finish"}
	if in.Row >= historyRows/2 {
		usual = []string{"suspend", "approve", "claim", "begin", "finish"}
	}
	rare := []string{"reject", "dismiss", "revoke", "approve", "claim", "begin"}
	switch n := rand.IntN(20); {
	case n < 14:
		in.Op = usual[rand.IntN(len(usual))]
	case n < 16:
		in.Op = "reconcile"
	case n < 19:
		in.Op = "read"
	default:
		in.Op = rare[rand.IntN(len(rare))]
	}
	switch {
	case in.Op == "start" || in.Op == "suspend": // nobody else makes these two rows
		if in.Row = client; in.Op == "suspend" {
			in.Row += historyRows / 2
		}
	case in.Op == "begin" && in.Row < historyRows/2: // an allowed call that holds a fence would be another verb
		in.Op = "read"
	}
	if in.State = pick(action.Succeeded, action.Failed, action.Uncertain, action.Uncertain); in.Op == "reconcile" {
		in.State = pick(action.ReconciledSucceeded, action.ReconciledFailed, action.ReconciledFailed)
	}
	return in
}

// run makes one operation. An error is one that no store may answer.
func (c *contest) run(ctx context.Context, store verbatim.Store, in historyInput) (historyOutput, error) {
	row, err := c.verb(ctx, store, in)
	out := historyOutput{Row: -1, State: row.State, Fence: row.Fence}
	known := false
	if out.Err, known = refusalOf(err); !known {
		return out, err
	}
	if row.ID != "" {
		i, mine := c.index[row.ID]
		if !mine {
			return out, fmt.Errorf("a row of somebody else: %s", row.ID)
		}
		out.Row = i
	}
	return out, nil
}

func (c *contest) verb(ctx context.Context, store verbatim.Store, in historyInput) (action.Action, error) {
	a := c.calls[in.Row]
	switch in.Op {
	case "start":
		return store.Begin(ctx, action.Start{Action: a, Lease: lease})
	case "suspend":
		return store.Suspend(ctx, a)
	case "approve", "reject":
		v := vote(a, []string{ann, bob}[in.Voter], in.Op == "approve")
		if a.Terms != nil {
			v.LoginAt = a.Terms.RequestedAt // time stands still
		}
		return store.Vote(ctx, v)
	case "claim":
		return store.Claim(ctx, a.ID, lease)
	case "begin":
		a.Fence = in.Fence
		return store.Begin(ctx, action.Start{Action: a, Lease: lease})
	case "finish":
		a.Fence = in.Fence
		return store.Finish(ctx, ending(a, in.State))
	case "dismiss":
		return store.Dismiss(ctx, a.ID, principal)
	case "revoke":
		return store.Revoke(ctx, a.ID, opal, "no")
	case "reconcile":
		return store.Reconcile(ctx, action.Reconciliation{ID: a.ID, State: in.State, By: opal, Evidence: "seen"})
	default:
		return store.Action(ctx, tenant, a.ID)
	}
}
