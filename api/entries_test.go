package api_test

import (
	"net/http"
	"strconv"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/attacktest"
)

// attackFile is one table of attacks for every entry.
const attackFile = "../testdata/vectors/attacks.json"

// TestEveryEntryGivesEveryAttackTheSameOutcome runs one table against the
// library, the decision API, its authorize with an executor, MCP over pipes
// and MCP over HTTP, in one process. cmd/verbatim does it with real ones.
func TestEveryEntryGivesEveryAttackTheSameOutcome(t *testing.T) {
	t.Parallel()
	library := libraryEntry(t)
	others := map[string]attacktest.Entry{"HTTP call": callEntry(t), "HTTP authorize": authorizeEntry(t), "MCP stdio": stdioEntry(t), "MCP HTTP": mcpEntry(t)}
	for i, c := range attacktest.Load(t, attackFile) {
		first := library.Try(t, strconv.Itoa(i), c)
		library.Check(t, "library", c, first, first)
		for name, e := range others {
			e.Check(t, name, c, first, e.Try(t, strconv.Itoa(i), c))
		}
	}
}

// entry is a way into the world, for maria.
func (w *world) entry(propose func(testing.TB, attacktest.Step) attacktest.Said) attacktest.Entry {
	return attacktest.Entry{Propose: propose, Ran: func(testing.TB) []string { return w.seen() }, Rows: w.rows, Clean: w.clean,
		Vote: func(t testing.TB, id string, approve bool) {
			if _, err := w.Vote(id, "ada", approve); err != nil {
				t.Fatalf("the vote: %v", err)
			}
		}}
}

// rows counts the actions of maria.
func (w *world) rows(t testing.TB) int {
	t.Helper()
	n, f := 0, action.Filter{Tenant: "acme", Principal: "maria"}
	for {
		found, err := w.Store.Actions(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		if n += len(found); len(found) == 0 {
			return n
		}
		f.Before = found[len(found)-1].ID
	}
}

// clean withdraws what waits.
func (w *world) clean(t testing.TB) {
	t.Helper()
	open, err := w.Store.Actions(t.Context(), action.Filter{Tenant: "acme", States: []action.State{action.PendingApproval, action.Approved}})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range open {
		if _, err := w.Store.Dismiss(t.Context(), a.ID, a.Principal); err != nil {
			t.Fatal(err)
		}
	}
}

func libraryEntry(t *testing.T) attacktest.Entry {
	t.Helper()
	w := newWorld(t)
	gate := w.Gate.With(w.toolset(t))
	return w.entry(func(t testing.TB, s attacktest.Step) attacktest.Said {
		o, err := gate.Call(t.Context(), w.Session(), verbatim.Call{Tool: s.Tool, Arguments: []byte(s.Text(t)), IdempotencyKey: s.Key, Approval: s.Approval})
		if err != nil {
			t.Error(err)
		}
		v, err := canon.Decode(o.Envelope(), canon.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return attacktest.Envelope(v)
	})
}

// asked sends a step to a route of the API.
func (w *world) asked(t testing.TB, path string, s attacktest.Step) reply {
	t.Helper()
	var headers []string
	if s.Key != "" {
		headers = []string{"Idempotency-Key", s.Key}
	}
	return w.ask("maria", http.MethodPost, path, s.Body(t), headers...)
}

func callEntry(t *testing.T) attacktest.Entry {
	t.Helper()
	w := newWorld(t)
	return w.entry(func(t testing.TB, s attacktest.Step) attacktest.Said {
		return attacktest.Answer(w.asked(t, "/v1/call", s).body)
	})
}
