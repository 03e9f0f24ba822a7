package audit_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/audit"
)

// TestSharedFormsExpandToTheLeaf: records that are kept together have the leaves
// that each of them has alone, however many words there are.
func TestSharedFormsExpandToTheLeaf(t *testing.T) {
	t.Parallel()
	words := new(audit.Words) // one for all rows: its memory is used again
	rapid.Check(t, func(t *rapid.T) {
		words.Empty()
		var want, forms [][]byte
		for _, r := range rapid.SliceOfN(anyRecord(), 1, 12).Draw(t, "records") {
			for range 2 {
				leaf, form, err := r.Forms(nil, words)
				if _, alone := audit.AnyLeaf(r); (err == nil) != (alone == nil) {
					t.Fatalf("%v, want %v", err, alone)
				}
				if err != nil {
					continue
				}
				look := audit.LookFor(r.Action, r.Event)
				if !look.May(form) || len(form) > len(leaf) {
					t.Fatalf("%q is not found by its action and event, or longer than %d", form, len(leaf))
				}
				want, forms = append(want, leaf), append(forms, form)
			}
		}
		kept := slices.Clone(words.Bytes()) // what was added later changes nothing before
		for i, form := range forms {
			if diff := cmp.Diff(string(want[i]), string(audit.Expand(nil, form, kept))); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// TestSharedFormIsFixed: what stores hold must be read by every later version.
func TestSharedFormIsFixed(t *testing.T) {
	t.Parallel()
	r, words := record(), new(audit.Words)
	r.Facts = map[string]string{"definition": strings.Repeat("bb", 32), "fence": "7", "leaseUntil": strings.Repeat("é", 100)}
	r.By = r.Agent
	leaf, form, err := r.Forms(nil, words)
	if err != nil {
		t.Fatal(err)
	}
	agent := "06" + hex.EncodeToString([]byte("helper"))
	wantWords := agent + "82" + "1898b5d9b422cb40" + "81" + strings.Repeat("bb", 32) + "8000c8" + strings.Repeat("c3a9", 100) +
		"04" + hex.EncodeToString([]byte("acme")) + "08" + hex.EncodeToString([]byte("bank.pay"))
	want := "01" + "0205" + hex.EncodeToString([]byte("act_1")) + "038300" + "048301" + "058300" + "06c3" +
		"07" + "1081" + strings.Repeat("aa", 32) + "00" + "089a" +
		"09" + "298302" + "2001" + hex.EncodeToString([]byte("7")) + "268303" + "00" +
		"0abc" + "0b05" + hex.EncodeToString([]byte("rec_1")) + "0c07" + "0d8304" + "0ebd" + "0f8305"
	if diff := cmp.Diff([]string{want, wantWords}, []string{hex.EncodeToString(form), hex.EncodeToString(words.Bytes())}); diff != "" {
		t.Error(diff)
	}
	f, err1 := hex.DecodeString(want)
	w, err2 := hex.DecodeString(wantWords)
	if diff := cmp.Diff(string(leaf), string(audit.Expand(nil, f, w))); diff != "" || err1 != nil || err2 != nil {
		t.Error(diff, err1, err2)
	}
	for n := range len(w) {
		if got := audit.Expand(nil, f, w[:n]); string(got) != string(f) {
			t.Errorf("with %d bytes of %d words it expands to %q", n, len(w), got)
		}
	}
}

// TestWordsAreFew: what differs from record to record does not fill a row with
// words that nobody shares, and finding them stays cheap.
func TestWordsAreFew(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ room, most int }{{4, 32 * 10}, {200, 4 << 10}} {
		words := new(audit.Words)
		for i := range 200 {
			r := record()
			r.Agent = fmt.Sprintf("%0*d", tt.room, i)
			leaf, form, err := r.Forms(nil, words)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(leaf), string(audit.Expand(nil, form, words.Bytes()))); diff != "" {
				t.Fatal(diff)
			}
		}
		if n := len(words.Bytes()); n == 0 || n > tt.most {
			t.Errorf("%d bytes of words that have %d each, at most %d are wanted", n, tt.room, tt.most)
		}
		if words.Empty(); words.Bytes() != nil {
			t.Errorf("%d bytes of words that were forgotten", len(words.Bytes()))
		}
	}
}
