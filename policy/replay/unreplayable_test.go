package replay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/policy/replay"
)

// row records one allowed call and returns its row.
func (b *book) row(change func(*verbatim.Call)) action.Action {
	b.t.Helper()
	s := b.Session()
	s.Roles = []string{"clerk"}
	c := verbatim.Call{Tool: "notes.add", Arguments: []byte(`{"size":60}`)}
	if change != nil {
		change(&c)
	}
	o, err := b.Gate.Call(b.t.Context(), s, c)
	if err != nil {
		b.t.Fatal(err)
	}
	a, err := b.Store.Action(b.t.Context(), "acme", o.ActionID)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

func TestWhatIsNotRecordedIsNeverGuessed(t *testing.T) {
	t.Parallel()
	b := open(t)
	whole := b.row(nil)
	c := b.candidate(stricter)
	if v := c.Judge(t.Context(), whole); v.Kind != replay.Flip {
		t.Fatalf("the row as it is: %+v", v)
	}
	for _, tt := range []struct {
		name, why string
		row       func(*action.Action)
		with      func(*replay.Candidate)
	}{
		{"a row of before facts were recorded", replay.WhyFacts, func(a *action.Action) { a.Payload.Facts = "" }, nil},
		{"facts of another form", replay.WhyUnreadable, func(a *action.Action) {
			a.Payload.Facts = strings.Replace(a.Payload.Facts, `"v":1`, `"v":2`, 1)
		}, nil},
		{"an erased row", replay.WhyErased, func(a *action.Action) { a.ErasedAt, a.Payload = time.Now(), action.Payload{} }, nil},
		{"arguments that are none", replay.WhyUnreadable, func(a *action.Action) { a.Payload.Args = "{" }, nil},
		{"a request that is none", replay.WhyUnreadable, func(a *action.Action) { a.Payload.Requested = "" }, nil},
		{"another definition", replay.WhyDefinition, func(a *action.Action) { a.Definition[0]++ }, nil},
		{"a tool that has gone", replay.WhyNoTool, nil, func(c *replay.Candidate) {
			c.Tool = func(string) (*catalog.Tool, bool) { return nil, false }
		}},
		{"a tool of another class", replay.WhyClass, nil, func(c *replay.Candidate) {
			find := c.Tool
			c.Tool = func(name string) (*catalog.Tool, bool) {
				tool, ok := find(name)
				other := *tool
				other.Impact = catalog.Financial
				return &other, ok
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, other := whole, c
			if tt.row != nil {
				tt.row(&a)
			}
			if tt.with != nil {
				tt.with(&other)
			}
			v := other.Judge(t.Context(), a)
			if v.Kind != replay.Unreplayable || v.Why != tt.why || v.Is.Decision != "" {
				t.Errorf("got %+v, want %s", v, tt.why)
			}
		})
	}
}

func TestRunContextIsUnreplayableWhereTheEngineMayReadIt(t *testing.T) {
	t.Parallel()
	b := open(t)
	a := b.row(func(c *verbatim.Call) { c.RunContext = "opaque" })
	c := b.candidate(stricter)
	if v := c.Judge(t.Context(), a); v.Kind != replay.Flip {
		t.Errorf("an engine that cannot read it: %+v", v)
	}
	c.NoRunContext = false
	if v := c.Judge(t.Context(), a); v.Why != replay.WhyRunContext {
		t.Errorf("an engine that may read it: %+v", v)
	}
}

func TestExpectedChangesAreTheOnlyOnesThatPass(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.record()
	r := b.replay(b.candidate(stricter))
	for _, tt := range []struct {
		name, file                     string
		clean                          bool
		unexpected, missed, idleNumber int
	}{
		{"nothing is expected", `{"flips":[]}`, false, 5, 0, 0},
		{"all of it", `{"flips":[{"tool":"notes.add","from":"allow","to":"require_approval","rule":"large","count":1},
			{"from":"require_approval","to":"require_approval"},{"from":"require_approval","to":"deny","rule":"huge"},
			{"from":"deny","to":"allow"}]}`, true, 0, 0, 0},
		{"another count", `{"flips":[{"from":"allow","to":"require_approval","count":2},{"from":"require_approval","to":"require_approval"},
			{"from":"require_approval","to":"deny"},{"from":"deny","to":"allow"}]}`, false, 0, 1, 0},
		{"another rule", `{"flips":[{"from":"allow","to":"require_approval","rule":"huge"},{"from":"require_approval","to":"require_approval"},
			{"from":"require_approval","to":"deny"},{"from":"deny","to":"allow"}]}`, false, 1, 0, 1},
		{"another tool", `{"flips":[{"tool":"notes.read","from":"allow","to":"require_approval"},{"from":"require_approval","to":"require_approval"},
			{"from":"require_approval","to":"deny"},{"from":"deny","to":"allow"}]}`, false, 1, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			expected, err := replay.ParseExpected([]byte(tt.file))
			if err != nil {
				t.Fatal(err)
			}
			s := r.Against(expected)
			got := []int{len(s.Unexpected), len(s.Missed), len(s.Idle)}
			if diff := cmp.Diff([]int{tt.unexpected, tt.missed, tt.idleNumber}, got); diff != "" || s.Clean() != tt.clean {
				t.Errorf("clean %v: %s", s.Clean(), diff)
			}
		})
	}
}

func TestExpectationsAreReadStrictly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ src, at string }{
		"not JSON":            {`flips:`, "byte 0"},
		"no flips":            {`{}`, "(root)"},
		"one member more":     {`{"flips":[],"more":1}`, "(root)"},
		"an unknown member":   {`{"flips":[{"from":"allow","to":"deny","tol":"x"}]}`, "/flips/0"},
		"no decision":         {`{"flips":[{"from":"permit","to":"deny"}]}`, "/flips/0"},
		"without to":          {`{"flips":[{"from":"allow"}]}`, "/flips/0"},
		"count of none":       {`{"flips":[{"from":"allow","to":"deny","count":0}]}`, "/flips/0/count"},
		"rule is a number":    {`{"flips":[{"from":"allow","to":"deny","rule":1}]}`, "/flips/0/rule"},
		"tool is empty":       {`{"flips":[{"from":"allow","to":"deny","tool":""}]}`, "/flips/0/tool"},
		"a flip is no object": {`{"flips":["allow"]}`, "/flips/0"},
	} {
		_, err := replay.ParseExpected([]byte(tt.src))
		if err == nil || !strings.Contains(err.Error(), tt.at) {
			t.Errorf("%s: got %v, want a fault at %s", name, err, tt.at)
		}
	}
}

func FuzzParseExpected(f *testing.F) {
	f.Add([]byte(`{"flips":[{"tool":"t","from":"allow","to":"deny","rule":"r","count":3}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		list, err := replay.ParseExpected(src)
		for _, e := range list {
			if err != nil || e.From == "" || e.To == "" || e.Count < 0 {
				t.Errorf("accepted %+v, %v", e, err)
			}
		}
	})
}
