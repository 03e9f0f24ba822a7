package canon_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"

	"github.com/seed-de4804fb/verbatim/canon"
)

// ours are the rules by which this package refuses what the oracles accept:
// they round, clamp or drop a sign where we refuse, and allow deeper nesting
// and longer numbers.
var ours = map[string]bool{
	canon.RuleNegativeZero:    true,
	canon.RuleNumberOverflow:  true,
	canon.RuleNumberUnderflow: true,
	canon.RuleNumberLength:    true,
	canon.RuleDepth:           true,
	canon.RuleNodes:           true,
	canon.RuleSize:            true,
}

// compare checks raw against both oracles in their common domain.
func compare(t *testing.T, raw []byte) {
	t.Helper()
	v, err := canon.Decode(raw, canon.Options{})
	byJSONText := jsontext.Value(bytes.Clone(raw))
	errJSONText := byJSONText.Canonicalize()
	byJCS, errJCS := jcs.Transform(bytes.Clone(raw))
	switch {
	case err == nil && errJSONText != nil:
		t.Fatalf("%q: accepted; jsontext says %v", raw, errJSONText)
	case err == nil && errJCS != nil:
		t.Fatalf("%q: accepted; jcs says %v", raw, errJCS)
	case err != nil && !ours[rule(err)] && (errJSONText == nil || errJCS == nil):
		t.Fatalf("%q: refused with %v; jsontext says %v, jcs says %v", raw, err, errJSONText, errJCS)
	case err != nil:
		return
	}
	if got := v.Canonical(); !bytes.Equal(got, byJSONText) || !bytes.Equal(got, byJCS) {
		t.Fatalf("%q:\n   ours %s\njsontext %s\n    jcs %s", raw, got, byJSONText, byJCS)
	}
}

// seeds are texts to mutate: the published vectors where they are present and
// one of each construct.
func seeds(tb testing.TB) [][]byte {
	tb.Helper()
	out := [][]byte{
		[]byte(`{"b":[1,-2.5e3,0.1,1e21,true,false,null],"a":{"\u00e9\ud83d\ude00":"x\n\"\\\/"}}`),
		[]byte(`[0,"",{},[],{"":{"a":[[[1]]]}},5e-324,1.7976931348623157e308,123456789012345678]`),
		[]byte("{\"\u20ac\":\"\u20ac\",\"\\r\":1,\"\ufb33\":2,\"1\":3,\"\U0001F600\":4,\"\u0080\":5,\"\u00f6\":6}"),
		[]byte(" \t\r\n{ \"a\" : 1 , \"B\" : [ 1 , 2 ] } \n"),
	}
	root := filepath.Join("..", "..", "shared", "suites")
	for _, pattern := range []string{
		filepath.Join(root, "jcs", "testdata", "input", "*.json"),
		filepath.Join(root, "jsontestsuite", "test_parsing", "*.json"),
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			tb.Fatal(err)
		}
		for _, path := range paths {
			if raw, err := os.ReadFile(path); err == nil && len(raw) < 2000 {
				out = append(out, raw)
			}
		}
	}
	return out
}

// tokens are what a mutation inserts.
var tokens = []string{
	"{", "}", "[", "]", ":", ",", `"`, `\`, `\u`, `\ud83d`, `\ude00`, "0", "-", ".", "e", "E+", "1",
	"9007199254740993", "null", "true", " ", "\n", "\x00", "\x7f", "\xff", "\xc0\xaf", "\xed\xa0\x80",
	"\ufeff", "é", "\U0001F600", "\uffff", `"a":1,`, `"A":1,`, "1e400", "1e-400", "-0", "0.30000000000000004",
}

func mutate(rnd *rand.Rand, raw []byte) []byte {
	out := bytes.Clone(raw)
	for range 1 + rnd.IntN(3) {
		at := rnd.IntN(len(out) + 1)
		end := min(len(out), at+rnd.IntN(4))
		switch rnd.IntN(3) {
		case 0:
			out = append(out[:at:at], out[end:]...)
		case 1:
			out = append(append(out[:at:at], tokens[rnd.IntN(len(tokens))]...), out[end:]...)
		default:
			out = append(append(out[:at:at], out[at:end]...), out[at:]...)
		}
	}
	return out
}

// TestDecoderAndEncoderAgreeWithOtherImplementations is the differential test
// against jsontext and jcs (V05: only in the domain where they do not round).
func TestDecoderAndEncoderAgreeWithOtherImplementations(t *testing.T) {
	t.Parallel()
	all := seeds(t)
	for _, raw := range all {
		compare(t, raw)
	}
	rounds := 60_000
	if testing.Short() {
		rounds = 10_000
	}
	rnd := rand.New(rand.NewPCG(8785, 8259))
	for range rounds {
		compare(t, mutate(rnd, all[rnd.IntN(len(all))]))
	}
}

// TestLibrariesStillNeedOurRules shows why the oracles are not used alone: if
// this fails, a library has changed and the domain of compare may grow.
func TestLibrariesStillNeedOurRules(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{"[-0]": "[0]", "[9007199254740993]": "[9007199254740992]"} {
		got, err := jcs.Transform([]byte(raw))
		if err != nil || string(got) != want {
			t.Errorf("V05 %s: jcs writes %s, %v", raw, got, err)
		}
		if _, err := canon.Decode([]byte(raw), canon.Options{Exact: true}); err == nil {
			t.Errorf("V05 %s is accepted", raw)
		}
	}
}

// TestNumberLiteralsAgreeWithOtherImplementations goes through literals of
// every length, with and without point and exponent.
func TestNumberLiteralsAgreeWithOtherImplementations(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 754))
	for range 30_000 {
		compare(t, randomLiteral(rnd))
	}
}

func randomLiteral(rnd *rand.Rand) []byte {
	var out []byte
	if rnd.IntN(2) == 0 {
		out = append(out, '-')
	}
	digits := func(n int) {
		for range n {
			out = append(out, "0123456789000999"[rnd.IntN(16)])
		}
	}
	out = append(out, "0123456789"[rnd.IntN(10)])
	if out[len(out)-1] != '0' {
		digits(rnd.IntN(25))
	}
	if rnd.IntN(2) == 0 {
		out = append(out, '.')
		digits(1 + rnd.IntN(25))
	}
	if rnd.IntN(2) == 0 {
		out = append(out, "eE"[rnd.IntN(2)])
		if sign := rnd.IntN(3); sign > 0 {
			out = append(out, "+-"[sign-1])
		}
		digits(1 + rnd.IntN(3))
	}
	return out
}

// TestExactMeansWhatIsPrinted states the rule of Options.Exact with arithmetic
// of its own: a literal passes if it is the printed text as a decimal.
func TestExactMeansWhatIsPrinted(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(2, 754))
	accepted := 0
	for range 30_000 {
		lit := string(randomLiteral(rnd))
		rounded, err := canon.ParseNumber(lit, false)
		if err != nil {
			continue
		}
		exact := sameDecimal(t, lit, rounded.NumberText())
		safe := math.Abs(rounded.Float64()) <= canon.MaxSafeInteger ||
			rounded.Float64() != math.Trunc(rounded.Float64())
		_, err = canon.ParseNumber(lit, true)
		if (err == nil) != (exact && safe) {
			t.Fatalf("%s prints as %s: exact says %v", lit, rounded.NumberText(), err)
		}
		if err == nil {
			accepted++
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d literals were accepted", accepted)
	}
}
