package storetest

import (
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// each runs named rules, each on a store of its own.
func each(t *testing.T, open Open, rules map[string]func(*bench)) {
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule(prepare(t, open))
		})
	}
}

func denied(a action.Action) action.Action {
	a.Decision = action.Decision{Effect: "deny", Code: "no_matching_rule", Reason: "nothing matched", PublicReason: "ask Ann",
		ResultMode: "throw", PolicyVersion: a.Decision.PolicyVersion}
	return a
}

func testFresh(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"what was stored reads back equal": func(b *bench) {
			a := b.asking(b.call(), oneAdmin())
			a.Key, a.GrantID, a.GrantDigest = "k", "grant-1", canon.Sum([]byte("grant"))
			row := b.suspend(a)
			b.same(row, b.row(a.ID))
			a.State, a.CreatedAt, a.UpdatedAt, a.Deadline = action.PendingApproval, b.clock.read(), b.clock.read(), a.Terms.PendingUntil
			b.same(a, row)
		},
		"a denied call is a row and a record": func(b *bench) {
			row, err := b.store.Decide(b.Context(), denied(b.call()))
			b.must(err)
			if row.State != action.Denied {
				b.Fatalf("state %s", row.State)
			}
			b.same(row, b.row(row.ID))
			b.history(row.ID, audit.ActionDenied)
		},
		"I02 the record of a deny names its code and its rules": func(b *bench) {
			a := denied(b.call())
			a.Decision.Code, a.Decision.Rules = "policy_error", []string{"forbid-7"}
			row, err := b.store.Decide(b.Context(), a)
			b.must(err)
			if r := b.records(row.ID)[0]; r.Code != "policy_error" || r.Facts["rules"] != `["forbid-7"]` || r.Facts["policyVersion"] != b.version {
				b.Fatalf("record %+v", r)
			}
		},
		"a call denied before there was a snapshot has no arguments": func(b *bench) {
			a := denied(b.call())
			a.Tool, a.Payload, a.Hash, a.Fingerprint = "", action.Payload{Raw: []byte("{")}, snapshot.ProposalHash{}, canon.Digest{}
			row, err := b.store.Decide(b.Context(), a)
			b.must(err)
			b.same(row, b.row(row.ID))
		},
		"an allowed read is a record without a row": func(b *bench) {
			a := b.call()
			a.Mutation = false
			_, err := b.store.Decide(b.Context(), a)
			b.must(err)
			_, err = b.store.Action(b.Context(), tenant, a.ID)
			b.refused(err, action.ErrNotFound)
			b.history(a.ID, audit.ReadAllowed)
		},
		"an allowed handoff is a record without a row": func(b *bench) {
			a := b.call()
			payload, err := snapshot.Thaw(a.Payload.Args)
			b.must(err)
			a.Kind, a.Mutation, a.Hash = action.KindHandoff, false, snapshot.ProposeHandoff(agent, tool, payload).Hash
			_, err = b.store.Decide(b.Context(), a)
			b.must(err)
			b.history(a.ID, audit.HandoffAllowed)
		},
		"an allowed mutation is not a mere decision": func(b *bench) {
			b.nothing(b.store.Decide(b.Context(), b.call()))
		},
		"a row that Begin tells of before its commit is the row that it answers": func(b *bench) {
			var told []action.Action
			row, err := b.store.Begin(b.Context(), action.Start{Action: b.call(), Lease: lease, Written: func(a action.Action) { told = append(told, a) }})
			b.must(err)
			if len(told) > 0 { // a store may say nothing
				b.same(told[len(told)-1], row)
				if string(told[len(told)-1].Leaf) != string(row.Leaf) {
					b.Fatal("the record that was told of is not the one that was written")
				}
			}
		},
		"a high-impact call never begins on a mere allow": func(b *bench) {
			a := b.call()
			a.HighImpact = true
			b.nothing(b.store.Begin(b.Context(), action.Start{Action: a, Lease: lease}))
		},
		"a call that needs approval never begins without a claim": func(b *bench) {
			b.nothing(b.store.Begin(b.Context(), action.Start{Action: b.asking(b.call(), oneAdmin()), Lease: lease}))
		},
		"a denied call never begins": func(b *bench) {
			b.nothing(b.store.Begin(b.Context(), action.Start{Action: denied(b.call()), Lease: lease}))
		},
		"a call without a fingerprint never begins": func(b *bench) {
			a := b.call()
			a.Fingerprint = canon.Digest{}
			b.nothing(b.store.Begin(b.Context(), action.Start{Action: a, Lease: lease}))
		},
		"terms that ask for nobody are refused": func(b *bench) {
			b.nothing(b.store.Suspend(b.Context(), b.asking(b.call(), nil)))
		},
		"terms without an end are refused": func(b *bench) {
			a := b.asking(b.call(), oneAdmin())
			a.Terms.ExpiresAt = time.Time{}
			b.nothing(b.store.Suspend(b.Context(), a))
		},
		"arguments that do not hash to the proposal hash are refused": func(b *bench) {
			a := b.call()
			a.Payload.Args = `{"to":"mallory"}`
			b.nothing(b.store.Begin(b.Context(), action.Start{Action: a, Lease: lease}))
		},
		"D03 an id is never used twice": func(b *bench) {
			row := b.begin(b.call())
			again := b.call()
			again.ID = row.ID
			_, err := b.store.Begin(b.Context(), action.Start{Action: again, Lease: lease})
			b.refused(err, action.ErrState)
		},
		"rejected input is a record without a row and without payload": func(b *bench) {
			b.must(b.store.RejectInput(b.Context(), action.Rejection{Tenant: tenant, Principal: principal, Agent: agent, Tool: tool,
				Stage: "schema", Code: "invalid_arguments", Size: 12, Digest: canon.Sum([]byte("raw"))}))
			records := b.records("")
			last := records[len(records)-1]
			if last.Event != audit.InputRejected || last.Facts["stage"] != "schema" || last.Facts["size"] != "12" {
				b.Fatalf("record %+v", last)
			}
			rows, err := b.store.Actions(b.Context(), action.Filter{})
			b.must(err)
			if len(rows) != 0 {
				b.Fatalf("rejected input left %d rows", len(rows))
			}
		},
		"B02 the provider's call id is only a label": func(b *bench) {
			first, second := b.pending(), b.pending()
			if first.CallID != second.CallID || first.ID == second.ID {
				b.Fatalf("calls %q and %q, rows %s and %s", first.CallID, second.CallID, first.ID, second.ID)
			}
			b.approve(first, ann)
			if got := b.row(second.ID).State; got != action.PendingApproval {
				b.Fatalf("the other call is %s", got)
			}
		},
	})
}

// nothing fails unless a verb was refused and left neither row nor record.
func (b *bench) nothing(_ action.Action, err error) {
	b.Helper()
	if err == nil {
		b.Fatal("not refused")
	}
	rows, err := b.store.Actions(b.Context(), action.Filter{})
	b.must(err)
	if len(rows) != 0 {
		b.Fatalf("a refused verb left %d rows", len(rows))
	}
}

// history fails unless the events of an action are exactly these.
func (b *bench) history(id string, want ...string) {
	b.Helper()
	got := b.events(id)
	if len(got) != len(want) {
		b.Fatalf("events %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			b.Fatalf("events %v, want %v", got, want)
		}
	}
}
