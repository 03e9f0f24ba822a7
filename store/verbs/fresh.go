package verbs

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// The effects of a stored decision (package policy words them).
const (
	EffectDeny    = "deny"
	EffectAllow   = "allow"
	EffectApprove = "require_approval"
)

// Whole checks what every new row must have.
func Whole(a action.Action) error {
	switch {
	case a.ID == "":
		return Invalid("id is empty")
	case a.Tenant == "":
		return Invalid("tenant is empty")
	case a.Principal == "":
		return Invalid("principal is empty")
	case a.Kind != action.KindCall && a.Kind != action.KindHandoff:
		return Invalid("kind is neither call nor handoff")
	case a.State != action.Denied && a.Fingerprint.IsZero():
		return Invalid("fingerprint is missing") // nothing could be compared with it
	}
	return rehash(a)
}

// Denied is a new row of a call that was denied.
func Denied(a action.Action) (action.Action, error) {
	a.State, a.Fence, a.Attempt = action.Denied, 0, 0
	a.LeaseUntil, a.Deadline, a.Terms, a.Result = time.Time{}, time.Time{}, nil, &action.Result{Code: a.Decision.Code}
	return a, Whole(a)
}

// Suspended is a new row that waits for people.
func Suspended(a action.Action) (action.Action, error) {
	if err := bounded(a); err != nil {
		return a, err
	}
	terms := *a.Terms
	a.Terms, a.Result = &terms, nil
	a.State, a.Fence, a.Attempt, a.LeaseUntil = action.PendingApproval, 0, 0, time.Time{}
	a.Deadline = earlier(terms.PendingUntil, terms.ExpiresAt)
	return a, Whole(a)
}

// bounded checks that the approval asked for ends by itself and binds
// something.
func bounded(a action.Action) error {
	t := a.Terms
	switch {
	case a.Decision.Effect != EffectApprove:
		return Invalid("suspended without require_approval")
	case t == nil:
		return Invalid("terms are missing")
	case len(t.Requirements) == 0:
		return Invalid("terms ask for nobody")
	case t.PendingUntil.IsZero() || t.ExpiresAt.IsZero() || t.TTL <= 0:
		return Invalid("terms without an end")
	case t.Nonce == "" || t.Digest.IsZero():
		return Invalid("terms that bind nothing")
	}
	for _, r := range t.Requirements {
		for _, g := range r.AnyOf {
			if g.Name == "" || g.Votes < 1 {
				return Invalid("terms with a group that asks for no votes")
			}
		}
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Started is a new row of a call that policy allowed without an approval:
// decision, claim and commit point are one transaction (semantics §9). The
// end of its lease is the store's to set.
func Started(s action.Start) (action.Action, error) {
	a := s.Action
	switch {
	case s.Lease <= 0:
		return a, Invalid("lease has no length")
	case a.Decision.Effect != EffectAllow || a.Terms != nil:
		return a, Invalid("new row that policy did not allow")
	case a.HighImpact:
		return a, Invalid("high-impact call without an approval of its own")
	}
	a.State, a.Fence, a.Attempt, a.Result, a.Deadline = action.Executing, 1, 1, nil, time.Time{}
	return a, Whole(a)
}

// KeyHeld says who keeps a key: a key stays with the row that holds it. A holder that is known to
// have had no effect gives it up to the same request (semantics §9).
func KeyHeld(holder, a action.Action) error {
	if holder.Fingerprint == a.Fingerprint && (holder.State == action.Failed || holder.State == action.ReconciledFailed) {
		return nil
	}
	return action.ErrKeyTaken
}

// BindsKey reports whether a row binds its key: a call that was denied before it had a fingerprint binds nothing.
func BindsKey(a action.Action) bool { return a.Key != "" && !a.Fingerprint.IsZero() }

// FreshRecord is the record that brings a new row, with what it commits to.
// limits is what one that begins at once takes.
func FreshRecord(a action.Action, limits []action.Limit) (audit.Record, Facts, Secrets) {
	var room [likelySecrets]secret
	r, f, list := freshRecord(&a, limits, room[:0])
	return r, f, secretsOf(list)
}

// FreshEntry is that record ready to be written, but for its time, its number
// and the end of its lease ([Entry.Lease]), which are the store's to give.
func FreshEntry(a *action.Action, limits []action.Limit) Entry {
	var room [likelySecrets]secret
	r, f, list := freshRecord(a, limits, room[:0])
	e := newEntry(time.Time{}, r, f)
	e.commit(list)
	return e
}

func freshRecord(a *action.Action, limits []action.Limit, room []secret) (audit.Record, Facts, []secret) {
	f, list := proposed(a), payloadOf(a, room)
	if taken := limited(limits, f); taken != "" {
		list = append(list, secret{name: "limits", text: taken})
	}
	event := audit.ActionSuspended
	switch a.State {
	case action.Denied:
		event = audit.ActionDenied
	case action.Executing:
		event = audit.ActionStarted
		started(a, f)
	}
	return about(event, "", *a, a.Principal), f, list
}

// AllowedRecord is the record of a read or a handoff that may go on. There is
// no row.
func AllowedRecord(a action.Action) (audit.Record, Facts, Secrets) {
	var room [likelySecrets]secret
	r, f := allowedRecord(&a)
	return r, f, secretsOf(payloadOf(&a, room[:0]))
}

// AllowedEntry is that record ready to be written, but for its time and its
// number, which are the store's to give.
func AllowedEntry(a *action.Action) Entry {
	var room [likelySecrets]secret
	r, f := allowedRecord(a)
	e := newEntry(time.Time{}, r, f)
	e.commit(payloadOf(a, room[:0]))
	return e
}

func allowedRecord(a *action.Action) (audit.Record, Facts) {
	event := audit.ReadAllowed
	if a.Kind == action.KindHandoff {
		event = audit.HandoffAllowed
	}
	r := about(event, "", *a, a.Principal)
	r.To = ""
	f := proposed(a)
	if a.Executor != "" {
		f["executor"] = a.Executor
	}
	return r, f
}
