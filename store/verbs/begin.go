package verbs

import (
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
)

// MayBegin checks a claimed row against the call that is to run, before votes,
// policy, stops and uncertain rows are looked up. a is the call as its caller
// holds it.
func MayBegin(row, a action.Action, now time.Time) error {
	switch {
	case row.State != action.Claimed && row.State != action.Executing:
		return action.ErrState
	case row.Fence != a.Fence:
		return action.ErrFence
	case row.State != action.Claimed:
		return action.ErrState
	case !now.Before(row.Deadline):
		return action.ErrLate
	case row.Hash != a.Hash || row.Definition != a.Definition || row.Payload.Args != a.Payload.Args:
		return fmt.Errorf("%w: the call to run is not the approved one", action.ErrStale)
	case row.Task != a.Task || row.GrantID != a.GrantID || row.GrantDigest != a.GrantDigest:
		return fmt.Errorf("%w: the authority of the session has changed", action.ErrStale)
	case row.Decision.PolicyVersion != a.Decision.PolicyVersion:
		return action.ErrStale
	}
	return nil
}

// Suffice refuses a start whose votes no longer count.
func Suffice(standing approval.Standing) error {
	if standing != approval.Enough {
		return fmt.Errorf("%w: the votes no longer suffice", action.ErrIneligible)
	}
	return nil
}

// InForce refuses a start under rules that are not the current ones; version
// is "" where no policy was ever set for the tool.
func InForce(a action.Action, version string) error {
	if version == "" || version != a.Decision.PolicyVersion {
		return action.ErrStale
	}
	return nil
}

// Begin takes a claimed row over the commit point.
func Begin(row action.Action, now time.Time, s action.Start) Move {
	to := row
	to.State, to.Attempt, to.LeaseUntil = action.Executing, row.Attempt+1, now.Add(s.Lease)
	to.Executor = s.Action.Executor
	m := Move{To: to, Record: about(audit.ActionStarted, row.State, to, row.Principal), Facts: Facts{}, Secrets: Secrets{}}
	started(&to, m.Facts)
	Limited(s.Limits, m.Facts, m.Secrets)
	return m
}

// BeginUnder is Begin for a row that a standing grant covers, if grant is not
// nil; the record names it.
func BeginUnder(row action.Action, now time.Time, s action.Start, grant *action.StandingGrant) Move {
	m := Begin(row, now, s)
	if grant != nil {
		StandingFacts(m.Facts, *grant)
		m.Facts["standingUse"] = decimal(int64(grant.Uses) + 1)
	}
	return m
}

// factLease names the end of a run's lease in its record.
const factLease = "leaseUntil"

// started adds to the references of a record what a run begins with. A lease
// whose end is not known yet is left out.
func started(a *action.Action, f Facts) {
	f["fence"], f["attempt"] = decimal(a.Fence), decimal(int64(a.Attempt))
	f["policyVersion"] = a.Decision.PolicyVersion
	if !a.LeaseUntil.IsZero() {
		f[factLease] = a.LeaseUntil.Format(time.RFC3339Nano)
	}
	if a.Executor != "" {
		f["executor"] = a.Executor
	}
	if a.Terms != nil {
		f["approvalDigest"] = a.Terms.Digest.String()
	}
}
