package audit

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

// ReceiptType is the DSSE payload type of a receipt.
const ReceiptType = "application/vnd.verbatim.receipt.v1+json"

// ReceiptClaim stands on every receipt.
const ReceiptClaim = "This gateway wrote this record before it answered, and promises to keep it in its log. " +
	"This proves neither that the effect happened nor that nothing else did."

// How a record was kept when its receipt was signed.
const (
	KeptSynced  = "synced"  // on the disk
	KeptWritten = "written" // survives the end of the process, not a power cut
)

// ErrReceipt is returned for what is no receipt, or one that nobody signed
// who is trusted.
var ErrReceipt = errors.New("not a receipt that a trusted key has signed")

// Receipt is the promise that a record is in the log, or soon will be.
type Receipt struct {
	Log    string       // origin
	Action string       // "" for none
	Record string       // id of the record
	Digest canon.Digest // of the record: see [RecordDigest]
	Event  string
	State  string // of the action after it
	At     time.Time
	Kept   string // KeptSynced or KeptWritten
}

// ReceiptName is the name under which receipts of a log are signed.
func ReceiptName(origin string) string { return origin + receiptSuffix }

// VoteName is the name under which a gateway signs votes that were made with
// a password.
func VoteName(origin string) string { return origin + voteSuffix }

const (
	receiptSuffix = "/receipt"
	voteSuffix    = "/vote"
)

// RecordDigest is SHA-256 of the leaf with the number 0 in the place of its
// own: what names a record before it has a number.
func RecordDigest(leaf []byte) (Record, canon.Digest, error) {
	r, err := ParseLeaf(leaf)
	if err != nil {
		return Record{}, canon.Digest{}, err
	}
	if r.Seq == 0 { // it is that leaf, byte for byte
		return r, canon.Sum(leaf), nil
	}
	unnumbered := r
	unnumbered.Seq = 0
	body, err := unnumbered.Leaf()
	return r, canon.Sum(body), err
}

// NewReceipt makes the receipt of a record that was written. The leaf may
// have its number already.
func NewReceipt(origin, kept string, leaf []byte) (Receipt, error) {
	r, ok := readPlain(leaf, false)
	digest := canon.Sum(leaf)
	if !ok || r.Seq != 0 {
		var err error
		if r, digest, err = RecordDigest(leaf); err != nil {
			return Receipt{}, err
		}
	}
	return Receipt{Log: origin, Action: r.Action, Record: r.ID, Digest: digest, Event: r.Event, State: r.To, At: r.At, Kept: kept}, nil
}

// Sign returns the receipt as the RFC 8785 form of a DSSE envelope.
func (r Receipt) Sign(s *keys.Signer) ([]byte, error) {
	if s == nil || s.Purpose() != keys.Receipts {
		return nil, errors.New("a receipt needs a key for receipts")
	}
	return s.SignJSON(ReceiptType, r.payload()), nil
}

func (r Receipt) payload() []byte {
	text := func(name, value string) canon.Member {
		return canon.Member{Name: name, Value: canon.StringValue(value)}
	}
	return canon.ObjectValue(canon.Member{Name: "v", Value: canon.IntValue(1)}, text("log", r.Log), text("action", r.Action),
		text("record", r.Record), text("digest", r.Digest.String()), text("event", r.Event), text("state", r.State),
		text("at", r.At.UTC().Format(time.RFC3339Nano)), text("kept", r.Kept), text("claim", ReceiptClaim)).AppendTo(make([]byte, 0, likelyReceipt))
}

// likelyReceipt is the room that most payloads need, in bytes.
const likelyReceipt = 768

// OpenReceipt reads a receipt that a trusted key has signed for the log that
// it names. Every byte counts. It fails with ErrReceipt.
func (t Trust) OpenReceipt(envelope []byte) (Receipt, error) {
	e, err := keys.ParseEnvelope(envelope)
	if err != nil || string(e.JSON()) != string(envelope) {
		return Receipt{}, fmt.Errorf("%w: it is no DSSE envelope in its canonical form", ErrReceipt)
	}
	payload, key, err := keys.VerifyOnly(e, ReceiptType, t.named(receiptSuffix)...)
	if err != nil {
		return Receipt{}, fmt.Errorf("%w: %w", ErrReceipt, err)
	}
	r, err := parseReceipt(payload)
	if err != nil {
		return Receipt{}, err
	}
	for _, k := range t.plain[ReceiptName(r.Log)] {
		if k.Equal(key) {
			return r, nil
		}
	}
	return Receipt{}, fmt.Errorf("%w: the key is of another log", ErrReceipt)
}

// named are the trusted keys whose names have an ending.
func (t Trust) named(suffix string) (out []ed25519.PublicKey) {
	for name, list := range t.plain {
		if strings.HasSuffix(name, suffix) {
			out = append(out, list...)
		}
	}
	return out
}

// parseReceipt reads a payload whose signature holds. Only what payload
// writes is a receipt.
func parseReceipt(payload []byte) (Receipt, error) {
	v, err := canon.Decode(payload, canon.Options{MaxBytes: MaxLeaf, MaxDepth: 2, Exact: true})
	if err != nil {
		return Receipt{}, fmt.Errorf("%w: %w", ErrReceipt, err)
	}
	text := func(name string) string {
		member, _ := v.Get(name)
		if member.Kind() != canon.String {
			return ""
		}
		return member.Text()
	}
	r := Receipt{Log: text("log"), Action: text("action"), Record: text("record"), Event: text("event"), State: text("state"), Kept: text("kept")}
	at, err := time.Parse(time.RFC3339Nano, text("at"))
	if err == nil {
		r.At = at
		err = r.Digest.UnmarshalText([]byte(text("digest")))
	}
	if err != nil || string(r.payload()) != string(payload) {
		return Receipt{}, fmt.Errorf("%w: its content is not that of a receipt", ErrReceipt)
	}
	return r, nil
}
