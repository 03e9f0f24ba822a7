package canon_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
)

// everyRule are the options under which the two readers are compared.
var everyRule = []canon.Options{
	{},
	{Exact: true},
	{FoldTwins: true},
	{Exact: true, FoldTwins: true},
	{Exact: true, FoldTwins: true, MaxBytes: 300, MaxDepth: 3, MaxNodes: 12},
	{Known: func(pointer string) bool { return len(pointer)%2 == 0 }},
}

// sameAsTree holds Canonicalize against the way through the tree: the same
// bytes, or the same error.
func sameAsTree(tb testing.TB, d *canon.Decoder, raw []byte) {
	tb.Helper()
	for _, opt := range everyRule {
		v, wantErr := canon.Decode(raw, opt)
		src := bytes.Clone(raw)
		got, err := d.Canonicalize([]byte("before"), src, opt)
		if !bytes.Equal(src, raw) {
			tb.Fatalf("%q: the text was changed to %q", raw, src)
		}
		if wantErr != nil {
			if got != nil || err == nil {
				tb.Fatalf("%q: the tree is refused with %v, the text is not: %s", raw, wantErr, got)
			}
			if diff := cmp.Diff(wantErr.Error(), err.Error()); diff != "" {
				tb.Fatalf("%q: %s", raw, diff)
			}
			continue
		}
		if want := v.AppendTo([]byte("before")); err != nil || !bytes.Equal(want, got) {
			tb.Fatalf("%q:\n     tree %s\nthe text %s, %v", raw, want, got, err)
		}
	}
}

// ordered are texts whose members come in every order, with names of every
// length and script.
func ordered() [][]byte {
	var many, twins, wide, zeros, alike strings.Builder
	for i := range 200 {
		fmt.Fprintf(&zeros, `"%s":0,`, strings.Repeat(`\u0000`, i*37%200+1))
		fmt.Fprintf(&alike, `"sixteen bytes at %d \uff5e%c":0,`, i*37%200/40, rune(0x10000-150+i*37%200))
		fmt.Fprintf(&many, `"%c%d":{"b":%d,"a":[{"z":0,"y":1}]},`, 'a'+rune(i*7%26), i, i)
		fmt.Fprintf(&twins, `"Name%d":0,`, i)
		fmt.Fprintf(&wide, `"é%d":0,`, i)
	}
	long := strings.Repeat("long", 100)
	return [][]byte{
		[]byte(`{"b":{"d":1,"c":2},"a":{"f":3,"e":{"h":4,"g":5}}}`),
		[]byte(`{"a":{"d":1,"c":2},"b":[{"f":3,"e":4},{"e":1,"f":2},{"f":3,"e":4}],"c":{}}`),
		[]byte(`[{"b":1,"a":2},{"a":1,"b":{"d":1,"c":2}},{"z":[{"y":[{"x":0,"w":1}],"x":0}],"a":1}]`),
		[]byte(`{"a":1,"a\u0000":2,"a\u0000\u0000":3,"":4}`),
		[]byte(`{"\"":1,"!":2,"#":3,"\\":4,"[":5,"]":6,"\n":7,"\u0001":8,"\b":9}`),
		[]byte(`{"\u0061":1,"b":2,"\u0041b":3}`),
		[]byte(`{"a":1,"\u0061":2}`),
		[]byte(`{"b":1,"a":2,"b":3}`),
		[]byte(`{"\ufb33":1,"\ud83d\ude00":2,"\ue000":3,"aaaaaaa\uffff":4,"aaaaaaa\ud800\udc00":5,"aaaaaaaa\uffff":6,"aaaaaaaa\ud800\udc00":7}`),
		[]byte(`{"userId":1,"userID":2}`),
		[]byte(`{"k":1,"\u212a":2}`),
		[]byte(`{"ſ":1,"S":2}`),
		[]byte(`{"` + long + `b":1,"` + long + `a":2,"` + long + `":3}`),
		[]byte("{" + many.String() + `"":0}`),
		[]byte("{" + many.String() + `"a0":0}`),
		[]byte("{" + twins.String() + `"name":0}`),
		[]byte("{" + twins.String() + `"nAME7":0}`),
		[]byte("{" + wide.String() + `"É7":0}`),
		[]byte("{" + zeros.String() + `"":0}`),
		[]byte("{" + zeros.String() + `"\u0000\u0000":0}`),
		[]byte("{" + alike.String() + `"sixteen bytes":0}`),
		[]byte("{" + alike.String() + `"sixteen bytes at 0 \uff5e\uffee":0}`),
		[]byte("{" + wide.String() + `"É":0}`),
		[]byte(`[1E20,1e-7,0.1,-0.5,0.05,10.0,1.50,100,-1,0,0.0,12345678901234567890,1.7976931348623157e308]`),
		[]byte(`[1e20,1E20,1e19,"behind numbers that grow",1e20,1e20,1e20,1e20,1e20,1e20,1e20,1e20,1e20,1e20,"end"]`),
		[]byte(`"` + strings.Repeat(`\u00e9\n\ud83d\ude00x`, 50) + `"`),
		[]byte(strings.Repeat("[", 64) + strings.Repeat("]", 64)),
		[]byte(strings.Repeat(`{"b":0,"a":`, 64) + "0" + strings.Repeat("}", 64)),
	}
}

