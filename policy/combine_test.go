package policy_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/policy"
)

var update = flag.Bool("update", false, "rewrite golden files")

func need(group string, votes int) []action.Requirement {
	return []action.Requirement{{AnyOf: []action.Group{{Name: group, Votes: votes}}}}
}

// answers are the rows and columns of the golden matrix.
func answers() []struct {
	name string
	d    policy.Decision
} {
	type row = struct {
		name string
		d    policy.Decision
	}
	return []row{
		{"allow", policy.Decision{Effect: policy.Allow, Reason: "a", Rules: []string{"p1"}}},
		{"allow-high", policy.Decision{Effect: policy.Allow, Reason: "h", RaiseImpact: true, Rules: []string{"p2"}}},
		{"ask-admin", policy.Decision{Effect: policy.RequireApproval, Reason: "q", Rules: []string{"q1"},
			Approval: &policy.Approval{Requirements: need("admin", 1), TTL: time.Hour}}},
		{"ask-finance", policy.Decision{Effect: policy.RequireApproval, Reason: "f", Rules: []string{"q2"},
			Approval: &policy.Approval{Requirements: need("finance", 2), StepUp: true}}},
		{"ask-default", policy.Decision{Effect: policy.RequireApproval, Reason: "d", Rules: []string{"q3"}}},
		{"deny", policy.Decision{Reason: "n", Rules: []string{"f1"}, PublicReason: "no"}},
		{"no-rule", policy.Combine()},
		{"error", policy.Decision{Reason: "e", Code: policy.ReasonError, Rules: []string{"x1"}}},
		{"unknown", policy.Decision{Effect: 9, Reason: "u"}},
	}
}

func line(d policy.Decision) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s code=%s rules=%s", d.Effect, d.Code, strings.Join(d.Rules, ","))
	if d.RaiseImpact {
		b.WriteString(" high")
	}
	if a := d.Approval; a != nil {
		fmt.Fprintf(&b, " ttl=%s stepup=%t need=", a.TTL, a.StepUp)
		if a.Default {
			b.WriteString("[default]")
		}
		for _, r := range a.Requirements {
			for _, g := range r.AnyOf {
				fmt.Fprintf(&b, "[%s:%d]", g.Name, g.Votes)
			}
		}
	}
	return b.String()
}

func TestDecisionMatrixIsAsReviewed(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	tools := []policy.Tool{
		{Name: "read", Cataloged: true},
		{Name: "mutation", Cataloged: true, Mutation: true},
		{Name: "high", Cataloged: true, Mutation: true, HighImpact: true},
		{Name: "uncataloged"},
	}
	for _, x := range answers() {
		for _, y := range answers() {
			joined := policy.Combine(x.d, y.d)
			fmt.Fprintf(&b, "%s + %s\n  = %s\n", x.name, y.name, line(joined))
			for _, tool := range tools {
				fmt.Fprintf(&b, "  on %s: %s\n", tool.Name, line(policy.HighImpact(joined, tool, need("ops", 1))))
			}
		}
	}
	file := filepath.Join("testdata", "matrix.golden")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestCombineNeverPermitsMoreThanItsStrictestAnswer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := answers()
		picks := rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 1, 6).Draw(t, "picks")
		var ds, reversed []policy.Decision
		strictest := policy.Allow
		for _, i := range picks {
			d := all[i].d
			ds, reversed = append(ds, d), append([]policy.Decision{d}, reversed...)
			if d.Effect > policy.Allow {
				strictest = policy.Deny
			}
			strictest = min(strictest, d.Effect)
		}
		got := policy.Combine(ds...)
		if got.Effect != strictest {
			t.Fatalf("got %v, want %v", got.Effect, strictest)
		}
		if other := policy.Combine(reversed...).Effect; other != got.Effect {
			t.Fatalf("order matters: %v and %v", got.Effect, other)
		}
	})
}

