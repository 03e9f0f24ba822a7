package audit_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

func record() audit.Record {
	return audit.Record{Seq: 7, ID: "rec_1", At: time.Date(2026, 3, 1, 12, 0, 0, 5_000_000, time.UTC), Tenant: "acme",
		Event: audit.ActionStarted, Action: "act_1", Tool: "bank.pay", Agent: "helper", By: "user:pat", From: "claimed",
		To: "executing", Code: "ok", Facts: map[string]string{"fence": "1", "attempt": "1"},
		Commitments: map[string]string{"arguments": strings.Repeat("a", 64)}}
}

// TestLeafBytesAreFixed is the format: a change of these bytes is a new
// version.
func TestLeafBytesAreFixed(t *testing.T) {
	t.Parallel()
	want := `{"action":"act_1","agent":"helper","at":"2026-03-01T12:00:00.005Z","by":"user:pat","code":"ok",` +
		`"commitments":{"arguments":"` + strings.Repeat("a", 64) + `"},"event":"action_started",` +
		`"facts":{"attempt":"1","fence":"1"},"from":"claimed","id":"rec_1","seq":7,"tenant":"acme","to":"executing",` +
		`"tool":"bank.pay","v":1}`
	got, err := record().Leaf()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Fatal(diff)
	}
	r := record()
	r.At = r.At.In(time.FixedZone("elsewhere", 3600))
	if again, err := r.Leaf(); err != nil || string(again) != want {
		t.Fatalf("another time zone gave %s, %v", again, err)
	}
}

// TestK03EveryFieldIsInTheLeaf changes each field of a record: a field that
// the leaf leaves out could be edited unseen.
func TestK03EveryFieldIsInTheLeaf(t *testing.T) {
	t.Parallel()
	before, err := record().Leaf()
	if err != nil {
		t.Fatal(err)
	}
	for i := range reflect.TypeOf(audit.Record{}).NumField() {
		r := record()
		name := reflect.TypeOf(r).Field(i).Name
		switch f := reflect.ValueOf(&r).Elem().Field(i).Addr().Interface().(type) {
		case *string:
			*f += "x"
		case *int64:
			*f++
		case *time.Time:
			*f = f.Add(time.Millisecond)
		case *map[string]string:
			*f = map[string]string{"other": "x"}
		default:
			t.Fatalf("the test does not know the type of %s", name)
		}
		if name == "Event" {
			r.Event = audit.ActionDenied
		}
		after, err := r.Leaf()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if string(after) == string(before) {
			t.Errorf("%s is not in the leaf", name)
		}
	}
}

func TestLeafRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*audit.Record)
		want   error
	}{
		"an unknown event":        {func(r *audit.Record) { r.Event = "something_else" }, audit.ErrEvent},
		"no event":                {func(r *audit.Record) { r.Event = "" }, audit.ErrEvent},
		"more than a leaf holds":  {func(r *audit.Record) { r.By = strings.Repeat("x", audit.MaxLeaf) }, audit.ErrLong},
		"text that is not UTF-8":  {func(r *audit.Record) { r.Agent = "\xff" }, audit.ErrLeaf},
		"a name that is not":      {func(r *audit.Record) { r.Facts = map[string]string{"\xff": ""} }, audit.ErrLeaf},
		"a number beyond a float": {func(r *audit.Record) { r.Seq = 1 << 60 }, audit.ErrLeaf},
	} {
		r := record()
		c.change(&r)
		if leaf, err := r.Leaf(); !errors.Is(err, c.want) || leaf != nil {
			t.Errorf("%s: %q, error %v, want %v", name, leaf, err, c.want)
		}
	}
}

func TestParseLeafRefusesWhatLeafDoesNotWrite(t *testing.T) {
	t.Parallel()
	leaf, err := record().Leaf()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing":            "",
		"a space":            " " + string(leaf),
		"an unknown member":  strings.Replace(string(leaf), `"v":1`, `"v":1,"w":1`, 1),
		"another version":    strings.Replace(string(leaf), `"v":1`, `"v":2`, 1),
		"members unsorted":   strings.Replace(string(leaf), `"to":"executing","tool":"bank.pay"`, `"tool":"bank.pay","to":"executing"`, 1),
		"a member twice":     strings.Replace(string(leaf), `"v":1`, `"v":1,"v":1`, 1),
		"an empty member":    strings.Replace(string(leaf), `"code":"ok"`, `"code":""`, 1),
		"a time elsewhere":   strings.Replace(string(leaf), `12:00:00.005Z`, `13:00:00.005+01:00`, 1),
		"a number as a text": strings.Replace(string(leaf), `"seq":7`, `"seq":"7"`, 1),
		"an unknown event":   strings.Replace(string(leaf), `action_started`, `action_stopped`, 1),
		"a fact that is one": strings.Replace(string(leaf), `"fence":"1"`, `"fence":1`, 1),
	} {
		if r, err := audit.ParseLeaf([]byte(text)); err == nil {
			t.Errorf("%s: read as %+v", name, r)
		}
	}
}

