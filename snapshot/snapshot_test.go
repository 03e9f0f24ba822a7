package snapshot_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

func decode(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Decode([]byte(text), canon.Options{})
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	return v
}

func freeze(t testing.TB, text string) snapshot.Snapshot {
	t.Helper()
	s, err := snapshot.Freeze(decode(t, text))
	if err != nil {
		t.Fatalf("freeze: %v", err)
	}
	return s
}

func rule(t testing.TB, err error) (pointer, name string) {
	t.Helper()
	var vs canon.Violations
	if !errors.As(err, &vs) || len(vs) == 0 {
		t.Fatalf("want violations, got %v", err)
	}
	return vs[0].Pointer, vs[0].Rule
}

func TestProposalHashVectors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, agent, tool, args, want string }{
		{"one member", "a", "t", `{"amount":5}`, "9cf3a7878cccb3528177861a8bb6e5b4280e9bd8fbc29609caf83f9663e69aac"},
		{"empty object", "a", "t", `{}`, "4d4ac720426646fe9be26636f700eb64d927acb82c713fb39cc928dc58718c8a"},
		{"payment", "Support Agent", "transfer", `{"currency":"USD","account":"VENDOR-001","amount_minor":840000}`,
			"30a1fcc1c6cec492a4b58b410435c6b1a724a43b12f43a17f71c8dccb5bc94e2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := snapshot.Propose(c.agent, c.tool, freeze(t, c.args)).Hash.String()
			if got != c.want {
				t.Errorf("hash %s, want %s", got, c.want)
			}
		})
	}
	handoff := snapshot.ProposeHandoff("A", "B", freeze(t, `{}`)).Hash.String()
	if want := "51064098ec083e664baa68dce7f6a384f4baaa70688153e1a4960d7ed788f6f7"; handoff != want {
		t.Errorf("handoff hash %s, want %s", handoff, want)
	}
}

