package audit_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// anyRecord draws records that somebody writes, and others that nobody would.
func anyRecord() *rapid.Generator[audit.Record] {
	digest := rapid.Custom(func(t *rapid.T) string {
		return hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
	})
	text := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.StringMatching(`[a-z"\\<>&/\x00-\x1f]{0,200}`), digest,
		rapid.SampledFrom(audit.Values()), rapid.SampledFrom([]string{"\xff", "é", "\u2028", strings.Repeat("A", 64), strings.Repeat("g", 64),
			strings.Repeat("é", 32), strings.Repeat("a", 127), strings.Repeat("a", 128), strings.Repeat(`"`, 64)}), rapid.StringN(0, 6000, 6000))
	name := rapid.OneOf(rapid.SampledFrom(audit.Names()), rapid.String(), rapid.StringMatching(`[a-z"]{0,300}`),
		rapid.SampledFrom([]string{"é", "\ue000", "\U0001F600", "\xff", "", "seq", "facts", "v"}))
	texts := rapid.MapOfN(name, text, 0, 8)
	return rapid.Custom(func(t *rapid.T) audit.Record {
		return audit.Record{Seq: rapid.OneOf(rapid.Int64Range(0, 1<<20), rapid.Int64()).Draw(t, "seq"), ID: text.Draw(t, "id"), Tenant: text.Draw(t, "tenant"),
			At: rapid.OneOf(rapid.Custom(func(t *rapid.T) time.Time {
				return time.Unix(rapid.Int64Range(-1<<33, 1<<35).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
			}), rapid.Just(time.Time{}), rapid.Just(time.Unix(0, 0))).Draw(t, "at"),
			Event: rapid.SampledFrom(audit.Events()).Draw(t, "event"), Action: text.Draw(t, "action"), Tool: text.Draw(t, "tool"),
			Agent: text.Draw(t, "agent"), By: text.Draw(t, "by"), From: text.Draw(t, "from"), To: text.Draw(t, "to"), Code: text.Draw(t, "code"),
			Facts: texts.Draw(t, "facts"), Commitments: texts.Draw(t, "commitments")}
	})
}

// TestWhatIsKeptExpandsToTheLeaf holds both forms of a record to the writer that
// goes through a tree of values.
func TestWhatIsKeptExpandsToTheLeaf(t *testing.T) {
	t.Parallel()
	before, room := []byte("before"), []byte(nil)
	rapid.Check(t, func(t *rapid.T) {
		r := anyRecord().Draw(t, "record")
		want, wantErr := audit.AnyLeaf(r)
		leaf, kept, err := r.Forms(before, nil)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, want %v", err, wantErr)
		}
		if err != nil {
			return
		}
		if string(leaf) != string(want) {
			t.Fatal(cmp.Diff(string(want), string(leaf)))
		}
		form, ok := bytes.CutPrefix(kept, before)
		if !ok || len(form) > len(leaf) {
			t.Fatalf("%d bytes are kept of %d: %q", len(form), len(leaf), kept)
		}
		if room = audit.Expand(room, form, nil); string(room) != string(want) {
			t.Fatal(cmp.Diff(string(want), string(room)))
		}
		look := audit.LookFor(r.Action, r.Event)
		for _, form := range [][]byte{form, leaf} {
			if !look.May(form) {
				t.Fatalf("%q is not found by its action and event", form)
			}
			if audit.LookFor(r.Action+"x", "").May(form) {
				t.Fatalf("%q is found by another action", form)
			}
		}
	})
}

