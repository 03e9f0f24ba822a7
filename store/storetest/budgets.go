package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
)

// budgetStepsVariable sets how many random steps limits are tried with, and
// budgetSeedVariable which; half of the steps are those of one caller, in
// ledgers of at most budgetLedger steps.
const (
	budgetStepsVariable = "VERBATIM_BUDGET_STEPS"
	budgetSeedVariable  = "VERBATIM_BUDGET_SEED"
	defaultBudgetSteps  = 600
	budgetLedger        = 50_000
	budgetWorkers       = 8
)

// testBudgets takes random steps on limits and compares every window with a
// ledger that is kept beside the store: one caller with clock and changing
// limits, then many callers at once. A planted bug must be seen.
func testBudgets(t *testing.T, open Open) {
	t.Parallel()
	steps := sized(t, budgetStepsVariable, defaultBudgetSteps)
	seed := uint64(sized(t, budgetSeedVariable, 1))
	for part, left := 0, steps/2; left > 0; part, left = part+1, left-budgetLedger {
		t.Run(fmt.Sprintf("one caller, part %d", part), func(t *testing.T) {
			t.Parallel()
			testLedger(t, prepare(t, open), min(left, budgetLedger), seed+uint64(part)<<32)
		})
	}
	t.Run("many callers", func(t *testing.T) {
		t.Parallel()
		testBudgetCrowd(t, prepare(t, open), steps/2, seed)
	})
	for name, spoil := range map[string]func(verbatim.Store) verbatim.Store{
		"a limit is forgotten now and then": func(s verbatim.Store) verbatim.Store { return &forgetful{Store: s} },
		"a limit is stretched":              func(s verbatim.Store) verbatim.Store { return &generous{s} },
	} {
		t.Run("a store where "+name+" is seen", func(t *testing.T) {
			t.Parallel()
			l := newLedger(prepare(t, open), seed)
			l.store = spoil(l.store)
			for range 20 * defaultBudgetSteps {
				if l.step(false) != nil {
					return
				}
			}
			t.Fatal("the planted bug was not seen")
		})
	}
}

func testLedger(t *testing.T, b *bench, steps int, seed uint64) {
	l := newLedger(b, seed)
	for i := range steps {
		if err := l.step(i%500 == 499); err != nil {
			t.Fatalf("seed %d, step %d: %v", seed, i, err)
		}
	}
	if err := l.compareAll(); err != nil {
		t.Fatalf("seed %d, at the end: %v", seed, err)
	}
	t.Logf("%d steps of one caller: %v", steps, l.done)
}

type forgetful struct {
	verbatim.Store
	n atomic.Int64
}

func (f *forgetful) Begin(ctx context.Context, s action.Start) (action.Action, error) {
	if len(s.Limits) > 0 && f.n.Add(1)%20 == 0 {
		s.Limits = s.Limits[1:]
	}
	return f.Store.Begin(ctx, s)
}

type generous struct{ verbatim.Store }

func (g *generous) Begin(ctx context.Context, s action.Start) (action.Action, error) {
	limits := append([]action.Limit(nil), s.Limits...)
	for i := range limits {
		limits[i].Most++
	}
	s.Limits = limits
	return g.Store.Begin(ctx, s)
}

// window names one window of the ledger.
type window struct {
	name, scope, currency string
	starts                int64
}

// entry is what one run took, and where it stands.
type entry struct {
	row   action.Action
	takes map[window]int64
	state action.State
	gave  bool // proved or said not to have happened
}

// ledger is the model: what every run took, summed anew for each comparison.
type ledger struct {
	*bench
	store   verbatim.Store
	rnd     *rand.Rand
	most    map[string]int64 // by limit: what the catalog says now
	entries []*entry
	touched map[window]*tally
	done    map[string]int
}

// tally is one window as it should be.
type tally struct{ most, reserved, posted int64 }

func newLedger(b *bench, seed uint64) *ledger {
	return &ledger{bench: b, store: b.store, rnd: rand.New(rand.NewPCG(seed, 2)), most: map[string]int64{"calls": 12, "spend": 5000},
		touched: map[window]*tally{}, done: map[string]int{}}
}

