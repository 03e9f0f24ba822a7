package snapshot_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Types that a JSON library would quietly call or unfold.
type (
	namedString string
	namedInt    int
	namedMap    map[string]any
	namedSlice  []any
	plainStruct struct{ A int }
	marshaler   struct{ called *bool }
	texter      struct{ called *bool }
)

func (m marshaler) MarshalJSON() ([]byte, error) { *m.called = true; return []byte(`1`), nil }
func (m texter) MarshalText() ([]byte, error)    { *m.called = true; return []byte(`x`), nil }

// bag is a map with methods, as header types are.
type bag map[string]any

func (b bag) MarshalJSON() ([]byte, error) { panic("called") }

func TestFreezeGoAccepts(t *testing.T) {
	t.Parallel()
	shared := make([]any, 0)
	for name, c := range map[string]struct {
		in   any
		want string
	}{
		"nil":                       {nil, `null`},
		"bool":                      {true, `true`},
		"string":                    {"é\u0000", `"é\u0000"`},
		"int kinds":                 {[]any{int(1), int8(-2), int16(3), int32(4), int64(5)}, `[1,-2,3,4,5]`},
		"uint kinds":                {[]any{uint(1), uint8(2), uint16(3), uint32(4), uint64(5)}, `[1,2,3,4,5]`},
		"largest integers":          {[]any{int64(canon.MaxSafeInteger), int64(-canon.MaxSafeInteger)}, `[9007199254740991,-9007199254740991]`},
		"float64":                   {[]any{0.1, 1e-7, 5e-324, float64(3)}, `[0.1,1e-7,5e-324,3]`},
		"empty map":                 {map[string]any{}, `{}`},
		"empty slices are no alias": {[]any{shared, shared[:0:0], []any{}, []any{}}, `[[],[],[],[]]`},
		"parts of one array that share no element": {func() any {
			whole := []any{1, 2, 3, 4}
			return []any{whole[:2:2], whole[2:]}
		}(), `[[1,2],[3,4]]`},
		"canon.Value": {canon.ArrayValue(canon.BoolValue(true)), `[true]`},
		"one canon.Value twice": {func() any {
			v := canon.ObjectValue(canon.Member{Name: "x", Value: canon.NullValue()})
			return []any{v, v}
		}(), `[{"x":null},{"x":null}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := snapshot.FreezeGo(map[string]any{"v": c.in})
			if err != nil {
				t.Fatal(err)
			}
			if want := `{"v":` + c.want + `}`; s.Text() != want {
				t.Errorf("got %s, want %s", s.Text(), want)
			}
		})
	}
}

func TestFreezeGoRefuses(t *testing.T) {
	t.Parallel()
	called := false
	cyclicMap := map[string]any{}
	cyclicMap["self"] = cyclicMap
	cyclicSlice := []any{nil}
	cyclicSlice[0] = cyclicSlice
	tail := []any{1, nil}
	tail[1] = tail[1:]
	pair := []any{1, 2, 3}
	m := map[string]any{"a": 1}
	one := 1
	for name, c := range map[string]struct {
		in            any
		pointer, rule string
	}{
		"named string":        {namedString("x"), "/v", snapshot.RuleGoType},
		"named int":           {namedInt(1), "/v", snapshot.RuleGoType},
		"named map":           {namedMap{}, "/v", snapshot.RuleGoType},
		"named slice":         {namedSlice{}, "/v", snapshot.RuleGoType},
		"map with methods":    {bag{}, "/v", snapshot.RuleGoType},
		"duration":            {time.Second, "/v", snapshot.RuleGoType},
		"struct":              {plainStruct{}, "/v", snapshot.RuleGoType},
		"pointer":             {&one, "/v", snapshot.RuleGoType},
		"pointer to a map":    {&m, "/v", snapshot.RuleGoType},
		"typed nil pointer":   {(*int)(nil), "/v", snapshot.RuleGoType},
		"typed nil map":       {map[string]any(nil), "/v", snapshot.RuleTypedNil},
		"typed nil slice":     {[]any(nil), "/v", snapshot.RuleTypedNil},
		"nil error":           {error(nil), "", ""},
		"float32":             {float32(1), "/v", snapshot.RuleGoType},
		"complex":             {complex(1, 0), "/v", snapshot.RuleGoType},
		"uintptr":             {uintptr(1), "/v", snapshot.RuleGoType},
		"json.Number":         {json.Number("1"), "/v", snapshot.RuleGoType},
		"json.RawMessage":     {json.RawMessage("1"), "/v", snapshot.RuleGoType},
		"[]string":            {[]string{"x"}, "/v", snapshot.RuleGoType},
		"map[string]string":   {map[string]string{}, "/v", snapshot.RuleGoType},
		"map with int keys":   {map[int]any{}, "/v", snapshot.RuleGoType},
		"map with any keys":   {map[any]any{}, "/v", snapshot.RuleGoType},
		"bytes":               {[]byte("x"), "/v", snapshot.RuleGoType},
		"array":               {[1]any{}, "/v", snapshot.RuleGoType},
		"channel":             {make(chan int), "/v", snapshot.RuleGoType},
		"function":            {func() {}, "/v", snapshot.RuleGoType},
		"time":                {time.Time{}, "/v", snapshot.RuleGoType},
		"error value":         {errors.New("x"), "/v", snapshot.RuleGoType},
		"Marshaler":           {marshaler{&called}, "/v", snapshot.RuleGoType},
		"TextMarshaler":       {texter{&called}, "/v", snapshot.RuleGoType},
		"NaN":                 {math.NaN(), "/v", canon.RuleNumberOverflow},
		"infinity":            {math.Inf(-1), "/v", canon.RuleNumberOverflow},
		"negative zero":       {math.Copysign(0, -1), "/v", canon.RuleNegativeZero},
		"2^53 as float":       {float64(1 << 53), "/v", canon.RuleUnsafeInteger},
		"1e300":               {1e300, "/v", canon.RuleUnsafeInteger},
		"E01 2^53 as int":     {int64(1 << 53), "/v", canon.RuleUnsafeInteger},
		"-2^63":               {int64(math.MinInt64), "/v", canon.RuleUnsafeInteger},
		"largest uint64":      {uint64(math.MaxUint64), "/v", canon.RuleUnsafeInteger},
		"bad UTF-8":           {[]any{"a", "\xed\xa0\x80"}, "/v/1", canon.RuleInvalidUTF8},
		"bad UTF-8 in a name": {map[string]any{"\xff": 1}, "/v/" + canon.UnknownName, canon.RuleInvalidUTF8},
		"map cycle":           {cyclicMap, "/v/self", snapshot.RuleReference},
		"slice cycle":         {cyclicSlice, "/v/0", snapshot.RuleReference},
		"cycle by a part":     {tail, "/v/1", snapshot.RuleReference},
		"one map twice":       {[]any{m, m}, "/v/1", snapshot.RuleReference},
		"one slice twice":     {[]any{pair, pair}, "/v/1", snapshot.RuleReference},
		"overlap":             {[]any{pair[:2], pair[1:]}, "/v/1", snapshot.RuleReference},
		"part of a slice":     {[]any{pair, pair[2:]}, "/v/1", snapshot.RuleReference},
		"invalid canon.Value": {canon.Value{}, "/v", canon.RuleInvalidValue},
		"pointer escapes":     {map[string]any{"a/b~c": []any{0, float32(0)}}, "/v/a~1b~0c/1", snapshot.RuleGoType},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := snapshot.FreezeGo(map[string]any{"v": c.in})
			if c.rule == "" { // an interface that holds nothing is nil
				if err != nil || s.Text() != `{"v":null}` {
					t.Fatalf("got %s, %v", s.Text(), err)
				}
				return
			}
			pointer, got := rule(t, err)
			if got != c.rule || pointer != c.pointer {
				t.Errorf("got %s at %s, want %s at %s", got, pointer, c.rule, c.pointer)
			}
			if !s.IsZero() {
				t.Error("a refused value was frozen")
			}
		})
	}
	if called {
		t.Error("a marshaler was called")
	}
}

func TestFreezeGoNeedsAnObject(t *testing.T) {
	t.Parallel()
	for _, v := range []any{nil, true, "x", 1, 1.5, []any{}, canon.NullValue(), canon.Value{}} {
		_, err := snapshot.FreezeGo(v)
		if _, got := rule(t, err); got != snapshot.RuleObject {
			t.Errorf("%T: got %s", v, got)
		}
	}
	_, err := snapshot.FreezeGo(map[string]any(nil))
	if _, got := rule(t, err); got != snapshot.RuleTypedNil {
		t.Errorf("nil map: got %s", got)
	}
	if s, err := snapshot.FreezeGo(canon.ObjectValue()); err != nil || s.Text() != `{}` {
		t.Errorf("canon object: %v", err)
	}
}

func TestFreezeGoListsAllFaultsWithoutValues(t *testing.T) {
	t.Parallel()
	_, err := snapshot.FreezeGo(map[string]any{"b": float32(1), "a": []string{"secret-value"}, "c": math.NaN()})
	var vs canon.Violations
	if !errors.As(err, &vs) {
		t.Fatal(err)
	}
	var got []string
	for _, v := range vs {
		got = append(got, v.Pointer+" "+v.Rule)
	}
	if diff := cmp.Diff([]string{"/a go_type", "/b go_type", "/c number_overflow"}, got); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(err.Error(), "secret-value") {
		t.Error("the refusal prints a value")
	}
	many := make([]any, 100)
	for i := range many {
		many[i] = float32(i)
	}
	_, err = snapshot.FreezeGo(map[string]any{"v": many})
	if errors.As(err, &vs) && len(vs) != canon.MaxViolations {
		t.Errorf("%d violations", len(vs))
	}
}

func TestFreezeGoIsBounded(t *testing.T) {
	t.Parallel()
	var deep any = "x"
	for range 100_000 {
		deep = []any{deep}
	}
	_, err := snapshot.FreezeGo(map[string]any{"v": deep})
	if _, got := rule(t, err); got != canon.RuleDepth {
		t.Errorf("deep tree: %s", got)
	}
	_, err = snapshot.FreezeGo(map[string]any{"v": make([]any, canon.DefaultMaxNodes+1)})
	if _, got := rule(t, err); got != canon.RuleNodes {
		t.Errorf("wide tree: %s", got)
	}
}

func TestLimitsAreInclusive(t *testing.T) {
	t.Parallel()
	nested := func(depth int) map[string]any {
		root := map[string]any{}
		for at := root; depth > 1; depth-- {
			next := map[string]any{}
			at["a"], at = next, next
		}
		return root
	}
	wide := func(nodes int) map[string]any { return map[string]any{"v": make([]any, nodes-2)} } // the root and the list are two
	long := func(bytes int) map[string]any {
		return map[string]any{"v": strings.Repeat("x", bytes-len(`{"v":""}`))}
	}
	for name, c := range map[string]struct {
		good, bad map[string]any
		rule      string
	}{
		"depth":   {nested(canon.DefaultMaxDepth), nested(canon.DefaultMaxDepth + 1), canon.RuleDepth},
		"nodes":   {wide(canon.DefaultMaxNodes), wide(canon.DefaultMaxNodes + 1), canon.RuleNodes},
		"size":    {long(canon.DefaultMaxBytes), long(canon.DefaultMaxBytes + 1), canon.RuleSize},
		"integer": {map[string]any{"v": float64(canon.MaxSafeInteger)}, map[string]any{"v": float64(canon.MaxSafeInteger + 1)}, canon.RuleUnsafeInteger},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := snapshot.FreezeGo(c.good)
			if err != nil {
				t.Fatalf("at the limit: %v", err)
			}
			if again, err := snapshot.Freeze(s.Value()); err != nil || again.Text() != s.Text() {
				t.Errorf("at the limit, from a tree: %v", err)
			}
			_, err = snapshot.FreezeGo(c.bad)
			if _, got := rule(t, err); got != c.rule {
				t.Errorf("past the limit: %s", got)
			}
		})
	}
}

func TestFreezeGoStopsAtALimit(t *testing.T) {
	t.Parallel()
	_, err := snapshot.Limits{MaxNodes: 3}.FreezeGo(map[string]any{"v": []any{1, 2, float32(3), float32(4)}})
	var vs canon.Violations
	if !errors.As(err, &vs) || len(vs) != 1 || vs[0].Rule != canon.RuleNodes {
		t.Errorf("got %v", err)
	}
}

func TestFreezeGoDetaches(t *testing.T) {
	t.Parallel()
	list := []any{"before"}
	in := map[string]any{"list": list}
	s, err := snapshot.FreezeGo(in)
	if err != nil {
		t.Fatal(err)
	}
	list[0], in["more"] = "after", true
	if s.Text() != `{"list":["before"]}` {
		t.Errorf("the caller changed the snapshot: %s", s.Text())
	}
}
