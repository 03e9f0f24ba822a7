package canon_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
)

// hostile are texts of about n bytes that have made some decoder quadratic.
func hostile(n int) map[string]string {
	var flat, twins, nested strings.Builder
	for i := range n / 10 {
		fmt.Fprintf(&flat, `"k%05d":0,`, i)
		fmt.Fprintf(&twins, `"K%05dſ":0,`, i)
	}
	for range n / 100 {
		nested.WriteString(`{"` + strings.Repeat("a", 20) + `":[`)
	}
	long := strings.Repeat("x", n/20)
	var shared strings.Builder
	for i := range 20 {
		fmt.Fprintf(&shared, `"%s%d":0,`, long, i)
	}
	return map[string]string{
		"many names":           "{" + flat.String() + `"":0}`,
		"many names that fold": "{" + twins.String() + `"":0}`,
		"long names alike":     "{" + shared.String() + `"":0}`,
		"open containers":      nested.String(),
		"open arrays":          strings.Repeat("[", n),
		"small objects":        "[" + strings.Repeat(`{"a":0,"b":1},`, n/14) + "0]",
		"escapes":              `"` + strings.Repeat(`\u00e9`, n/6) + `"`,
		"open escapes":         `["` + strings.Repeat(`\ud83d\ude00`, n/12),
		"a long number":        "[0." + strings.Repeat("1", n) + "]",
		"a long integer":       strings.Repeat("9", n),
		"a long exponent":      "1e" + strings.Repeat("9", n),
		"long numbers":         "[" + strings.Repeat("0."+strings.Repeat("7", 500)+",", n/503) + "0]",
		"huge exponents":       "[" + strings.Repeat("0e10000000,", n/11) + "0]",
		"white space":          strings.Repeat(" ", n) + "0",
		"bad bytes":            `"` + strings.Repeat("a", n) + "\xff\"",
	}
}

// TestHostileTextCostsLinearWork counts: when the text grows eightfold, names
// looked at and bytes allocated may do so too, and not more.
func TestHostileTextCostsLinearWork(t *testing.T) {
	opt := canon.Options{FoldTwins: true, MaxNodes: canon.CeilingNodes}
	const n, factor = 16 << 10, 8
	small, large := hostile(n), hostile(n*factor)
	for name := range small {
		a, b := measure(t, small[name], opt), measure(t, large[name], opt)
		if b.names > a.names*factor*3/2+100 {
			t.Errorf("%s: %d names looked at, then %d", name, a.names, b.names)
		}
		if b.stacked > a.stacked*factor*2+100 {
			t.Errorf("%s: %d values on the stacks, then %d", name, a.stacked, b.stacked)
		}
		if b.bytes > a.bytes*factor*2+32<<10 {
			t.Errorf("%s: %d bytes allocated, then %d", name, a.bytes, b.bytes)
		}
		if limit := 100*len(large[name]) + 64<<10; b.bytes > limit {
			t.Errorf("%s: %d bytes allocated for a text of %d", name, b.bytes, len(large[name]))
		}
	}
}

// TestHostileTextCostsLinearWorkWithoutATree is the same for the [canon.Decoder]:
// names in the worst order are sorted, and its memory stays in proportion.
func TestHostileTextCostsLinearWorkWithoutATree(t *testing.T) {
	t.Parallel()
	opt := canon.Options{FoldTwins: true, MaxNodes: canon.CeilingNodes}
	const n, factor = 16 << 10, 8
	small, large := hostile(n), hostile(n*factor)
	for size, texts := range map[int]map[string]string{n: small, n * factor: large} {
		var names, alike, nested strings.Builder
		for i := range size / 10 {
			fmt.Fprintf(&names, `"K%05d":0,`, i*7919%99_991)
		}
		for i := range size / 200 {
			fmt.Fprintf(&alike, `"%s%05d":0,`, strings.Repeat("x", 190), i*7919%99_991)
		}
		for range size / 1200 {
			nested.WriteString(strings.Repeat(`{"b":0,"a":`, 60) + "0" + strings.Repeat("}", 60) + ",")
		}
		texts["names without order"] = "{" + names.String() + `"":0}`
		texts["names alike without order"] = "{" + alike.String() + `"":0}`
		texts["nested without order"] = "[" + nested.String() + "0]"
	}
	for name := range small {
		names, held := canon.TextWork([]byte(small[name]), opt)
		more, most := canon.TextWork([]byte(large[name]), opt)
		// Sorting looks at a long name once for every eight bytes.
		if more > names*factor*3/2+len(large[name])/4 {
			t.Errorf("%s: %d names looked at, then %d", name, names, more)
		}
		if most > held*factor*2+32<<10 || most > 16*len(large[name])+64<<10 {
			t.Errorf("%s: %d bytes held, then %d for a text of %d", name, held, most, len(large[name]))
		}
	}
}

