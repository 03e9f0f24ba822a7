package corpus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/internal/corpus"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/policy/replay"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

const replayGolden = "testdata/replay.txt"

// recorded is what one domain left in its store.
type recorded struct {
	tools []*catalog.Tool
	live  policy.Engine
	rows  []action.Action // newest first, as the store lists them
	reads []audit.Record
}

// record walks one domain through a gate and reads its store.
func record(t *testing.T, domain string) recorded {
	t.Helper()
	present(t)
	var r recorded
	var f *verbatimtest.Fixture
	_, err := corpus.Run(t.Context(), corpus.Paths{Suites: suites, Examples: examples, Work: t.TempDir()},
		func(tools verbatim.Toolset, engine policy.Engine) (*verbatim.Gate, error) {
			f, r.live = verbatimtest.New(t, verbatimtest.Config{Policy: engine, Dir: fast(t)}), engine
			for _, b := range tools {
				r.tools = append(r.tools, b.Tool)
			}
			return f.Gate.With(tools), nil
		}, domain)
	if err != nil {
		t.Fatal(err)
	}
	r.rows = everyRow(t, f.Store)
	for before := int64(0); ; {
		page, err := f.Store.Records(t.Context(), audit.Filter{Event: audit.ReadAllowed, Limit: 1000, Before: before})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return r
		}
		r.reads, before = append(r.reads, page...), page[len(page)-1].Seq
	}
}

func everyRow(t *testing.T, s replay.Source) (rows []action.Action) {
	t.Helper()
	for before := ""; ; {
		page, err := s.Actions(t.Context(), action.Filter{Limit: 1000, Before: before})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return rows
		}
		rows, before = append(rows, page...), page[len(page)-1].ID
	}
}

// Actions and Records make what was read a source that reads no file again.
func (r recorded) Actions(_ context.Context, f action.Filter) ([]action.Action, error) {
	rows := r.rows
	if f.Before != "" {
		rows = rows[1+slices.IndexFunc(rows, func(a action.Action) bool { return a.ID == f.Before }):]
	}
	return rows[:min(f.Limit, len(rows))], nil
}

func (r recorded) Records(_ context.Context, f audit.Filter) ([]audit.Record, error) {
	if f.Event != audit.ReadAllowed {
		return nil, nil
	}
	list := r.reads
	if f.Before != 0 {
		list = list[1+slices.IndexFunc(list, func(x audit.Record) bool { return x.Seq == f.Before }):]
	}
	return list[:min(f.Limit, len(list))], nil
}

func (r recorded) candidate(t *testing.T, source string) replay.Candidate {
	t.Helper()
	engine, err := cedar.Load(map[string][]byte{"candidate.cedar": []byte(source)}, r.tools, cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*catalog.Tool{}
	for _, tool := range r.tools {
		byName[tool.Name] = tool
	}
	return replay.Candidate{Engine: engine, NoRunContext: true,
		Tool:      func(name string) (*catalog.Tool, bool) { tool, ok := byName[name]; return tool, ok },
		Approvers: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}}
}

// reading is what a person reads in a row: JSON, and no type of the engine.
type reading struct {
	args  map[string]any
	facts struct {
		Taint []string `json:"taint"`
		Tool  struct {
			Mutation, HighImpact bool
		} `json:"tool"`
	}
	grant  string
	groups string // whom the catalog names, else the configuration
}

func read(t *testing.T, r recorded, a action.Action) reading {
	t.Helper()
	x := reading{grant: a.GrantID, groups: "admin:1"}
	if err := json.Unmarshal([]byte(a.Payload.Args), &x.args); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(a.Payload.Facts), &x.facts); err != nil {
		t.Fatal(err)
	}
	for _, tool := range r.tools {
		if tool.Name == a.Tool && len(tool.Groups) > 0 {
			x.groups = asked(tool.Groups)
		}
	}
	return x
}

func asked(list []action.Requirement) string {
	var all []string
	for _, r := range list {
		for _, g := range r.AnyOf {
			all = append(all, fmt.Sprintf("%s:%d", g.Name, g.Votes))
		}
	}
	return strings.Join(all, "+")
}