func TestTextAndTreeAreReadAlike(t *testing.T) {
	t.Parallel()
	var d canon.Decoder
	all := append(seeds(t), ordered()...)
	for _, raw := range all {
		sameAsTree(t, &d, raw)
	}
	rounds := 6_000
	if testing.Short() {
		rounds = 2_000
	}
	rnd := rand.New(rand.NewPCG(8785, 7493))
	for range rounds {
		sameAsTree(t, &d, mutate(rnd, all[rnd.IntN(len(all))]))
	}
	for range rounds {
		sameAsTree(t, &d, randomLiteral(rnd))
	}
}

func TestTextAndTreeAreReadAlikeAtRandom(t *testing.T) {
	t.Parallel()
	var d canon.Decoder
	rapid.Check(t, func(t *rapid.T) {
		want := values().Draw(t, "value").Canonical()
		got, err := d.Canonicalize(nil, want, strict)
		if _, treeErr := canon.Decode(want, strict); (err == nil) != (treeErr == nil) {
			t.Fatalf("%s: the tree says %v, the text %v", want, treeErr, err)
		}
		if err == nil && !bytes.Equal(want, got) {
			t.Fatalf("%s became %s", want, got)
		}
	})
}

// FuzzCanonicalize holds the way without a tree against the one with it.
func FuzzCanonicalize(f *testing.F) {
	for _, s := range append(seeds(f), ordered()...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var d canon.Decoder
		sameAsTree(t, &d, raw)
	})
}

func TestCanonicalizeRefusesOptionsOutOfRange(t *testing.T) {
	t.Parallel()
	var d canon.Decoder
	if got, err := d.Canonicalize(nil, []byte("0"), canon.Options{MaxDepth: -1}); !errors.Is(err, canon.ErrOptions) || got != nil {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestDecoderStartsAfreshAfterARefusal: nothing of a refused text is left.
func TestDecoderStartsAfreshAfterARefusal(t *testing.T) {
	t.Parallel()
	good := []byte(`{"b":{"d":0,"c":[{}]},"a":"x"}`)
	var d canon.Decoder
	for _, bad := range ordered() {
		for cut := range min(len(bad), 200) {
			_, _ = d.Canonicalize(nil, bad[:cut], strict)
		}
		got, err := d.Canonicalize(nil, good, strict)
		if diff := cmp.Diff(`{"a":"x","b":{"c":[{}],"d":0}}`, string(got)); diff != "" || err != nil {
			t.Fatalf("after %.40s: %v %s", bad, err, diff)
		}
	}
}

// TestCanonicalizeAllocatesNothing once it has seen a text like it.
func TestCanonicalizeAllocatesNothing(t *testing.T) {
	var d canon.Decoder
	var buf []byte
	for name, raw := range payloads() {
		allocs := testing.AllocsPerRun(5, func() {
			var err error
			if buf, err = d.Canonicalize(buf[:0], raw, strict); err != nil {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}