// TestTreesAreNotChangedByLaterDecodes: what is reused is never a part of a
// tree that was returned.
func TestTreesAreNotChangedByLaterDecodes(t *testing.T) {
	t.Parallel()
	var forms [][]byte
	var trees []canon.Value
	decode := func(raw []byte) {
		v, err := canon.Decode(raw, canon.Options{MaxNodes: canon.CeilingNodes})
		if err == nil {
			trees, forms = append(trees, v), append(forms, v.Canonical())
		}
	}
	for range 3 {
		for _, raw := range append(seeds(t), ordered()...) {
			decode(raw)
		}
		for _, raw := range hostile(8 << 10) {
			decode([]byte(raw))
			decode([]byte(`{"a":[` + raw + `],"b":` + raw + `}`))
		}
	}
	for i, v := range trees {
		if diff := cmp.Diff(string(forms[i]), string(v.Canonical())); diff != "" {
			t.Fatal(diff)
		}
		if err := canon.CheckWithin(v, canon.Options{MaxNodes: canon.CeilingNodes}); err != nil {
			t.Fatal(err)
		}
	}
}

type cost struct{ names, stacked, bytes int }

func measure(t *testing.T, raw string, opt canon.Options) cost {
	t.Helper()
	src := []byte(raw)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	names, stacked := canon.Work(src, opt)
	_, _ = canon.Decode(src, opt)
	runtime.ReadMemStats(&after)
	return cost{names, stacked, int(after.TotalAlloc - before.TotalAlloc)}
}

func TestLimitsHoldToTheByte(t *testing.T) {
	t.Parallel()
	array := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	list := func(n int) string { return "[" + strings.Repeat("0,", n-2) + "0]" }
	names := func(n int) string {
		var b strings.Builder
		for i := range n - 1 {
			fmt.Fprintf(&b, `"%d":0,`, i)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	text := func(n int) string { return `"` + strings.Repeat("a", n-2) + `"` }
	number := func(n int) string { return "0." + strings.Repeat("0", n-3) + "1" }
	for _, tc := range []struct {
		name string
		raw  string
		opt  canon.Options
		rule string
	}{
		{"default depth", array(64), canon.Options{}, ""},
		{"one deeper", array(65), canon.Options{}, canon.RuleDepth},
		{"own depth", array(3), canon.Options{MaxDepth: 2}, canon.RuleDepth},
		{"highest depth", array(1000), canon.Options{MaxDepth: canon.CeilingDepth}, ""},
		{"above it", array(1001), canon.Options{MaxDepth: canon.CeilingDepth}, canon.RuleDepth},
		{"siblings are not nested", "[" + strings.Repeat("[[]],{},", 40) + "[]]", canon.Options{MaxDepth: 3}, ""},
		{"default nodes", list(100_000), canon.Options{}, ""},
		{"one more value", list(100_001), canon.Options{}, canon.RuleNodes},
		{"own nodes, members", names(10), canon.Options{MaxNodes: 10}, ""},
		{"one more member", names(11), canon.Options{MaxNodes: 10}, canon.RuleNodes},
		{"default size", text(1 << 20), canon.Options{}, ""},
		{"one byte more", text(1<<20 + 1), canon.Options{}, canon.RuleSize},
		{"size counts white space", "  0", canon.Options{MaxBytes: 2}, canon.RuleSize},
		{"longest number", number(300), canon.Options{}, ""},
		{"longest number with zeros", "0e" + strings.Repeat("0", canon.MaxNumberBytes-2), canon.Options{}, ""},
		{"one digit more", "0e" + strings.Repeat("0", canon.MaxNumberBytes-1), canon.Options{}, canon.RuleNumberLength},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := canon.Decode([]byte(tc.raw), tc.opt)
			if diff := cmp.Diff(tc.rule, rule(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNoOptionSwitchesALimitOff(t *testing.T) {
	t.Parallel()
	for _, opt := range []canon.Options{
		{MaxBytes: -1}, {MaxDepth: -1}, {MaxNodes: -1},
		{MaxBytes: canon.CeilingBytes + 1}, {MaxDepth: canon.CeilingDepth + 1}, {MaxNodes: canon.CeilingNodes + 1},
	} {
		if v, err := canon.Decode([]byte("0"), opt); !errors.Is(err, canon.ErrOptions) || v.Kind() != canon.Invalid {
			t.Errorf("%+v: got %v, %v", opt, v.Kind(), err)
		}
		if err := canon.CheckWithin(canon.NullValue(), opt); !errors.Is(err, canon.ErrOptions) {
			t.Errorf("%+v: CheckWithin says %v", opt, err)
		}
	}
}

// TestFoldingIsThatOfUnicode holds the folding of names against the standard
// library for every character that has a case.
func TestFoldingIsThatOfUnicode(t *testing.T) {
	t.Parallel()
	for r := range unicode.MaxRune {
		next := unicode.SimpleFold(r)
		if next == r {
			continue
		}
		a, b := string(r), string(next)
		if canon.AppendFold(a) != canon.AppendFold(b) {
			t.Errorf("%U and %U are equal under case folding and do not fold alike", r, next)
		}
	}
}

// TestTwinsAreFoundInLargeObjectsToo covers both ways of looking.
func TestTwinsAreFoundInLargeObjectsToo(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 15, 16, 17, 18, 100} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"nAmeſ%d":{"x":[{}]},`, i)
		}
		for last, want := range map[string]string{
			`"nAmeſ0":1`: canon.RuleDuplicateName,
			`"NAMES0":1`: canon.RuleCaseTwin,
			`"other":1`:  "",
			`"":1`:       "",
		} {
			_, err := canon.Decode([]byte("{"+b.String()+last+"}"), strict)
			if diff := cmp.Diff(want, rule(err)); diff != "" {
				t.Errorf("%s after %d names: %s", last, n, diff)
			}
		}
	}
}
