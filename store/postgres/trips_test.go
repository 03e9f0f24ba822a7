package postgres_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/store/postgres"
)

// What each verb costs one caller: how often it waits for the server, and how
// many statements that executes, BEGIN and COMMIT among them. A verb that
// grows is refused here.
func TestEachVerbAsksTheServerAsOftenAsItMust(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	w := pgtest.NewWire(t, server.Addr())
	var ticks atomic.Int64 // a clock that goes so slowly that the stored time is raised but once
	s := openAt(t, w.Through(server.Schema(t)), func(o *postgres.Options) {
		o.Connections, o.Now = 1, func() time.Time { return time.Unix(1_800_000_000, ticks.Add(1000)) }
	})
	admin(t, s)
	for _, verb := range []struct {
		name              string
		trips, statements int64
		prepare           func(id string) func() error
	}{
		{"begin an allowed call", 2, 5, func(id string) func() error {
			call := start(t, s, id)
			return func() error { _, err := s.Begin(t.Context(), call); return err }
		}},
		{"begin an allowed call under a key", 2, 6, func(id string) func() error {
			call := start(t, s, id)
			call.Action.Key = id
			return func() error { _, err := s.Begin(t.Context(), call); return err }
		}},
		{"finish it", 2, 5, func(id string) func() error {
			run := begin(t, s, id)
			return func() error { _, err := s.Finish(t.Context(), success(run)); return err }
		}},
		{"allow a read", 2, 6, func(id string) func() error {
			read := allowed(t, s, id)
			read.Mutation = false
			return func() error { _, err := s.Decide(t.Context(), read); return err }
		}},
		{"deny", 2, 4, func(id string) func() error {
			denied := allowed(t, s, id)
			denied.Decision.Effect = "deny"
			return func() error { _, err := s.Decide(t.Context(), denied); return err }
		}},
		{"suspend", 2, 4, func(id string) func() error {
			a := asking(t, s, id)
			return func() error { _, err := s.Suspend(t.Context(), a); return err }
		}},
		{"claim", 2, 5, func(id string) func() error {
			claimed(t, s, id, time.Nanosecond)
			return func() error { _, err := s.Claim(t.Context(), id, lease); return err }
		}},
		{"begin an approved call", 8, 17, func(id string) func() error {
			held := claimed(t, s, id, lease)
			return func() error { _, err := s.Begin(t.Context(), action.Start{Action: held, Lease: lease}); return err }
		}},
		{"leave", 2, 7, func(id string) func() error {
			run := begin(t, s, id)
			return func() error { return s.Leave(t.Context(), run.ID) }
		}},
		{"reject input", 2, 4, func(string) func() error {
			return func() error {
				return s.RejectInput(t.Context(), action.Rejection{Tenant: "acme", Principal: "pat", Tool: tool, Code: "invalid_arguments",
					Stage: "json", Digest: canon.Sum([]byte("x"))})
			}
		}},
		{"now", 1, 1, func(string) func() error {
			return func() error { _, err := s.Now(t.Context()); return err }
		}},
		{"stops", 1, 1, func(string) func() error {
			return func() error { _, err := s.Stops(t.Context(), "acme"); return err }
		}},
		{"joinable", 1, 1, func(id string) func() error {
			return func() error { _, err := s.Joinable(t.Context(), "acme", "user:pat", canon.Sum([]byte(id))); return err }
		}},
	} {
		var trips, statements int64
		for n := range 4 { // the first prepares statements, and the gateway shows now and then that it lives
			do := verb.prepare(fmt.Sprintf("%s %d", verb.name, n))
			tripsBefore, before := w.Asked()
			must(t, do())
			tripsAfter, after := w.Asked()
			if n == 0 || tripsAfter-tripsBefore < trips {
				trips = tripsAfter - tripsBefore
			}
			if n == 0 || after-before < statements {
				statements = after - before
			}
		}
		if trips != verb.trips || statements != verb.statements {
			t.Errorf("%s takes %d round trips and %d statements, not %d and %d", verb.name, trips, statements, verb.trips, verb.statements)
		}
	}
}
