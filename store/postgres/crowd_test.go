package postgres_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/store/postgres"
)

// together has callers ask at once while the wire is held, so that they share
// transactions, and returns what each was told.
func together(t *testing.T, w *pgtest.Wire, asks []func() (action.Action, error)) ([]action.Action, []error) {
	t.Helper()
	rows, errs := make([]action.Action, len(asks)), make([]error, len(asks))
	var callers sync.WaitGroup
	w.Hold(true)
	for i, ask := range asks {
		callers.Go(func() { rows[i], errs[i] = ask() })
	}
	time.Sleep(30 * time.Millisecond) // time decides how many share, never what they are told
	w.Hold(false)
	callers.Wait()
	return rows, errs
}

func TestCallersWhoShareATransactionAreToldTheirOwn(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	calm := openAt(t, dsn, nil)
	w := pgtest.NewWire(t, server.Addr())
	s := openAt(t, w.Through(dsn), nil)
	begin(t, s, "taken")
	uncertain := begin(t, s, "uncertain")
	_, err := s.Finish(t.Context(), action.Ending{ID: "uncertain", Fence: uncertain.Fence, State: action.Uncertain, Result: action.Result{Code: "outcome_uncertain"}})
	must(t, err)
	keyed := start(t, s, "keyed")
	keyed.Action.Key = "k"
	_, err = s.Begin(t.Context(), keyed)
	must(t, err)
	_, err = s.Stop(t.Context(), action.Stop{Tenant: "acme", Agent: "stopped", By: action.ByHost, Reason: "test"})
	must(t, err)

	change := func(id string, f func(*action.Action)) action.Start {
		call := start(t, calm, id)
		f(&call.Action)
		return call
	}
	var calls []action.Start
	var want []error
	expect := func(call action.Start, err error) { calls, want = append(calls, call), append(want, err) }
	for i := range 20 {
		expect(change(fmt.Sprintf("plain %d", i), func(*action.Action) {}), nil)
		expect(change(fmt.Sprintf("under a key %d", i), func(a *action.Action) { a.Key = a.ID }), nil)
	}
	expect(change("taken", func(*action.Action) {}), action.ErrState)
	expect(change("like one in doubt", func(a *action.Action) { a.Fingerprint = canon.Sum([]byte("uncertain")) }), action.ErrUncertain)
	expect(change("under a key that is held", func(a *action.Action) { a.Key = "k" }), action.ErrKeyTaken)
	expect(change("of a stopped agent", stopped), action.ErrStopped)
	expect(change("under rules of before", func(a *action.Action) { a.Decision.PolicyVersion = "old" }), action.ErrStale)
	limited := change("with a limit", func(*action.Action) {})
	limited.Limits = []action.Limit{{Name: "n", Window: action.Day, Scope: "s", Most: 1, Amount: 2}}
	expect(limited, action.ErrOverLimit)
	expect(change("large", func(a *action.Action) { a.Payload.Raw = bytes.Repeat([]byte("x"), 200<<10) }), nil)

	asks := make([]func() (action.Action, error), len(calls))
	for i, call := range calls {
		asks[i] = func() (action.Action, error) { return s.Begin(t.Context(), call) }
	}
	rows, errs := together(t, w, asks)
	begun := 0
	for i, call := range calls {
		if !errors.Is(errs[i], want[i]) || (errs[i] == nil) != (want[i] == nil) {
			t.Errorf("%s: %v, not %v", call.Action.ID, errs[i], want[i])
		}
		if errs[i] != nil {
			continue
		}
		begun++
		if got := row(t, calm, call.Action.ID); got.State != action.Executing || got.Payload.Args != call.Action.Payload.Args ||
			rows[i].ID != got.ID || !rows[i].LeaseUntil.Equal(got.LeaseUntil) || string(rows[i].Leaf) == "" {
			t.Errorf("%s: said %+v, is %+v", call.Action.ID, rows[i], got)
		}
	}
	if n := number(t, dsn, "SELECT count(DISTINCT xmin::text) FROM action WHERE id LIKE 'plain%'"); n >= 20 {
		t.Errorf("%d calls began in %d transactions", begun, n)
	}
	endTogether(t, w, s, calm, append(rows[:40], rows[len(rows)-1]))
	report, err := postgres.Check(t.Context(), postgres.Options{DSN: dsn, Sealer: fixedSealer(t)})
	if err != nil || len(report.Faults) > 0 {
		t.Errorf("the store has faults: %v %v", report.Faults, err)
	}
}