// change is a policy in force, by hand: what the candidate decides on one row,
// as decision and groups, and which tools its rules are about.
type change struct {
	name   string
	source map[string]string // by domain
	hand   func(domain string, a action.Action, x reading) string
	about  func(domain, tool string) bool // rules for the tool are other ones
}

// everything asks the owner about every change.
const everything = `
@id("reads") permit (principal, action in Action::"read", resource);
@id("ask") @decision("require_approval") @groups("owner:1") permit (principal, action in Action::"mutation", resource);`

// wary lets changes run on a grant alone, whatever it is for, and none after
// strangers were read.
const wary = `
@id("reads") permit (principal, action in Action::"read", resource);
@id("granted") permit (principal, action in Action::"mutation", resource) when { context has grant };
@id("strangers") forbid (principal, action in Action::"mutation", resource) when { context.taint.contains("read_outside") };`

// narrow forbids one thing of each domain and keeps all other rules.
var narrow = map[string]string{
	"retail": `@id("one-at-a-time") forbid (principal, action in [Action::"exchange_delivered_order_items",
		Action::"modify_pending_order_items", Action::"return_delivered_order_items"], resource) when { context.args.item_ids.length > 1 };`,
	"airline": `@id("few-bags") forbid (principal, action == Action::"book_reservation", resource) when { context.args.total_baggages > 2 };`,
	"banking": `@id("no-large") forbid (principal, action == Action::"send_money", resource)
		when { context.args.amount.greaterThan(decimal("100.0")) };`,
	"slack": `@id("no-invites") forbid (principal, action == Action::"invite_user_to_slack", resource)
		when { context.args.user_email like "*@gmail.com" };`,
}

func sameFor(source string) map[string]string {
	out := map[string]string{}
	for _, domain := range corpus.Domains {
		out[domain] = source
	}
	return out
}

// recordedAnswer is what the row says was decided, in the form of hand.
func recordedAnswer(a action.Action) string {
	if a.Terms != nil {
		return "require_approval " + asked(a.Terms.Requirements)
	}
	return a.Decision.Effect
}

func narrowed(domain string, a action.Action, x reading) string {
	number := func(name string) float64 { n, _ := x.args[name].(float64); return n }
	text := func(name string) string { s, _ := x.args[name].(string); return s }
	list := func(name string) int { l, _ := x.args[name].([]any); return len(l) }
	forbidden := false
	switch domain + " " + a.Tool {
	case "retail exchange_delivered_order_items", "retail modify_pending_order_items", "retail return_delivered_order_items":
		forbidden = list("item_ids") > 1
	case "airline book_reservation":
		forbidden = number("total_baggages") > 2
	case "banking send_money":
		forbidden = number("amount") > 100
	case "slack invite_user_to_slack":
		forbidden = strings.HasSuffix(text("user_email"), "@gmail.com")
	}
	if forbidden {
		return "deny"
	}
	return recordedAnswer(a)
}

var changes = []change{
	{"ask about everything", sameFor(everything), func(_ string, _ action.Action, x reading) string {
		if !x.facts.Tool.Mutation {
			return "allow"
		}
		return "require_approval owner:1"
	}, func(string, string) bool { return true }},
	{"a grant is enough, strangers are not", sameFor(wary), func(_ string, _ action.Action, x reading) string {
		switch {
		case !x.facts.Tool.Mutation:
			return "allow"
		case slices.Contains(x.facts.Taint, "read_outside"), x.grant == "":
			return "deny"
		case x.facts.Tool.HighImpact:
			return "require_approval " + x.groups
		default:
			return "allow"
		}
	}, func(string, string) bool { return true }},
	{"one thing less", narrow, narrowed, func(domain, tool string) bool {
		return strings.Contains(narrow[domain], `"`+tool+`"`)
	}},
}

// diff is the table of a replay: how many go from where to where.
type diff map[string]int

