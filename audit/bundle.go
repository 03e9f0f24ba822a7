package audit

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
)

// BundleClaim stands on every bundle.
const BundleClaim = "These records are in the log up to the checkpoint. This proves neither that the effect happened " +
	"nor that the log has no other record about it."

// MaxBundle is the largest bundle in bytes.
const MaxBundle = 16 << 20

// The bounds of a bundle.
const (
	maxBundleDepth = 8
	bundleVersion  = 1
)

// ErrBundle is returned for what is no bundle, or one that does not hold.
var ErrBundle = errors.New("the bundle does not hold")

// Bundle is the evidence of one action: its records with their proofs, the
// signed checkpoint that they lead to, and the votes on it. It verifies
// without the store.
type Bundle struct {
	Action     string
	Checkpoint []byte // signed
	Records    []Proved
	Votes      [][]byte // DSSE envelopes, in the order in which they were given
}

// Proved is one record with its inclusion proof.
type Proved struct {
	Index int64
	Leaf  []byte
	Proof []canon.Digest
	// Opened shows what the record committed to, by name, and Salt proves it.
	// Where nothing is shown there is no salt.
	Salt   []byte
	Opened map[string][]byte
}

// JSON returns the RFC 8785 form of the bundle.
func (b Bundle) JSON() []byte {
	records := make([]canon.Value, len(b.Records))
	for i, r := range b.Records {
		records[i] = r.value()
	}
	votes := make([]canon.Value, len(b.Votes))
	for i, v := range b.Votes {
		votes[i] = canon.StringValue(string(v))
	}
	return canon.ObjectValue(
		canon.Member{Name: "v", Value: canon.IntValue(bundleVersion)},
		canon.Member{Name: "claim", Value: canon.StringValue(BundleClaim)},
		canon.Member{Name: "action", Value: canon.StringValue(b.Action)},
		canon.Member{Name: "checkpoint", Value: canon.StringValue(string(b.Checkpoint))},
		canon.Member{Name: "records", Value: canon.ArrayValue(records...)},
		canon.Member{Name: "votes", Value: canon.ArrayValue(votes...)}).Canonical()
}

func (p Proved) value() canon.Value {
	proof := make([]canon.Value, len(p.Proof))
	for i, h := range p.Proof {
		proof[i] = base64Value(h[:])
	}
	members := []canon.Member{
		{Name: "index", Value: canon.IntValue(p.Index)},
		{Name: "leaf", Value: canon.StringValue(string(p.Leaf))},
		{Name: "proof", Value: canon.ArrayValue(proof...)},
	}
	if len(p.Opened) > 0 {
		opened := make([]canon.Member, 0, len(p.Opened))
		for name, value := range p.Opened {
			opened = append(opened, canon.Member{Name: name, Value: base64Value(value)})
		}
		members = append(members, canon.Member{Name: "salt", Value: base64Value(p.Salt)},
			canon.Member{Name: "opened", Value: canon.ObjectValue(opened...)})
	}
	return canon.ObjectValue(members...)
}

func base64Value(b []byte) canon.Value {
	return canon.StringValue(base64.StdEncoding.EncodeToString(b))
}

// ParseBundle reads a bundle. Only what [Bundle.JSON] writes is one. It fails
// with ErrBundle.
func ParseBundle(text []byte) (Bundle, error) {
	v, err := canon.Decode(text, canon.Options{MaxBytes: MaxBundle, MaxDepth: maxBundleDepth, Exact: true})
	if err != nil {
		return Bundle{}, fmt.Errorf("%w: %w", ErrBundle, err)
	}
	if n, _ := v.Get("v"); n.Kind() == canon.Number {
		if version, whole := n.Int64(); !whole || version != bundleVersion {
			return Bundle{}, fmt.Errorf("%w: version %s of bundles is not known here", ErrBundle, n.Canonical())
		}
	}
	b := Bundle{Action: textOf(v, "action"), Checkpoint: []byte(textOf(v, "checkpoint"))}
	for _, item := range listOf(v, "records") {
		p, err := parseProved(item)
		if err != nil {
			return Bundle{}, err
		}
		b.Records = append(b.Records, p)
	}
	for _, item := range listOf(v, "votes") {
		if item.Kind() == canon.String {
			b.Votes = append(b.Votes, []byte(item.Text()))
		}
	}
	if string(b.JSON()) != string(text) {
		return Bundle{}, fmt.Errorf("%w: its form is not that of a bundle", ErrBundle)
	}
	return b, nil
}

func textOf(v canon.Value, name string) string {
	member, _ := v.Get(name)
	if member.Kind() != canon.String {
		return ""
	}
	return member.Text()
}

func listOf(v canon.Value, name string) []canon.Value {
	member, _ := v.Get(name)
	if member.Kind() != canon.Array {
		return nil
	}
	return member.Elements()
}

func parseProved(v canon.Value) (p Proved, err error) {
	index, _ := v.Get("index")
	ok := false
	if p.Index, ok = index.Int64(); !ok {
		return p, fmt.Errorf("%w: a record has no index", ErrBundle)
	}
	p.Leaf = []byte(textOf(v, "leaf"))
	for _, item := range listOf(v, "proof") {
		h, err := base64.StdEncoding.Strict().DecodeString(stringOf(item))
		if err != nil || len(h) != len(canon.Digest{}) {
			return p, fmt.Errorf("%w: record %d: its proof has no hash where one must be", ErrBundle, p.Index+1)
		}
		p.Proof = append(p.Proof, canon.Digest(h))
	}
	salt, there := v.Get("salt")
	if !there {
		return p, nil
	}
	if p.Salt, err = base64.StdEncoding.Strict().DecodeString(stringOf(salt)); err != nil || len(p.Salt) != SaltSize {
		return p, fmt.Errorf("%w: record %d: its salt is none", ErrBundle, p.Index+1)
	}
	p.Opened = map[string][]byte{}
	opened, _ := v.Get("opened")
	if opened.Kind() == canon.Object {
		for _, m := range opened.Members() {
			value, err := base64.StdEncoding.Strict().DecodeString(stringOf(m.Value))
			if err != nil {
				return p, fmt.Errorf("%w: record %d: what it shows is not base64", ErrBundle, p.Index+1)
			}
			p.Opened[m.Name] = value
		}
	}
	return p, nil
}

func stringOf(v canon.Value) string {
	if v.Kind() != canon.String {
		return ""
	}
	return v.Text()
}
