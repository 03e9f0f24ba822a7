package audit

import (
	"crypto/ed25519"
	"encoding/hex"
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
	if r, number, ok := readPlain(leaf, true); ok {
		return r, unnumbered(leaf, number), nil
	}
	return digestAny(leaf)
}

// digestAny is RecordDigest for every record.
func digestAny(leaf []byte) (Record, canon.Digest, error) {
	r, err := readAny(leaf)
	if err != nil {
		return Record{}, canon.Digest{}, err
	}
	bare := r
	bare.Seq = 0
	body, err := bare.Leaf()
	return r, canon.Sum(body), err
}

// unnumbered is the digest of a leaf with 0 in the place of its number, whose
// digits are there.
func unnumbered(leaf []byte, number span) canon.Digest {
	var room [MaxLeaf + 1]byte
	bare := append(append(room[:0], leaf[:number.from]...), '0')
	return canon.Sum(append(bare, leaf[number.to:]...))
}

// NewReceipt makes the receipt of a record that was written. The leaf may
// have its number already.
func NewReceipt(origin, kept string, leaf []byte) (Receipt, error) {
	r, number, ok := readPlain(leaf, false)
	var digest canon.Digest
	if ok {
		digest = unnumbered(leaf, number)
	} else {
		var err error
		if r, digest, err = digestAny(leaf); err != nil {
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
	var room [likelyReceipt]byte
	return s.SignJSON(ReceiptType, r.appendTo(room[:0])), nil
}

// appendTo appends the RFC 8785 form of a receipt, whose names are in their order.
func (r Receipt) appendTo(out []byte) []byte {
	text := func(before, value string) { out = canon.AppendText(append(out, before...), value) }
	text(`{"action":`, r.Action)
	out = r.At.UTC().AppendFormat(append(out, `,"at":"`...), time.RFC3339Nano)
	out = append(out, `","claim":"`+ReceiptClaim+`","digest":"`...)
	out = append(hex.AppendEncode(out, r.Digest[:]), '"')
	text(`,"event":`, r.Event)
	text(`,"kept":`, r.Kept)
	text(`,"log":`, r.Log)
	text(`,"record":`, r.Record)
	text(`,"state":`, r.State)
	return append(out, `,"v":1}`...)
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

// parseReceipt reads a payload whose signature holds. Only what appendTo
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
	if err != nil || string(r.appendTo(nil)) != string(payload) {
		return Receipt{}, fmt.Errorf("%w: its content is not that of a receipt", ErrReceipt)
	}
	return r, nil
}