func (d diff) table() string {
	var lines []string
	for line, n := range d {
		lines = append(lines, fmt.Sprintf("%s %5d", line, n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

func line(domain, name, tool, from, to string) string {
	return fmt.Sprintf("%-8s %-37s %-31s %-32s -> %-32s", domain, name, tool, from, to)
}

// byHand reads every row and computes what the candidate changes, without the
// engine. Who was refused by something other than policy stays refused.
func byHand(t *testing.T, domain string, r recorded, c change) (d diff, counts replay.Counts, void int) {
	t.Helper()
	d = diff{}
	counts.Calls, counts.Unreplayable = len(r.rows)+len(r.reads), len(r.reads)
	for _, a := range r.rows {
		if a.State == action.PendingApproval && c.about(domain, a.Tool) {
			void++
		}
		switch a.Decision.Code {
		case string(verbatim.CodeIdentitySpoof), string(verbatim.CodeUnknownTool):
			counts.Runtime++
			continue
		case "ok", "approval_required", "policy_denied", "no_matching_rule":
		default:
			t.Fatalf("a row with the code %s", a.Decision.Code)
		}
		from, to := recordedAnswer(a), c.hand(domain, a, read(t, r, a))
		if from != to {
			d[line(domain, c.name, a.Tool, from, to)]++
		}
	}
	return d, counts, void
}

func answered(a replay.Answer) string {
	return strings.TrimSpace(a.Decision + " " + strings.ReplaceAll(strings.Join(a.Requirements, "+"), "|", "+"))
}

// TestReplayOfTheCorporaIsWhatAPersonReads decides everything that the corpora
// left in a store again, under three candidates, and compares with what the
// rows say when they are read by hand.
func TestReplayOfTheCorporaIsWhatAPersonReads(t *testing.T) {
	t.Parallel()
	var hand strings.Builder
	for _, domain := range corpus.Domains {
		r := record(t, domain)
		liveSource := livePolicy(t, domain)
		for _, c := range changes {
			source := c.source[domain]
			if c.name == "one thing less" {
				source += liveSource
			}
			report, err := replay.Run(t.Context(), r, r.candidate(t, source), replay.Scope{})
			if err != nil {
				t.Fatal(err)
			}
			want, counts, void := byHand(t, domain, r, c)
			got := diff{}
			for _, v := range report.Changes {
				got[line(domain, c.name, v.Tool, answered(v.Was), answered(v.Is))]++
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-hand +replay):\n%s", domain, c.name, diff)
			}
			n := report.Counts
			if n.Calls != counts.Calls || n.Unreplayable != counts.Unreplayable || n.Runtime != counts.Runtime || len(report.Void) != void {
				t.Errorf("%s, %s: %+v and %d void, by hand %+v and %d", domain, c.name, n, len(report.Void), counts, void)
			}
			fmt.Fprintf(&hand, "%s%-8s %-37s %d calls, %d changes, %d open approvals void, %d reads without arguments, %d refused by other than policy\n\n",
				want.table(), domain, c.name, counts.Calls, len(report.Changes), void, counts.Unreplayable, counts.Runtime)
		}
	}
	compareGolden(t, hand.String())
}

// livePolicy is the policy that a domain was recorded under, as it was loaded.
func livePolicy(t *testing.T, domain string) string {
	t.Helper()
	src, err := corpus.LivePolicy(corpus.Paths{Suites: suites, Examples: examples}, domain)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

func compareGolden(t *testing.T, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(replayGolden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(replayGolden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the table is not that of last time (-want +got); -update writes it:\n%s", diff)
	}
}

// TestReplayOfTheCorporaIsTheSameEveryTime makes 100 runs over each domain
// under each candidate, and compares every byte.
func TestReplayOfTheCorporaIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	for _, domain := range corpus.Domains {
		t.Run(domain, func(t *testing.T) {
			t.Parallel()
			r := record(t, domain)
			for _, c := range changes {
				first := ""
				for range 100 {
					report, err := replay.Run(t.Context(), r, r.candidate(t, c.source[domain]), replay.Scope{})
					if err != nil {
						t.Fatal(err)
					}
					text, err := json.Marshal(report)
					if err != nil {
						t.Fatal(err)
					}
					if first == "" {
						first = string(text)
					}
					if string(text) != first {
						t.Fatalf("%s: another report", c.name)
					}
				}
			}
		})
	}
}