// step does one random thing and compares the windows that it touched; with
// all, every window and every reservation.
func (l *ledger) step(all bool) error {
	kind, touched, err := "", []window(nil), error(nil)
	switch n := l.rnd.IntN(100); {
	case n < 45:
		kind, touched, err = l.beginSome()
	case n < 85:
		kind, touched, err = l.endSome()
	case n < 90:
		kind = "change"
		l.most["spend"] = 1000 + l.rnd.Int64N(9000)
		l.most["calls"] = 2 + l.rnd.Int64N(20)
	case n < 98:
		kind = "wait"
		l.clock.add(time.Duration(l.rnd.IntN(40)) * time.Minute)
	default:
		kind, touched, err = l.sweep()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	l.done[kind]++
	if all {
		return l.compareAll()
	}
	return l.compare(touched)
}

func (l *ledger) drawLimits() []action.Limit {
	who := fmt.Sprintf(`["principal","p%d"]`, l.rnd.IntN(3))
	limits := []action.Limit{{Name: "spend", Window: action.Day, Scope: who, Currency: []string{"EUR", "USD"}[l.rnd.IntN(2)],
		Amount: l.rnd.Int64N(1500), Most: l.most["spend"]}}
	if l.rnd.IntN(3) > 0 {
		limits = append(limits, action.Limit{Name: "calls", Window: action.Hour, Scope: "[]", Amount: 1, Most: l.most["calls"]})
	}
	return limits
}

func windowOf(x action.Limit, now time.Time) window {
	starts, _, _ := x.Window.Bounds(now)
	return window{x.Name, x.Scope, x.Currency, starts.UnixNano()}
}

// beginSome starts a new run. It begins where all its limits have room, else
// it names one that has none.
func (l *ledger) beginSome() (string, []window, error) {
	limits, now := l.drawLimits(), l.clock.read()
	e := &entry{takes: map[window]int64{}, state: action.Executing}
	full := map[string]bool{}
	var touched []window
	for _, x := range limits {
		w := windowOf(x, now)
		touched = append(touched, w)
		e.takes[w] = x.Amount
		if t := l.tally(w); t.reserved+t.posted+x.Amount > x.Most {
			full[x.Name] = true
		}
	}
	row, err := l.store.Begin(l.Context(), action.Start{Action: l.call(), Lease: lease, Limits: limits})
	var limit *action.LimitError
	if errors.As(err, &limit) && full[limit.Name] {
		return "refused", touched, nil
	}
	if err != nil || len(full) > 0 {
		return "begin", nil, fmt.Errorf("got %v, though full are %v", err, full)
	}
	for _, x := range limits {
		t := l.tally(windowOf(x, now))
		t.most, t.reserved = x.Most, t.reserved+x.Amount
	}
	e.row, l.entries = row, append(l.entries, e)
	return "begin", touched, nil
}

func (l *ledger) tally(w window) *tally {
	if l.touched[w] == nil {
		l.touched[w] = &tally{}
	}
	return l.touched[w]
}

// endSome ends or settles a run of the last ones, or tries to do so again.
func (l *ledger) endSome() (string, []window, error) {
	if len(l.entries) == 0 {
		return "nothing", nil, nil
	}
	e := l.entries[len(l.entries)-1-l.rnd.IntN(min(len(l.entries), 30))]
	var touched []window
	for w := range e.takes {
		touched = append(touched, w)
	}
	if e.state == action.Uncertain && l.rnd.IntN(2) == 0 {
		return l.settleEntry(e, touched)
	}
	ends := []action.State{action.Succeeded, action.Failed, action.Uncertain}
	end := ending(e.row, ends[l.rnd.IntN(3)])
	if end.State == action.Failed && l.rnd.IntN(2) == 0 {
		end.Result.Evidence = action.EvidenceReported
	}
	row, err := l.store.Finish(l.Context(), end)
	allowed := e.state == action.Executing || e.state == action.Uncertain && end.State == action.Succeeded
	if !allowed {
		if !errors.Is(err, action.ErrState) {
			return "again", nil, fmt.Errorf("%s after %s gave %v", end.State, e.state, err)
		}
		return "again", touched, nil
	}
	if err != nil {
		return "finish", nil, err
	}
	l.ended(e, row.State, end.Result.Evidence == action.EvidenceProved && row.State == action.Failed)
	return string(row.State), touched, nil
}

func (l *ledger) settleEntry(e *entry, touched []window) (string, []window, error) {
	to := []action.State{action.ReconciledSucceeded, action.ReconciledFailed}[l.rnd.IntN(2)]
	_, err := l.store.Reconcile(l.Context(), action.Reconciliation{ID: e.row.ID, State: to, By: opal, Evidence: "seen"})
	if err == nil {
		l.ended(e, to, to == action.ReconciledFailed)
	}
	return string(to), touched, err
}

// ended moves what a run took: to the posted, or away; or holds it.
func (l *ledger) ended(e *entry, to action.State, gave bool) {
	if e.state, e.gave = to, gave; to == action.Uncertain {
		return
	}
	for w, amount := range e.takes {
		t := l.tally(w)
		t.reserved -= amount
		if !gave {
			t.posted += amount
		}
	}
}

// sweep calls runs past their lease uncertain; that moves nothing.
func (l *ledger) sweep() (string, []window, error) {
	moved, err := l.store.Expire(l.Context(), false)
	late := map[string]bool{}
	for _, a := range moved {
		late[a.ID] = true
	}
	for _, e := range l.entries {
		if late[e.row.ID] {
			e.state = action.Uncertain
		}
	}
	return "sweep", nil, err
}

// compare looks at windows in the store.
func (l *ledger) compare(touched []window) error {
	for _, w := range touched {
		found, err := l.store.Budgets(l.Context(), action.BudgetFilter{Tenant: tenant, Name: w.name, Scope: w.scope, Past: true, Limit: 8})
		if err != nil {
			return err
		}
		got := tally{}
		for _, b := range found {
			if b.Currency == w.currency && b.Start.UnixNano() == w.starts {
				got = tally{b.Most, b.Reserved, b.Posted}
			}
		}
		if want := *l.tally(w); got != want && !past(found, w) {
			return fmt.Errorf("window %v is %+v, want %+v", w, got, want)
		}
		if got.reserved+got.posted > got.most {
			return fmt.Errorf("window %v is over its limit: %+v", w, got)
		}
	}
	return nil
}

// past reports that a window is older than those that were listed.
func past(found []action.Budget, w window) bool {
	return len(found) == 8 && w.starts < found[7].Start.UnixNano()
}

// compareAll sums up the ledger anew and compares every recent window, and
// the reservations of the last runs.
func (l *ledger) compareAll() error {
	sums := map[window]*tally{}
	for _, e := range l.entries {
		for w, amount := range e.takes {
			if sums[w] == nil {
				sums[w] = &tally{}
			}
			switch {
			case e.state == action.Executing || e.state == action.Uncertain:
				sums[w].reserved += amount
			case !e.gave:
				sums[w].posted += amount
			}
		}
	}
	found, err := l.store.Budgets(l.Context(), action.BudgetFilter{Tenant: tenant, Past: true, Limit: 1000})
	if err != nil {
		return err
	}
	for _, b := range found {
		w := window{b.Name, b.Scope, b.Currency, b.Start.UnixNano()}
		sum := sums[w]
		if sum == nil {
			sum = &tally{}
		}
		if b.Reserved != sum.reserved || b.Posted != sum.posted || b.Reserved+b.Posted > b.Most {
			return fmt.Errorf("window %v holds %d and %d of %d, the runs add up to %+v", w, b.Reserved, b.Posted, b.Most, *sum)
		}
	}
	return l.compareRows()
}

func (l *ledger) compareRows() error {
	for _, e := range l.entries[max(0, len(l.entries)-30):] {
		got, err := l.store.Reservations(l.Context(), tenant, e.row.ID)
		if err != nil {
			return err
		}
		rows := map[window]int64{}
		for _, r := range got {
			rows[window{r.Name, r.Scope, r.Currency, r.Start.UnixNano()}] = r.Amount
			want := action.Posted
			switch {
			case e.state == action.Executing || e.state == action.Uncertain:
				want = action.Reserved
			case e.gave:
				want = action.Void
			}
			if r.State != want {
				return fmt.Errorf("a reservation of a run that is %s is %s", e.state, r.State)
			}
		}
		if diff := cmp.Diff(e.takes, rows); diff != "" {
			return fmt.Errorf("reservations (-ledger +store):\n%s", diff)
		}
	}
	return nil
}