func TestCombineKeepsTheShortestClockAndEarliestExpiry(t *testing.T) {
	t.Parallel()
	d := policy.Combine(
		policy.Decision{Effect: policy.Allow, Reason: "a", ExpiresAt: noon.Add(time.Minute)},
		policy.Decision{Effect: policy.RequireApproval, Reason: "b", ExpiresAt: noon.Add(time.Hour),
			Approval: &policy.Approval{TTL: time.Minute, PendingTTL: time.Hour}},
		policy.Decision{Effect: policy.RequireApproval, Reason: "c", Approval: &policy.Approval{TTL: time.Hour, PendingTTL: time.Minute}},
	)
	if d.Approval.TTL != time.Minute || d.Approval.PendingTTL != time.Minute || !d.ExpiresAt.Equal(noon.Add(time.Minute)) {
		t.Errorf("got %+v %+v", d, d.Approval)
	}
}

func TestCombineTellsARuntimeReasonBeforeARulesOwn(t *testing.T) {
	t.Parallel()
	d := policy.Combine(policy.Decision{Reason: "rule", PublicReason: "p"}, policy.Decision{Reason: "broken", Code: policy.ReasonError})
	if d.Code != policy.ReasonError || d.Reason != "broken" || d.PublicReason != "" {
		t.Errorf("got %+v", d)
	}
}

func TestCombineChangesNothingThatItWasGiven(t *testing.T) {
	t.Parallel()
	a, b := answers()[2].d, answers()[3].d
	a.Metadata, b.Metadata = map[string]string{"k": "1"}, map[string]string{"k": "2", "l": "3"}
	d := policy.Combine(a, b)
	if diff := cmp.Diff(map[string]string{"k": "1", "l": "3"}, d.Metadata); diff != "" {
		t.Error(diff)
	}
	if len(a.Metadata) != 1 || len(a.Rules) != 1 || len(a.Approval.Requirements) != 1 || a.Approval.StepUp {
		t.Errorf("changed: %+v %+v", a, a.Approval)
	}
}

func TestHighImpactCallIsNeverMerelyAllowed(t *testing.T) {
	t.Parallel()
	allow := policy.Decision{Effect: policy.Allow, Reason: "fine", PolicyVersion: "v"}
	raised := allow
	raised.RaiseImpact = true
	tests := []struct {
		name   string
		d      policy.Decision
		tool   policy.Tool
		groups []action.Requirement
		want   policy.Effect
	}{
		{"catalog", allow, policy.Tool{Name: "t", Cataloged: true, HighImpact: true}, need("ops", 1), policy.RequireApproval},
		{"policy raises", raised, policy.Tool{Name: "t", Cataloged: true}, need("ops", 1), policy.RequireApproval},
		{"uncataloged", allow, policy.Tool{Name: "t"}, need("ops", 1), policy.RequireApproval},
		{"nobody may approve", allow, policy.Tool{Name: "t", Cataloged: true, HighImpact: true}, nil, policy.Deny},
		{"ordinary", allow, policy.Tool{Name: "t", Cataloged: true, Mutation: true}, nil, policy.Allow},
		{"unknown effect", policy.Decision{Effect: 8}, policy.Tool{Name: "t", Cataloged: true}, need("ops", 1), policy.Deny},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := policy.HighImpact(tt.d, tt.tool, tt.groups)
			if got.Effect != tt.want {
				t.Fatalf("got %v, want %v", got.Effect, tt.want)
			}
			if tt.want == policy.RequireApproval {
				want := &policy.Approval{Requirements: need("ops", 1), TTL: policy.DefaultTTL, PendingTTL: policy.DefaultPendingTTL}
				if diff := cmp.Diff(want, got.Approval); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestPolicysOwnGroupsWinOverTheCatalogs(t *testing.T) {
	t.Parallel()
	d := policy.Decision{Effect: policy.RequireApproval, Reason: "ask", Approval: &policy.Approval{Requirements: need("legal", 1)}}
	got := policy.HighImpact(d, policy.Tool{Name: "t", Cataloged: true, HighImpact: true}, need("ops", 1))
	if diff := cmp.Diff(need("legal", 1), got.Approval.Requirements); diff != "" {
		t.Error(diff)
	}
}

func TestEffectNamesAndZeroValue(t *testing.T) {
	t.Parallel()
	var zero policy.Decision
	got := []string{zero.Effect.String(), policy.RequireApproval.String(), policy.Allow.String(), policy.Effect(9).String()}
	if diff := cmp.Diff([]string{"deny", "require_approval", "allow", "deny"}, got); diff != "" {
		t.Error(diff)
	}
}