// Of a crowd, one call claims its key and is refused: the key is free
// afterwards, and the others begin.
func TestRefusedCallOfACrowdLeavesItsKeyFree(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	calm := openAt(t, dsn, nil)
	w := pgtest.NewWire(t, server.Addr())
	s := openAt(t, w.Through(dsn), nil)
	_, err := s.Stop(t.Context(), action.Stop{Tenant: "acme", Agent: "stopped", By: action.ByHost, Reason: "test"})
	must(t, err)
	var asks []func() (action.Action, error)
	for i := range 12 {
		call := start(t, calm, fmt.Sprint("call ", i))
		if call.Action.Key = fmt.Sprint("key ", i); i == 7 {
			stopped(&call.Action)
		}
		asks = append(asks, func() (action.Action, error) { return s.Begin(t.Context(), call) })
	}
	_, errs := together(t, w, asks)
	for i, err := range errs {
		if (i == 7) != errors.Is(err, action.ErrStopped) || i != 7 && err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if n := number(t, dsn, "SELECT count(*) FROM idempotency"); n != 11 {
		t.Errorf("%d keys are held, not 11", n)
	}
}

// stopped makes a call that of the agent "stopped".
func stopped(a *action.Action) {
	args, err := snapshot.FreezeGo(map[string]any{"to": a.ID})
	if err != nil {
		panic(err) // it is made of a text
	}
	a.Agent, a.Hash = "stopped", snapshot.Propose("stopped", tool, args).Hash
}

// endTogether ends runs at once, each in its own way, one of them twice.
func endTogether(t *testing.T, w *pgtest.Wire, s, calm *postgres.Store, rows []action.Action) {
	t.Helper()
	var asks []func() (action.Action, error)
	states := []action.State{action.Succeeded, action.Failed, action.Uncertain, action.Succeeded}
	end := func(i int) action.Ending {
		e := success(rows[i])
		e.State = states[i%4]
		e.Result.Output = []byte(fmt.Sprint("output of ", i))
		if e.State == action.Failed {
			e.Result.Evidence = action.EvidenceProved
		}
		switch {
		case i%4 == 3:
			e.Result.Output = nil
		case i == 4:
			e.Result.Output = bytes.Repeat([]byte("y"), 200<<10)
		}
		return e
	}
	for i := range rows {
		asks = append(asks, func() (action.Action, error) { return s.Finish(t.Context(), end(i)) })
	}
	late := end(0)
	late.Fence++
	asks = append(asks, func() (action.Action, error) { return s.Finish(t.Context(), late) },
		func() (action.Action, error) {
			return s.Finish(t.Context(), action.Ending{ID: "nobody", Fence: 1, State: action.Succeeded})
		})
	said, errs := together(t, w, asks)
	for i := range rows {
		must(t, errs[i])
		e, got := end(i), row(t, calm, rows[i].ID)
		if got.State != e.State || string(got.Result.Output) != string(e.Result.Output) || said[i].State != got.State || !said[i].Result.At.Equal(got.Result.At) {
			t.Errorf("%s: said %s %q, is %s %q", got.ID, said[i].State, said[i].Result.Output, got.State, got.Result.Output)
		}
		if n := count(t, calm, got.ID); n != 2 {
			t.Errorf("%s has %d records", got.ID, n)
		}
	}
	if !errors.Is(errs[len(rows)], action.ErrFence) || !errors.Is(errs[len(rows)+1], action.ErrNotFound) {
		t.Errorf("an old holder was told %v, one of nothing %v", errs[len(rows)], errs[len(rows)+1])
	}
}

func TestCrowdWhoseCommitIsLost(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	for _, how := range []pgtest.Loss{pgtest.LoseAnswer, pgtest.LoseCommit} {
		s, calm, w := faulty(t, server)
		var asks []func() (action.Action, error)
		for i := range 16 {
			call := start(t, s, fmt.Sprint("call ", i))
			asks = append(asks, func() (action.Action, error) { return s.Begin(t.Context(), call) })
		}
		w.Lose(how, 3)
		_, errs := together(t, w, asks)
		unknown := 0
		for i, err := range errs {
			id, want := fmt.Sprint("call ", i), action.Executing
			if errors.Is(err, postgres.ErrUnknown) { // nobody runs it, though it began
				unknown++
				want, err = action.Uncertain, nil
			}
			must(t, err)
			if got := row(t, calm, id); got.State != want || got.Fence != 1 {
				t.Errorf("%s is %s, not %s", id, got.State, want)
			}
			if n := count(t, calm, id); want == action.Executing && n != 1 || want == action.Uncertain && n != 2 {
				t.Errorf("%s has %d records", id, n)
			}
		}
		if w.Lost() != 3 || (unknown > 0) != (how == pgtest.LoseAnswer) {
			t.Errorf("%d commits were lost, %d calls of 16 are in doubt", w.Lost(), unknown)
		}
		endLost(t, s, calm, w, how, errs)
	}
}

// endLost ends the runs that began; the commits of their ends are lost too.
func endLost(t *testing.T, s, calm *postgres.Store, w *pgtest.Wire, how pgtest.Loss, begun []error) {
	t.Helper()
	var asks []func() (action.Action, error)
	for i, err := range begun {
		if err == nil {
			asks = append(asks, func() (action.Action, error) {
				return s.Finish(t.Context(), action.Ending{ID: fmt.Sprint("call ", i), Fence: 1, State: action.Succeeded, Result: action.Result{Output: []byte("1")}})
			})
		}
	}
	w.Lose(how, 3)
	rows, errs := together(t, w, asks)
	for i, err := range errs {
		must(t, err)
		if got := row(t, calm, rows[i].ID); got.State != action.Succeeded {
			t.Errorf("%s is %s", got.ID, got.State)
		}
		if n := count(t, calm, rows[i].ID); n != 2 {
			t.Errorf("%s has %d records", rows[i].ID, n)
		}
	}
}

func TestReadersWhoAskAtOnceAreToldTheirOwn(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	calm := openAt(t, dsn, nil)
	w := pgtest.NewWire(t, server.Addr())
	s := openAt(t, w.Through(dsn), nil)
	for i := range 6 { // each has one of its kind in flight, whose caller has gone
		run := begin(t, s, fmt.Sprint("call ", i))
		must(t, s.Leave(t.Context(), run.ID))
	}
	_, err := s.Stop(t.Context(), action.Stop{Tenant: "other", By: action.ByHost, Reason: "test"})
	must(t, err)
	_, err = s.Stop(t.Context(), action.Stop{Tenant: "acme", Agent: "stopped", By: action.ByHost, Reason: "test"})
	must(t, err)
	before, err := calm.Now(t.Context())
	must(t, err)

	var asks []func() (action.Action, error)
	fail := func(format string, args ...any) (action.Action, error) {
		return action.Action{}, fmt.Errorf(format, args...)
	}
	for i := range 24 {
		id := fmt.Sprint("call ", i%8)
		read := allowed(t, calm, id)
		if read.Mutation = false; i%8 == 3 {
			stopped(&read)
		}
		asks = append(asks, func() (action.Action, error) {
			rows, err := s.Joinable(t.Context(), "acme", "user:pat", canon.Sum([]byte(id)))
			if want := i%8 < 6; err != nil || want != (len(rows) == 1) || want && rows[0].ID != id {
				return fail("%s joins %d rows: %v", id, len(rows), err)
			}
			return action.Action{}, nil
		}, func() (action.Action, error) {
			tenant := []string{"acme", "other", "third"}[i%3]
			stops, err := s.Stops(t.Context(), tenant)
			if want := i%3 < 2; err != nil || want != (len(stops) == 1) || want && stops[0].Tenant != tenant {
				return fail("%s has %d stops: %v", tenant, len(stops), err)
			}
			return action.Action{}, nil
		}, func() (action.Action, error) {
			if now, err := s.Now(t.Context()); err != nil || now.Before(before) {
				return fail("it is %s, and was %s: %v", now, before, err)
			}
			return action.Action{}, nil
		}, func() (action.Action, error) {
			_, err := s.Decide(t.Context(), read)
			if want := i%8 == 3; want != errors.Is(err, action.ErrStopped) || !want && err != nil {
				return fail("a read of %s: %v", read.Agent, err)
			}
			return action.Action{}, nil
		})
	}
	_, errs := together(t, w, asks)
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if n := number(t, dsn, "SELECT count(*) FROM event WHERE event = 'read_allowed'"); n != 21 {
		t.Errorf("%d reads of 21 are recorded", n)
	}
	if n := number(t, dsn, "SELECT count(DISTINCT xmin::text) FROM event WHERE event = 'read_allowed'"); n >= 21 {
		t.Errorf("21 reads are recorded in %d transactions", n)
	}
}
