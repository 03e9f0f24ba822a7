package canon_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
)

func decoded(t *testing.T, raw string) canon.Value {
	t.Helper()
	v, err := canon.Decode([]byte(raw), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDifferencePointsAtTheFirstPlace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b, pointer string
		same          bool
	}{
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`, "", true},
		{`{"a":1,"b":2}`, `{"b":3,"a":4}`, "/b", false},
		{`{"a":1}`, `{"a":1,"x/y":2}`, "/x~1y", false},
		{`{"a":1,"gone":2}`, `{"a":1}`, "/gone", false},
		{`{"a":[{"b":1},{"b":2}]}`, `{"a":[{"b":1},{"b":3}]}`, "/a/1/b", false},
		{`[1,2]`, `[1]`, "/1", false},
		{`[1]`, `[1,2]`, "/1", false},
		{`1`, `"1"`, "", false},
		{`true`, `false`, "", false},
		{`[]`, `{}`, "", false},
	} {
		pointer, same := canon.Difference(decoded(t, tc.a), decoded(t, tc.b))
		if diff := cmp.Diff([]any{tc.pointer, tc.same}, []any{pointer, same}); diff != "" {
			t.Errorf("%s, %s: %s", tc.a, tc.b, diff)
		}
	}
}

func TestDifferenceAgreesWithEqual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v, w := values().Draw(t, "v"), values().Draw(t, "w")
		if _, same := canon.Difference(v, w); same != canon.Equal(v, w) {
			t.Fatalf("%s, %s: Difference says %v", v.Canonical(), w.Canonical(), same)
		}
		if pointer, same := canon.Difference(v, shuffled(t, v)); !same || pointer != "" {
			t.Fatalf("%s differs from itself at %s", v.Canonical(), pointer)
		}
	})
}
