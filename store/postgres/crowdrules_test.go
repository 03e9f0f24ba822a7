package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
)

// Of a crowd, one denial without a fingerprint comes under a key that another
// action holds: it is told so, as it is where it comes alone.
func TestDenialOfACrowdUnderAHeldKeyIsRefused(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	calm := openAt(t, dsn, nil)
	w := pgtest.NewWire(t, server.Addr())
	s := openAt(t, w.Through(dsn), nil)
	keyed := start(t, s, "keyed")
	keyed.Action.Key = "k"
	_, err := s.Begin(t.Context(), keyed)
	must(t, err)
	var asks []func() (action.Action, error)
	for i := range 12 {
		denied := allowed(t, calm, fmt.Sprint("denied ", i))
		denied.Decision.Effect, denied.Fingerprint = "deny", canon.Digest{}
		if i == 7 {
			denied.Key = "k"
		}
		asks = append(asks, func() (action.Action, error) { return s.Decide(t.Context(), denied) })
	}
	_, errs := together(t, w, asks)
	for i, err := range errs {
		if (i == 7) != errors.Is(err, action.ErrKeyTaken) || i != 7 && err != nil {
			t.Errorf("denial %d: %v", i, err)
		}
	}
}

// Of runs that end at once, those that hold of a limit settle it.
func TestLimitsAreSettledWhereManyEnd(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	w := pgtest.NewWire(t, server.Addr())
	s := openAt(t, w.Through(dsn), nil)
	var asks []func() (action.Action, error)
	for i := range 12 {
		call := start(t, s, fmt.Sprint("call ", i))
		if i%2 == 0 {
			call.Limits = []action.Limit{{Name: "calls", Window: action.Month, Scope: "s", Most: 100, Amount: 1}}
		}
		run, err := s.Begin(t.Context(), call)
		must(t, err)
		asks = append(asks, func() (action.Action, error) { return s.Finish(t.Context(), success(run)) })
	}
	_, errs := together(t, w, asks)
	must(t, errors.Join(errs...))
	if held, posted := number(t, dsn, "SELECT sum(reserved)::bigint FROM budget"), number(t, dsn, "SELECT sum(posted)::bigint FROM budget"); held != 0 || posted != 6 {
		t.Errorf("%d are held and %d posted, not 0 and 6", held, posted)
	}
}

// Whatever stops a call stops it in a crowd too, and nothing else does.
func TestStopsHoldForCrowds(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	for name, c := range map[string]struct {
		stop action.Stop
		want error
	}{
		"everything":           {action.Stop{}, action.ErrStopped},
		"the tenant":           {action.Stop{Tenant: "acme"}, action.ErrStopped},
		"the agent":            {action.Stop{Tenant: "acme", Agent: "helper"}, action.ErrStopped},
		"the tool":             {action.Stop{Tenant: "acme", Tool: tool}, action.ErrStopped},
		"the tool for it":      {action.Stop{Tenant: "acme", Agent: "helper", Tool: tool}, action.ErrStopped},
		"another tenant":       {action.Stop{Tenant: "rival"}, nil},
		"another agent":        {action.Stop{Tenant: "acme", Agent: "other"}, nil},
		"another tool":         {action.Stop{Tenant: "acme", Tool: "bank.other"}, nil},
		"the tool for another": {action.Stop{Tenant: "acme", Agent: "other", Tool: tool}, nil},
	} {
		dsn := server.Schema(t)
		w := pgtest.NewWire(t, server.Addr())
		s := openAt(t, w.Through(dsn), nil)
		c.stop.By, c.stop.Reason = action.ByHost, "test"
		_, err := s.Stop(t.Context(), c.stop)
		must(t, err)
		var asks []func() (action.Action, error)
		for i := range 6 {
			call, read := start(t, s, fmt.Sprint("call ", i)), allowed(t, s, fmt.Sprint("read ", i))
			read.Mutation = false
			asks = append(asks, func() (action.Action, error) { return s.Begin(t.Context(), call) },
				func() (action.Action, error) { return s.Decide(t.Context(), read) })
		}
		_, errs := together(t, w, asks)
		for i, err := range errs {
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("%s is stopped: ask %d was told %v", name, i, err)
			}
		}
	}
}

// A stop that is on its way when many ask is waited for: once it is answered,
// none of them goes on.
func TestCrowdsWaitForStopsOnTheirWay(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	for _, kind := range []string{"starts", "reads"} {
		dsn := server.Schema(t)
		w := pgtest.NewWire(t, server.Addr())
		s := openAt(t, w.Through(dsn), nil)
		told := make(chan error, 12)
		var asks []func() (action.Action, error)
		for i := range cap(told) {
			call := start(t, s, fmt.Sprint("call ", i))
			call.Action.Mutation = kind == "starts"
			asks = append(asks, func() (a action.Action, err error) {
				if kind == "starts" {
					a, err = s.Begin(t.Context(), call)
				} else {
					a, err = s.Decide(t.Context(), call.Action)
				}
				told <- err
				return a, err
			})
		}
		db, err := pgx.Connect(t.Context(), dsn)
		must(t, err)
		defer db.Close(t.Context())
		stop, err := db.Begin(t.Context())
		must(t, err)
		for _, text := range []string{"LOCK TABLE stop IN EXCLUSIVE MODE", "INSERT INTO stop (tenant, agent, tool, by, reason, at) VALUES ('acme', '', '', 'host', 'test', 1)"} {
			_, err = stop.Exec(t.Context(), text)
			must(t, err)
		}
		go together(t, w, asks)
		waitFor(t, dsn, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'verbatim'")
		left := cap(told)
		select {
		case err := <-told:
			left--
			t.Errorf("of %s, one did not wait: %v", kind, err)
		case <-time.After(300 * time.Millisecond): // time decides how many have asked by then, never what they are told
		}
		must(t, stop.Commit(t.Context()))
		for range left {
			if err := <-told; !errors.Is(err, action.ErrStopped) {
				t.Errorf("of %s, one was told %v", kind, err)
			}
		}
	}
}
