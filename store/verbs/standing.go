package verbs

import (
	"fmt"
	"maps"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/keys"
)

// standingDelay is how long after a standing grant was drawn up it may be
// signed first, and standingSkew how far ahead a clock may be.
const (
	standingDelay = 15 * time.Minute
	standingSkew  = time.Minute
)

// NewStanding checks a grant before it is kept: it fits its source, which has
// not been refused, and its time has begun.
func NewStanding(g action.StandingGrant, source action.Action, now time.Time) (action.StandingGrant, error) {
	g.Uses, g.Spent, g.RevokedAt, g.RevokedBy = 0, 0, time.Time{}, ""
	switch {
	case source.Tenant != g.Tenant || source.ID != g.Source:
		return g, action.ErrNotFound
	case !source.ErasedAt.IsZero(), source.State.Terminal() && source.State != action.Succeeded:
		return g, action.ErrState
	case now.After(g.RequestedAt.Add(standingDelay)), g.RequestedAt.After(now.Add(standingSkew)), !now.Before(g.ExpiresAt):
		return g, action.ErrLate
	}
	return g, approval.FitsSource(g, source)
}

// AdmitStanding checks a vote for a grant before it is kept. A vote against
// one is its revocation, which is another verb.
func AdmitStanding(g action.StandingGrant, v action.Vote, who action.Person, now time.Time) error {
	if !v.Approve || !g.RevokedAt.IsZero() {
		return action.ErrState
	}
	return Admit(approval.Ballot(g), v, who, now)
}

// Cover approves a pending row by a standing grant in the place of votes.
// votes is where the signatures of the grant stand; taken is the grant with
// what other rows that it covers will still use.
func Cover(row action.Action, taken action.StandingGrant, votes approval.Standing, now time.Time) (Move, int64, error) {
	switch {
	case row.State != action.PendingApproval:
		return Move{}, 0, action.ErrState
	case !now.Before(row.Deadline):
		return Move{}, 0, action.ErrLate
	}
	amount, err := usable(row, taken, votes, now)
	if err != nil {
		return Move{}, 0, err
	}
	to := row
	to.State = action.Approved
	to.Deadline = earlier(earlier(now.Add(row.Terms.TTL), row.Terms.ExpiresAt), taken.ExpiresAt)
	m := Move{To: to, Record: about(audit.ActionApproved, row.State, to, taken.ID),
		Facts: Facts{"approvalDigest": row.Terms.Digest.String(), "policyVersion": row.Decision.PolicyVersion}}
	StandingFacts(m.Facts, taken)
	return m, amount, nil
}

// UseStanding checks at the commit point that the grant still covers the row.
func UseStanding(row action.Action, g action.StandingGrant, votes approval.Standing, now time.Time) error {
	_, err := usable(row, g, votes, now)
	if err != nil {
		return fmt.Errorf("%w: %w", action.ErrIneligible, err)
	}
	return nil
}

func usable(row action.Action, g action.StandingGrant, votes approval.Standing, now time.Time) (int64, error) {
	if err := approval.CheckStanding(g); err != nil {
		return 0, err
	}
	amount, member := approval.Uncovered(g, row)
	switch {
	case member != "":
		return 0, fmt.Errorf("%w: it does not cover %s", action.ErrStanding, member)
	case votes != approval.Enough:
		return 0, fmt.Errorf("%w: its signatures do not suffice", action.ErrStanding)
	case !approval.Spendable(g, amount, now):
		return 0, fmt.Errorf("%w: it is over, revoked or used up", action.ErrStanding)
	}
	return amount, nil
}

// StandingFacts say in a record that a grant, not a vote, allowed it.
func StandingFacts(f Facts, g action.StandingGrant) {
	f["standing"], f["standingDigest"] = g.ID, g.Digest.String()
}

// StandingRecord is the record that a vote for a grant was kept. It is one of
// the source, so that its salt goes when the source is erased.
func StandingRecord(event string, g action.StandingGrant, source action.Action, v action.Vote, ties Facts) (audit.Record, Facts, Secrets) {
	f := Facts{"policyVersion": g.PolicyVersion, "method": v.Method, "voteDigest": approval.VoteDigest(v).String(),
		"maxUses": decimal(int64(g.MaxUses)), "expires": g.ExpiresAt.Format(time.RFC3339Nano), "for": forText(v)}
	StandingFacts(f, g)
	maps.Copy(f, ties)
	return about(event, source.State, source, v.Voter), f,
		Secrets{"scope": []byte(approval.ScopeText(g.Scope)), "envelope": v.Envelope, "reason": []byte(v.Reason)}
}

// StandingRevokedRecord is the record that a grant was revoked.
func StandingRevokedRecord(g action.StandingGrant) (audit.Record, Facts, Secrets) {
	f := Facts{"source": g.Source, "uses": decimal(int64(g.Uses))}
	StandingFacts(f, g)
	return audit.Record{Event: audit.StandingRevoked, Tenant: g.Tenant, Tool: g.Tool, Agent: g.Agent, By: g.RevokedBy}, f, Secrets{}
}

// StandingPlace is where the scope of a grant is sealed: beside its source,
// so that what erases that erases this.
func StandingPlace(g action.StandingGrant, on keys.Shelf) keys.Place {
	return keys.Place{Tenant: g.Tenant, Row: g.Source, Field: "standing " + g.ID, Shelf: on}
}

// ParseScope reads what approval.ScopeText wrote.
func ParseScope(text string, to *action.Scope) (err error) {
	if *to, err = approval.ParseScope(text); err != nil {
		return fmt.Errorf("%w: %w", ErrTampered, err)
	}
	return nil
}

// VerifyStanding checks a grant that was read: what is signed is what its
// digest says, unless it was erased.
func VerifyStanding(g action.StandingGrant, erased bool) error {
	if !erased && approval.StandingDigest(g) != g.Digest {
		return fmt.Errorf("%w: standing grant %s", ErrTampered, g.ID)
	}
	return nil
}
