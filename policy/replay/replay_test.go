package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/policy/replay"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// live is the policy that the calls were recorded under.
const live = `
@id("reads") permit (principal, action in Action::"read", resource);
@id("small") permit (principal in Role::"clerk", action == Action::"notes.add", resource) when { context.args.size <= 100 };
@id("large") @decision("require_approval") @groups("admin:1")
permit (principal in Role::"clerk", action == Action::"notes.add", resource) when { context.args.size > 100 };
@id("tainted") forbid (principal, action == Action::"notes.add", resource) when { context.taint.contains("web") };`

// book is a gate over two tools, with what was recorded through it.
type book struct {
	*verbatimtest.Fixture
	t     *testing.T
	tools []*catalog.Tool
	names map[string]string // what a test calls an action, by its id
}

func tools(t *testing.T) []*catalog.Tool {
	t.Helper()
	var out []*catalog.Tool
	for _, spec := range []catalog.Spec{
		{Name: "notes.add", Impact: catalog.Ordinary, Reason: "it only adds",
			Schema: []byte(`{"type":"object","required":["size"],"properties":{"size":{"type":"integer"}}}`)},
		{Name: "notes.read", Read: true, Reason: "it only reads", Schema: []byte(`{"type":"object","properties":{}}`)},
	} {
		tool, err := catalog.Define(spec)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tool)
	}
	return out
}

func engine(t *testing.T, source string, tools []*catalog.Tool) *cedar.Engine {
	t.Helper()
	e, err := cedar.Load(map[string][]byte{"p.cedar": []byte(source)}, tools, cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func open(t *testing.T) *book {
	t.Helper()
	list := tools(t)
	done := execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
		return execute.Output{Bytes: []byte(`{}`)}, nil
	})
	cfg := verbatimtest.Config{Policy: engine(t, live, list)}
	for _, tool := range list {
		cfg.Tools = append(cfg.Tools, verbatim.Bound{Tool: tool, Handler: done})
	}
	return &book{verbatimtest.New(t, cfg), t, list, map[string]string{}}
}

// call makes a call of a clerk, a name for it, and returns its action.
func (b *book) call(name, tool, args string, change ...func(*verbatim.Session)) string {
	b.t.Helper()
	s := b.Session()
	s.Roles = []string{"clerk"}
	for _, f := range change {
		f(&s)
	}
	o, err := b.Gate.Call(b.t.Context(), s, verbatim.Call{Tool: tool, Arguments: []byte(args), Turn: 3})
	if err != nil {
		b.t.Fatal(err)
	}
	b.names[o.ActionID] = name
	return o.ActionID
}

func (b *book) candidate(source string) replay.Candidate {
	byName := map[string]*catalog.Tool{}
	for _, t := range b.tools {
		byName[t.Name] = t
	}
	return replay.Candidate{Engine: engine(b.t, source, b.tools), NoRunContext: true,
		Tool:      func(name string) (*catalog.Tool, bool) { t, ok := byName[name]; return t, ok },
		Approvers: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}}
}

func (b *book) replay(c replay.Candidate) replay.Report {
	b.t.Helper()
	r, err := replay.Run(b.t.Context(), b.Store, c, replay.Scope{Tenant: "acme"})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// line is a verdict in words.
func (b *book) line(v replay.Verdict) string {
	return fmt.Sprintf("%s %s: %s %v -> %s %v", v.Kind, b.names[v.Action], v.Was.Decision, v.Was.Rules, v.Is.Decision, v.Is.Rules)
}

func (b *book) lines(list []replay.Verdict) (out []string) {
	for _, v := range list {
		out = append(out, b.line(v))
	}
	return out
}

// record makes one call of each kind.
func (b *book) record() {
	b.call("small", "notes.add", `{"size":10}`)
	b.call("medium", "notes.add", `{"size":60}`)
	b.call("waiting", "notes.add", `{"size":200}`)
	b.Approve(b.call("approved", "notes.add", `{"size":300}`), "ada")
	b.Reject(b.call("rejected", "notes.add", `{"size":400}`), "ada")
	b.call("stranger", "notes.add", `{"size":10}`, func(s *verbatim.Session) { s.Roles = nil })
	b.call("tainted", "notes.add", `{"size":10}`, func(s *verbatim.Session) { s.Taint = []string{"web"} })
	b.call("unknown", "notes.burn", `{}`)
	b.call("read", "notes.read", `{}`)
}

func TestTheSamePolicyChangesNothing(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.record()
	r := b.replay(b.candidate(live))
	want := replay.Counts{Calls: 9, Same: 7, Runtime: 1, Unreplayable: 1}
	if diff := cmp.Diff(want, r.Counts); diff != "" {
		t.Error(diff)
	}
	if len(r.Changes)+len(r.Void)+len(r.ByRule) > 0 {
		t.Errorf("changes %v, void %v", b.lines(r.Changes), b.lines(r.Void))
	}
	if diff := cmp.Diff([]replay.Times{{Name: replay.WhyRead, Count: 1}}, r.Why); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"reads"}, r.Silent); diff != "" {
		t.Error(diff)
	}
}

