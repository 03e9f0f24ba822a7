package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/action"
)

// The clocks of an approval (semantics §8).
const (
	DefaultTTL        = 10 * time.Minute
	MaxTTL            = 24 * time.Hour
	DefaultPendingTTL = 24 * time.Hour
	MaxPendingTTL     = 24 * time.Hour
)

// MaxVotes bounds how many votes one group may be asked for.
const MaxVotes = 100

// clone copies everything that the engine could still hold a reference to.
func (d Decision) clone() Decision {
	d.Metadata = maps.Clone(d.Metadata)
	d.Rules = slices.Clone(d.Rules)
	if d.Approval != nil {
		a := *d.Approval
		a.Requirements = cloneRequirements(a.Requirements)
		d.Approval = &a
	}
	return d
}

func cloneRequirements(rs []action.Requirement) []action.Requirement {
	if rs == nil {
		return nil
	}
	out := make([]action.Requirement, len(rs))
	for i, r := range rs {
		out[i] = action.Requirement{AnyOf: slices.Clone(r.AnyOf)}
	}
	return out
}

// fault says why d is no valid result; "" if it is one. It prints no text of
// the engine's, which might hold argument values.
func (d *Decision) fault(now time.Time) string {
	switch {
	case d.Effect > Allow:
		return "unknown effect"
	case strings.TrimSpace(d.Reason) == "":
		return "no reason"
	case !d.text():
		return "text that is not UTF-8"
	case d.ResultMode != "" && d.ResultMode != Throw && d.ResultMode != ToolResult:
		return "unknown result mode"
	case d.Code != "" && !engineCode(d.Code):
		return "a code that is not the engine's to give"
	case d.Code != "" && d.Effect != Deny:
		return "a runtime reason without a deny"
	case !d.ExpiresAt.IsZero() && !d.ExpiresAt.After(now):
		return "it has expired already"
	case d.PolicyVersion == "":
		return "no policy version"
	case d.Effect == Allow && d.Approval != nil:
		return "approval terms on an allow"
	case d.Effect == RequireApproval && d.Approval != nil:
		return d.Approval.fault()
	}
	return ""
}

// engineCode reports whether an engine may give the runtime reason itself.
func engineCode(code string) bool {
	switch code {
	case ReasonError, ReasonInvalidResult, ReasonTimeout, ReasonNoMatchingRule, ReasonUnknownTool:
		return true
	}
	return false
}

// text reports whether every string can be written to a record.
func (d *Decision) text() bool {
	ok := utf8.ValidString(d.Reason) && utf8.ValidString(d.PublicReason) && utf8.ValidString(d.PolicyVersion)
	for _, rule := range d.Rules {
		ok = ok && utf8.ValidString(rule)
	}
	for k, v := range d.Metadata {
		ok = ok && utf8.ValidString(k) && utf8.ValidString(v)
	}
	return ok
}

func (a Approval) fault() string {
	if a.TTL < 0 || a.TTL > MaxTTL {
		return "ttl out of range"
	}
	if a.PendingTTL < 0 || a.PendingTTL > MaxPendingTTL {
		return "pending ttl out of range"
	}
	for i, r := range a.Requirements {
		if len(r.AnyOf) == 0 {
			return fmt.Sprintf("requirement %d names no group", i)
		}
		for _, g := range r.AnyOf {
			if g.Name == "" || !utf8.ValidString(g.Name) || g.Votes < 1 || g.Votes > MaxVotes {
				return fmt.Sprintf("requirement %d has a group without name or votes", i)
			}
		}
	}
	return ""
}

// complete fills the defaults of a valid decision, which shares nothing with
// the engine any more.
func (d *Decision) complete() {
	if d.Effect != RequireApproval {
		d.Approval = nil
		return
	}
	if d.Approval == nil {
		d.Approval = &Approval{}
	}
	*d.Approval = d.Approval.withDefaults()
}

func (a Approval) withDefaults() Approval {
	if a.TTL == 0 {
		a.TTL = DefaultTTL
	}
	if a.PendingTTL == 0 {
		a.PendingTTL = DefaultPendingTTL
	}
	return a
}

// printable keeps an engine's error short and valid for a record.
func printable(s string) string {
	const limit = 500
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "..."
	}
	return s
}
