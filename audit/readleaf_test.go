package audit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// plain is a record such as gateways write.
func plain(t testing.TB) audit.Record {
	t.Helper()
	salt := audit.NewSalt()
	return audit.Record{Seq: 7, ID: "rec_1", At: time.Date(2030, 1, 2, 3, 4, 5, 678_000_000, time.UTC), Tenant: "acme", Event: audit.ActionStarted,
		Action: "act_1", Tool: "up.pay", Agent: "Support Agent", By: "maria", To: "executing",
		Facts:       map[string]string{"attempt": "1", "executor": "up.example", "mutation": "true", "reason": "", "rules": `["a","b\\"]`},
		Commitments: map[string]string{"arguments": salt.Commit("arguments", []byte("{}")), "raw": salt.Commit("raw", []byte("{}"))}}
}

// sameWay holds the short way to the long one: what it reads, that reads alike,
// and what that refuses it does not read.
func sameWay(t interface{ Fatalf(string, ...any) }, leaf []byte) (short bool) {
	whole, err := audit.ParseLeaf(leaf)
	whole.Facts, whole.Commitments = nil, nil
	if part, skimErr := audit.Skim(leaf); (err == nil) != (skimErr == nil) || !cmp.Equal(whole, part) {
		t.Fatalf("%q is %+v (%v), and skimmed %+v (%v)", leaf, whole, err, part, skimErr)
	}
	got, ok := audit.ReadPlain(leaf)
	skimmed, also := audit.Skimmed(leaf)
	if ok != also {
		t.Fatalf("%q is read %t, and skimmed %t", leaf, ok, also)
	}
	if !ok {
		return false
	}
	want, err := audit.ReadAny(leaf)
	if err != nil {
		t.Fatalf("%q is read, but is no leaf: %v", leaf, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q (-want +got):\n%s", leaf, diff)
	}
	digested(t, leaf, want)
	want.Facts, want.Commitments = nil, nil
	if diff := cmp.Diff(want, skimmed); diff != "" {
		t.Fatalf("%q skimmed (-want +got):\n%s", leaf, diff)
	}
	return true
}

// digested holds the digest that names a record to that of its leaf without a
// number, as it is written.
func digested(t interface{ Fatalf(string, ...any) }, leaf []byte, r audit.Record) {
	bare := r
	bare.Seq = 0
	body, err := bare.Leaf()
	want := canon.Sum(body)
	same, got, digestErr := audit.RecordDigest(leaf)
	receipt, receiptErr := audit.NewReceipt("log", audit.KeptSynced, leaf)
	if err != nil || digestErr != nil || receiptErr != nil || got != want || receipt.Digest != want || !cmp.Equal(same, r) {
		t.Fatalf("%q has the digest %s, its receipt %s, want %s (%v, %v, %v)", leaf, got, receipt.Digest, want, err, digestErr, receiptErr)
	}
}

func TestALeafOfAGatewayIsReadInTheShortWay(t *testing.T) {
	t.Parallel()
	r := plain(t)
	for name, change := range map[string]func(*audit.Record){
		"as it is":          func(*audit.Record) {},
		"without a number":  func(r *audit.Record) { r.Seq = 0 },
		"the last number":   func(r *audit.Record) { r.Seq = 1<<53 - 1 },
		"no facts":          func(r *audit.Record) { r.Facts = nil },
		"no commitments":    func(r *audit.Record) { r.Commitments = nil },
		"whole seconds":     func(r *audit.Record) { r.At = r.At.Truncate(time.Second) },
		"every text":        func(r *audit.Record) { r.From, r.Code = "approved", "ok" },
		"nearly no text":    func(r *audit.Record) { *r = audit.Record{At: r.At, Event: r.Event} },
		"quotes in a name":  func(r *audit.Record) { r.Facts = map[string]string{`"`: `\`, `\`: `"`, `\"`: `\\""`} },
		"an empty fact":     func(r *audit.Record) { r.Facts = map[string]string{"a": ""} },
		"a zone of its own": func(r *audit.Record) { r.At = r.At.In(time.FixedZone("x", 3600)) },
	} {
		x := r
		change(&x)
		leaf, err := x.Leaf()
		if err != nil || !sameWay(t, leaf) {
			t.Errorf("%s: %s %v", name, leaf, err)
		}
	}
}

// One byte is changed, left out or put in; what is still read is still a leaf.
func TestTheShortWayReadsNothingThatIsNoLeaf(t *testing.T) {
	t.Parallel()
	leaf, err := plain(t).Leaf()
	if err != nil {
		t.Fatal(err)
	}
	for at := range leaf {
		for _, c := range []byte("\x00\x1f \"\\,:{}[]0199eEzZ.+-/\x7f\xc3\xff") {
			for _, other := range []string{
				string(leaf[:at]) + string(c) + string(leaf[at+1:]), string(leaf[:at]) + string(c) + string(leaf[at:]),
				string(leaf[:at]) + string(leaf[at+1:]), string(leaf[:at]), string(leaf[:at]) + string(leaf[at:]) + string(c),
			} {
				sameWay(t, []byte(other))
			}
		}
	}
}

func TestTheShortWayReadsWhateverIsWrittenOrLeavesIt(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.StringMatching(`[ -~]{0,40}`))
	texts := rapid.MapOfN(rapid.OneOf(rapid.SampledFrom([]string{"raw", "a", "B", "b", "é", ""}), rapid.String()), text, 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		r := audit.Record{Seq: rapid.Int64Range(0, 1<<53-1).Draw(t, "seq"), ID: text.Draw(t, "id"), Tenant: text.Draw(t, "tenant"),
			At:    time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")),
			Event: audit.ReadAllowed, Action: text.Draw(t, "action"), Code: text.Draw(t, "code"),
			Facts: texts.Draw(t, "facts"), Commitments: texts.Draw(t, "commitments")}
		leaf, err := r.Leaf()
		if err != nil {
			return // too long, or no text
		}
		sameWay(t, leaf)
		parsed, err := audit.ParseLeaf(leaf)
		if err != nil {
			t.Fatalf("%s: %v", leaf, err)
		}
		digested(t, leaf, parsed)
	})
}

func FuzzReadLeaf(f *testing.F) {
	leaf, err := plain(f).Leaf()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(leaf)
	f.Add([]byte(`{"at":"2030-01-02T03:04:05Z","event":"read_allowed","seq":0,"v":1}`))
	f.Fuzz(func(t *testing.T, leaf []byte) { sameWay(t, leaf) })
}