const stricter = `
@id("reads") permit (principal, action in Action::"read", resource);
@id("small") permit (principal in Role::"clerk", action == Action::"notes.add", resource) when { context.args.size <= 50 };
@id("large") @decision("require_approval") @groups("admin:2")
permit (principal in Role::"clerk", action == Action::"notes.add", resource) when { context.args.size > 50 };
@id("huge") forbid (principal, action == Action::"notes.add", resource) when { context.args.size > 350 };
@id("never") forbid (principal, action == Action::"notes.add", resource) when { context.turn > 50 };`

func TestReplayTellsWhatACandidateWouldChange(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.record()
	r := b.replay(b.candidate(stricter))
	want := []string{
		"flip medium: allow [small] -> require_approval [large]",
		"terms waiting: require_approval [large] -> require_approval [large]",
		"terms approved: require_approval [large] -> require_approval [large]",
		"flip rejected: require_approval [large] -> deny [huge]",
		"flip tainted: deny [tainted] -> allow [small]",
	}
	if diff := cmp.Diff(want, b.lines(r.Changes)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{want[1], want[2]}, b.lines(r.Void)); diff != "" {
		t.Errorf("void: %s", diff)
	}
	if diff := cmp.Diff(replay.Counts{Calls: 9, Same: 2, Terms: 2, Flips: 3, Runtime: 1, Unreplayable: 1}, r.Counts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]replay.Times{{Name: "large", Count: 3}, {Name: "small", Count: 2}, {Name: "huge", Count: 1}}, r.Fired); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"reads", "never"}, r.Silent); diff != "" {
		t.Error(diff)
	}
	if first := r.ByRule[0]; first.Count != 2 || first.Kind != replay.Terms || first.Was.Requirements[0] != "admin:1" || first.Is.Requirements[0] != "admin:2" {
		t.Errorf("the largest group is %+v", first)
	}
}

func TestReplayingTwiceGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.record()
	c := b.candidate(stricter)
	first, err := json.Marshal(b.replay(c))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		again, err := json.Marshal(b.replay(c))
		if err != nil || string(again) != string(first) {
			t.Fatalf("another report: %v\n%s\n%s", err, first, again)
		}
	}
}

func TestScopeHoldsCallsByTheTimeTheyWereProposed(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.call("old", "notes.add", `{"size":60}`)
	b.Clock.Advance(time.Hour)
	b.call("new", "notes.add", `{"size":70}`)
	b.Clock.Advance(time.Hour)
	b.call("newest", "notes.add", `{"size":80}`)
	c := b.candidate(stricter)
	r, err := replay.Run(t.Context(), b.Store, c, replay.Scope{Since: verbatimtest.Start.Add(time.Hour), Until: verbatimtest.Start.Add(2 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"flip new: allow [small] -> require_approval [large]"}, b.lines(r.Changes)); diff != "" {
		t.Error(diff)
	}
}

func TestReplayThatStopsEarlySaysSo(t *testing.T) {
	t.Parallel()
	b := open(t)
	for _, name := range []string{"first", "second", "third"} {
		b.call(name, "notes.add", `{"size":60}`)
		b.call(name, "notes.read", `{}`)
	}
	r, err := replay.Run(t.Context(), b.Store, b.candidate(stricter), replay.Scope{Most: 2})
	if err != nil {
		t.Fatal(err)
	}
	if want := (replay.Counts{Calls: 4, Flips: 2, Unreplayable: 2}); r.Counts != want || !r.Cut || b.names[r.Changes[0].Action] != "second" {
		t.Errorf("%+v, cut %v", r.Counts, r.Cut)
	}
	if r, err = replay.Run(t.Context(), b.Store, b.candidate(stricter), replay.Scope{Most: 3}); err != nil || r.Cut {
		t.Errorf("three of three: cut %v, %v", r.Cut, err)
	}
}

func TestEveryPageOfAStoreIsRead(t *testing.T) {
	t.Parallel()
	b := open(t)
	const calls = 1203
	for i := range calls {
		b.call("n", "notes.add", fmt.Sprintf(`{"size":%d}`, i%100), func(s *verbatim.Session) { s.Roles = nil })
	}
	done := 0
	r, err := replay.Run(t.Context(), b.Store, b.candidate(live), replay.Scope{Progress: func(n int) { done = n }})
	if err != nil {
		t.Fatal(err)
	}
	if r.Counts.Calls != calls || r.Counts.Same != calls || done != 1000 {
		t.Errorf("%+v, told of %d", r.Counts, done)
	}
}