func TestLeafRoundTrip(t *testing.T) {
	t.Parallel()
	text := rapid.StringN(-1, -1, 64)
	rapid.Check(t, func(r *rapid.T) {
		want := audit.Record{Seq: rapid.Int64Range(0, canon.MaxSafeInteger).Draw(r, "seq"), ID: text.Draw(r, "id"),
			At:     time.Unix(0, rapid.Int64Range(0, 1<<62).Draw(r, "at")).UTC(),
			Tenant: text.Draw(r, "tenant"), Event: rapid.SampledFrom(audit.Events()).Draw(r, "event"), Action: text.Draw(r, "action"),
			Tool: text.Draw(r, "tool"), Agent: text.Draw(r, "agent"), By: text.Draw(r, "by"), From: text.Draw(r, "from"),
			To: text.Draw(r, "to"), Code: text.Draw(r, "code"),
			Facts: rapid.MapOfN(text, text, 1, 4).Draw(r, "facts"), Commitments: rapid.MapOfN(text, text, 1, 4).Draw(r, "commitments")}
		leaf, err := want.Leaf()
		if err != nil {
			r.Fatal(err)
		}
		got, err := audit.ParseLeaf(leaf)
		if err != nil {
			r.Fatalf("%s: %v", leaf, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatal(diff)
		}
	})
}

func FuzzParseLeaf(f *testing.F) {
	leaf, err := record().Leaf()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(leaf)
	f.Add([]byte(`{"at":"2026-03-01T12:00:00Z","event":"action_denied","seq":1,"v":1}`))
	f.Fuzz(func(t *testing.T, leaf []byte) {
		r, err := audit.ParseLeaf(leaf)
		if err != nil {
			return
		}
		again, err := r.Leaf()
		if err != nil || string(again) != string(leaf) {
			t.Fatalf("%q reads back as %q, %v", leaf, again, err)
		}
	})
}

func TestCommitmentsBindSaltNameAndValue(t *testing.T) {
	t.Parallel()
	salt, other := audit.NewSalt(), audit.NewSalt()
	r := record()
	r.Commitments = map[string]string{"arguments": salt.Commit("arguments", []byte("x"))}
	if !salt.Check(r, "arguments", []byte("x")) {
		t.Error("the value itself is refused")
	}
	for name, ok := range map[string]bool{
		"another value":                   salt.Check(r, "arguments", []byte("y")),
		"another salt":                    other.Check(r, "arguments", []byte("x")),
		"another name":                    salt.Check(r, "raw", []byte("x")),
		"a name that runs into the value": salt.Commit("ab", []byte("c")) == salt.Commit("a", []byte("bc")),
	} {
		if ok {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestACommitmentIsTheHMACOfNameAndValue holds it to docs/spec/log.md, for
// values of any length.
func TestACommitmentIsTheHMACOfNameAndValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		salt := audit.Salt(rapid.SliceOfN(rapid.Byte(), audit.SaltSize, audit.SaltSize).Draw(t, "salt"))
		name := rapid.OneOf(rapid.String(), rapid.StringN(50, 300, -1)).Draw(t, "name")
		value := bytes.Repeat([]byte(rapid.StringN(1, 9, -1).Draw(t, "value")), rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(0, 700)).Draw(t, "times"))
		mac := hmac.New(sha256.New, salt[:])
		mac.Write([]byte{byte(len(name) >> 8), byte(len(name))})
		mac.Write([]byte(name))
		mac.Write(value)
		if got, want := salt.Commit(name, value), hex.EncodeToString(mac.Sum(nil)); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}

// TestLeafHash checks the hash of the empty leaf (RFC 6962 §2.1.3 uses it in
// its examples) and that a leaf is not taken for a node.
func TestLeafHash(t *testing.T) {
	t.Parallel()
	if got := audit.LeafHash(nil).String(); got != "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d" {
		t.Errorf("hash of the empty leaf %s", got)
	}
	if audit.LeafHash([]byte("x")) == canon.Sum([]byte("x")) {
		t.Error("a leaf hash is a plain digest")
	}
}

func TestEventsAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, event := range audit.Events() {
		if seen[event] || event == "" {
			t.Errorf("event %q stands twice", event)
		}
		seen[event] = true
	}
}

// TestATextIsCommittedToAsItsBytesAre: of every length, around the one from
// which on values are not copied.
func TestATextIsCommittedToAsItsBytesAre(t *testing.T) {
	t.Parallel()
	salt := audit.NewSalt()
	for _, size := range []int{0, 1, 511, 512, 513, 5000} {
		value := strings.Repeat("é", size)
		if salt.DigestText("raw", value).String() != salt.Commit("raw", []byte(value)) {
			t.Errorf("%d: the commitments differ", size)
		}
	}
}