func TestLookTellsEventsApart(t *testing.T) {
	t.Parallel()
	for _, event := range audit.Events() {
		r := record()
		r.Event = event
		leaf, form, err := r.Forms(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range audit.Events() {
			look := audit.LookFor("", other)
			if want := other == event; look.May(leaf) != want || look.May(form) != want {
				t.Errorf("looking for %s, %s is found: %t as a leaf, %t in the short form", other, event, look.May(leaf), look.May(form))
			}
		}
	}
}

// TestShortFormIsFixed: what stores hold must be read by every later version, so
// places of words never change, and what a form says neither.
func TestShortFormIsFixed(t *testing.T) {
	t.Parallel()
	r := record()
	r.Facts["other"] = strings.Repeat("é", 100)
	leaf, form, err := r.Forms(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "01" + "0205" + hex.EncodeToString([]byte("act_1")) + "0306" + hex.EncodeToString([]byte("helper")) +
		"0482" + "1898b5d9b422cb40" + "0508" + hex.EncodeToString([]byte("user:pat")) + "06c3" +
		"07" + "1081" + strings.Repeat("aa", 32) + "00" + "089a" +
		"09" + "1fcb" + "20cb" + "0105" + hex.EncodeToString([]byte("other")) + "8000c8" + strings.Repeat("c3a9", 100) + "00" +
		"0abc" + "0b05" + hex.EncodeToString([]byte("rec_1")) + "0c07" + "0d04" + hex.EncodeToString([]byte("acme")) +
		"0ebd" + "0f08" + hex.EncodeToString([]byte("bank.pay"))
	if diff := cmp.Diff(want, hex.EncodeToString(form)); diff != "" {
		t.Error(diff)
	}
	b, err := hex.DecodeString(want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(leaf), string(audit.Expand(nil, b, nil))); diff != "" {
		t.Error(diff)
	}
	for name, list := range map[string]struct {
		words  []string
		first  int
		digest string
		most   int
	}{
		"names":  {audit.Names(), 86, "e531cfc0f42261985cd089159c0f7a7c73b22237ec63e8a6e83239b88711e6e9", 255},
		"values": {audit.Values(), 79, "5e32385328096962e07364d6a5e47d19049de95985a7e17c779c0370e7dd283e", 116},
	} {
		if len(list.words) < list.first || len(list.words) > list.most {
			t.Fatalf("%d %s", len(list.words), name)
		}
		if got := canon.Sum([]byte(strings.Join(list.words[:list.first], ","))).String(); got != list.digest {
			t.Errorf("the first %d %s have another place than before: %s", list.first, name, got)
		}
		seen := map[string]bool{}
		for _, word := range list.words {
			if seen[word] && word != "" || string(canon.AppendText(nil, word)) != `"`+word+`"` {
				t.Errorf("%q of the %s stands there twice, or not for itself", word, name)
			}
			seen[word] = true
		}
	}
}

// TestRecordsOfARunAreShort: what an execution leaves in the log, most of all
// records, is kept in less than half the bytes.
func TestRecordsOfARunAreShort(t *testing.T) {
	t.Parallel()
	r := record()
	for _, name := range []string{"raw", "requested", "proposalHash"} {
		r.Commitments[name] = strings.Repeat("0f", 32)
	}
	leaf, form, err := r.Forms(nil, nil)
	if err != nil || 2*len(form) > len(leaf) {
		t.Errorf("%d bytes of %d: %v", len(form), len(leaf), err)
	}
}

func TestFormsRefuseWhatLeafRefuses(t *testing.T) {
	t.Parallel()
	for want, change := range map[error]func(*audit.Record){
		audit.ErrEvent: func(r *audit.Record) { r.Event = "something_else" },
		audit.ErrLong:  func(r *audit.Record) { r.By = strings.Repeat("x", audit.MaxLeaf) },
		audit.ErrLeaf:  func(r *audit.Record) { r.Agent = "\xff" },
	} {
		r := record()
		change(&r)
		if leaf, form, err := r.Forms(nil, nil); !errors.Is(err, want) || leaf != nil || form != nil {
			t.Errorf("%q, %q, error %v, want %v", leaf, form, err, want)
		}
	}
}

// FuzzExpand: whatever stands in a store expands to a leaf or to itself, and
// itself is no leaf then, whatever words stand beside it.
func FuzzExpand(f *testing.F) {
	words := new(audit.Words)
	_, shared, err := new(record()).Forms(nil, words)
	if err != nil {
		f.Fatal(err)
	}
	for i := range words.Bytes() {
		f.Add(shared, bytes.Clone(words.Bytes()[:i]))
	}
	f.Add(shared, bytes.Clone(words.Bytes()))
	f.Add(shared, []byte("\x83\x00\x80\xff\xff"))
	_, form, err := new(record()).Forms(nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	for i := range form {
		f.Add(form[:i], []byte(nil))
		f.Add(append(bytes.Clone(form[:i]), 0xff), []byte(nil))
	}
	f.Add(append(bytes.Clone(form), form[1:]...), []byte(nil))
	f.Add([]byte("\x01\x07\x09\x00\x00"), []byte(nil))
	f.Add([]byte("\x01\x0c\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), []byte(nil))
	f.Add([]byte("{}"), []byte(nil))
	f.Fuzz(func(t *testing.T, form, words []byte) {
		was, said := bytes.Clone(form), bytes.Clone(words)
		leaf := audit.Expand(make([]byte, 0, 8), form, words)
		if !bytes.Equal(was, form) || !bytes.Equal(said, words) {
			t.Fatal("the form was changed")
		}
		if bytes.Equal(leaf, form) {
			return
		}
		if form[0] != 1 || len(leaf) > audit.MaxLeaf {
			t.Fatalf("%q expands to %d bytes", form, len(leaf))
		}
		r, err := audit.ParseLeaf(leaf)
		if err != nil {
			return
		}
		again, kept, err := r.Forms(nil, nil)
		if err != nil || !bytes.Equal(again, leaf) || !bytes.Equal(audit.Expand(nil, kept, nil), leaf) {
			t.Fatalf("%q: %v", leaf, err)
		}
	})
}