func TestFreezeIsRFC8785(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"H01 names sort by UTF-16":        {"{\"\uffff\":1,\"\U00010000\":2}", "{\"\U00010000\":2,\"\uffff\":1}"},
		"H01 line separators stay raw":    {`{"a":"\u2028\u007f"}`, "{\"a\":\"\u2028\u007f\"}"},
		"H03 numbers as RFC 8785 prints":  {`{"name":"Caf\u00e9","x":1e-06,"y":1.0}`, `{"name":"Café","x":0.000001,"y":1}`},
		"H12 HTML characters stay":        {`{"body":"> \u0026 <b>"}`, `{"body":"> & <b>"}`},
		"prototype names are plain names": {`{"__proto__":{"constructor":1}}`, `{"__proto__":{"constructor":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := freeze(t, c.in).Text(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestFreezeRefusesWhatIsOutsideTheDomain(t *testing.T) {
	t.Parallel()
	big, _ := canon.ParseNumber("1e20", false)
	deep := canon.NullValue()
	for range canon.DefaultMaxDepth {
		deep = canon.ArrayValue(deep)
	}
	object := func(v canon.Value) canon.Value { return canon.ObjectValue(canon.Member{Name: "a", Value: v}) }
	for name, c := range map[string]struct {
		in            canon.Value
		pointer, rule string
	}{
		"array root":       {canon.ArrayValue(), "", snapshot.RuleObject},
		"no value":         {canon.Value{}, "", snapshot.RuleObject},
		"invalid member":   {object(canon.Value{}), "/a", canon.RuleInvalidValue},
		"bad UTF-8":        {object(canon.StringValue("\xff")), "/a", canon.RuleInvalidUTF8},
		"rounded integer":  {object(big), "/a", canon.RuleUnsafeInteger},
		"too deep":         {object(deep), "/a" + strings.Repeat("/0", canon.DefaultMaxDepth-1), canon.RuleDepth},
		"duplicate member": {canon.ObjectValue(canon.Member{Name: "a", Value: canon.NullValue()}, canon.Member{Name: "a", Value: canon.NullValue()}), "/a", canon.RuleDuplicateName},
		"too long":         {object(canon.StringValue(strings.Repeat("x", canon.DefaultMaxBytes))), "", canon.RuleSize},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := snapshot.Freeze(c.in)
			pointer, got := rule(t, err)
			if got != c.rule || (c.rule != canon.RuleDuplicateName && pointer != c.pointer) {
				t.Errorf("got %s at %s, want %s at %s", got, pointer, c.rule, c.pointer)
			}
			if !s.IsZero() {
				t.Error("a refused value was frozen")
			}
		})
	}
}

func TestViewIsFreshEachTime(t *testing.T) {
	t.Parallel()
	s := freeze(t, `{"list":[1,2.5,"x",null,true],"deep":{"n":9007199254740991}}`)
	want := map[string]any{
		"list": []any{int64(1), 2.5, "x", nil, true},
		"deep": map[string]any{"n": int64(9007199254740991)},
	}
	first := s.View()
	if diff := cmp.Diff(want, first); diff != "" {
		t.Fatal(diff)
	}
	first["list"].([]any)[0] = "changed"
	first["deep"].(map[string]any)["n"] = "changed"
	if diff := cmp.Diff(want, s.View()); diff != "" {
		t.Errorf("A01: a reader changed the snapshot:\n%s", diff)
	}
	bytes := s.JSON()
	bytes[0] = '['
	if s.Text()[0] != '{' {
		t.Error("a reader of JSON changed the snapshot")
	}
	if !canon.Equal(s.Value(), decode(t, s.Text())) {
		t.Error("Value differs from the frozen text")
	}
}

// What is read must come from the frozen bytes, even where whoever built the
// tree still writes to it.
func TestReadersSeeTheFrozenBytesOnly(t *testing.T) {
	t.Parallel()
	elems := []canon.Value{canon.StringValue("a")}
	members := []canon.Member{{Name: "list", Value: canon.ArrayValue(elems...)}, {Name: "n", Value: canon.IntValue(1)}}
	s, err := snapshot.Freeze(canon.ObjectValue(members...))
	if err != nil {
		t.Fatal(err)
	}
	elems[0], members[1].Value = canon.StringValue("b"), canon.IntValue(2)
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			if got, want := string(s.Value().Canonical()), s.Text(); got != want || want != `{"list":["a"],"n":1}` {
				t.Errorf("read %s, frozen %s", got, want)
			}
			s.View()["n"] = "changed"
		})
	}
	together.Wait()
	if diff := cmp.Diff(map[string]any{"list": []any{"a"}, "n": int64(1)}, s.View()); diff != "" {
		t.Error(diff)
	}
}

func TestZeroSnapshotHasNothing(t *testing.T) {
	t.Parallel()
	var s snapshot.Snapshot
	if !s.IsZero() || s.View() != nil || s.Value().Kind() != canon.Invalid || s.Text() != "" {
		t.Error("the zero snapshot is not empty")
	}
}

func TestThawAcceptsOnlyItsOwnForm(t *testing.T) {
	t.Parallel()
	if s, err := snapshot.Thaw(`{"a":1}`); err != nil || s.Text() != `{"a":1}` {
		t.Errorf("canonical text refused: %v", err)
	}
	for name, text := range map[string]string{
		"H05 other member order": `{"b":1,"a":2}`, "space": `{"a": 1}`, "escape": `{"a":"\u0041"}`, "number form": `{"a":1.0}`,
		"not an object": `[1]`, "empty": ``, "duplicate": `{"a":1,"a":1}`, "unsafe integer": `{"a":9007199254740993}`,
		"two values": `{}{}`,
	} {
		if s, err := snapshot.Thaw(text); err == nil || !s.IsZero() {
			t.Errorf("%s: thawed", name)
		}
	}
}

func TestLimitsCannotBeSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, l := range []snapshot.Limits{{MaxBytes: -1}, {MaxDepth: math.MaxInt}, {MaxNodes: -5}} {
		if _, err := l.Freeze(canon.ObjectValue()); err == nil {
			t.Errorf("%+v: frozen", l)
		}
		if _, err := l.FreezeGo(map[string]any{}); err == nil {
			t.Errorf("%+v: frozen from Go", l)
		}
	}
	text := `{"a":"` + strings.Repeat("x", canon.DefaultMaxBytes) + `"}`
	v, err := canon.Decode([]byte(text), canon.Options{MaxBytes: 2 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Limits{MaxBytes: 2 << 20}.Freeze(v)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := snapshot.Thaw(s.Text()); err != nil || back.Text() != s.Text() {
		t.Errorf("a snapshot within raised limits does not thaw: %v", err)
	}
}

func TestEveryGoTreeFreezesToOneText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tree := map[string]any{"root": drawTree(t, 3)}
		first, err := snapshot.FreezeGo(tree)
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		again, err := snapshot.FreezeGo(first.View())
		if err != nil || again.Text() != first.Text() {
			t.Fatalf("view freezes to %s, want %s (%v)", again.Text(), first.Text(), err)
		}
		thawed, err := snapshot.Thaw(first.Text())
		if err != nil || thawed.Text() != first.Text() || !canon.Equal(thawed.Value(), first.Value()) {
			t.Fatalf("thaw: %v", err)
		}
	})
}

func drawTree(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.String().Draw(t, "string")
	case 3:
		return rapid.Int64Range(-canon.MaxSafeInteger, canon.MaxSafeInteger).Draw(t, "int")
	case 4:
		return rapid.Float64Range(-1e6, 1e6).Filter(func(f float64) bool { return f != 0 }).Draw(t, "float")
	case 5:
		out := make([]any, rapid.IntRange(0, 3).Draw(t, "len"))
		for i := range out {
			out[i] = drawTree(t, depth-1)
		}
		return out
	default:
		out := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			out[rapid.String().Draw(t, "name")] = drawTree(t, depth-1)
		}
		return out
	}
}

func FuzzThaw(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,null,"x"]}`, `{"a":1e20}`, `[]`, "{\"\xff\":1}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := snapshot.Thaw(text)
		if err != nil {
			if !s.IsZero() {
				t.Fatal("refused and frozen")
			}
			return
		}
		if s.Text() != text || string(s.Value().Canonical()) != text {
			t.Fatal("thawed text is not its own canonical form")
		}
	})
}
