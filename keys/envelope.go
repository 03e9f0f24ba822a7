package keys

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Envelope is a signed payload (DSSE v1.0.2). Its payload comes out through
// [Verify] only: nothing is parsed before its signature holds.
type Envelope struct {
	payloadType string
	payload     []byte
	signatures  []signature
}

type signature struct {
	keyID string // a hint, never trusted
	sig   []byte
}

// Holds reports whether an envelope carries exactly a payload. It says nothing
// of who signed it.
func (e Envelope) Holds(payload []byte) bool { return bytes.Equal(e.payload, payload) }

// The limits of an envelope.
const (
	maxEnvelope   = 64 << 10
	maxSignatures = 16
)

// The ways in which an envelope is refused.
var (
	ErrEnvelope    = errors.New("not a DSSE envelope")
	ErrPayloadType = errors.New("the envelope holds another type of payload")
	ErrSignature   = errors.New("no signature of the envelope holds")
)

// PayloadType names what the envelope says that it holds. Nobody has vouched
// for it yet.
func (e Envelope) PayloadType() string { return e.payloadType }

// OnlyKeyID returns the name of the key that is said to have made the one
// signature of an envelope; false where there is not exactly one. It is a hint
// for choosing a key, never trust.
func OnlyKeyID(e Envelope) (string, bool) {
	if len(e.signatures) != 1 {
		return "", false
	}
	return e.signatures[0].keyID, true
}

// Verify returns the payload if one of the keys signed it as payloadType, and
// which one. Unknown signatures are ignored, as DSSE demands; none that
// holds is ErrSignature.
func Verify(e Envelope, payloadType string, trusted ...ed25519.PublicKey) ([]byte, ed25519.PublicKey, error) {
	if e.payloadType != payloadType {
		return nil, nil, ErrPayloadType
	}
	message := pae(e.payloadType, e.payload)
	for _, s := range e.signatures {
		if key := VerifyBytes(message, s.sig, trusted...); key != nil {
			return append([]byte(nil), e.payload...), key, nil
		}
	}
	return nil, nil, ErrSignature
}

// VerifyBytes returns the key that signed message, or nil (RFC 8032 §5.1.7).
func VerifyBytes(message, sig []byte, trusted ...ed25519.PublicKey) ed25519.PublicKey {
	for _, key := range trusted {
		if len(key) == ed25519.PublicKeySize && ed25519.Verify(key, message, sig) {
			return key
		}
	}
	return nil
}

// pae is the pre-authentication encoding: what is signed (DSSE protocol.md).
func pae(payloadType string, payload []byte) []byte {
	return appendPAE(make([]byte, 0, len(payloadType)+len(payload)+32), payloadType, payload)
}

func appendPAE(out []byte, payloadType string, payload []byte) []byte {
	out = append(out, "DSSEv1 "...)
	out = strconv.AppendInt(out, int64(len(payloadType)), 10)
	out = append(out, ' ')
	out = append(out, payloadType...)
	out = append(out, ' ')
	out = strconv.AppendInt(out, int64(len(payload)), 10)
	out = append(out, ' ')
	return append(out, payload...)
}

// JSON returns the RFC 8785 form of the envelope. Its base64 needs no escape,
// so it is written once, into its place.
func (e Envelope) JSON() []byte {
	return appendEnvelope(make([]byte, 0, room(e.payloadType, e.payload, len(e.signatures))), e.payloadType, e.payload, e.signatures...)
}

// room is about how long the JSON form is, in bytes.
func room(payloadType string, payload []byte, signatures int) int {
	return base64.StdEncoding.EncodedLen(len(payload)) + len(payloadType) + signatures*perSignature + perSignature
}

func appendEnvelope(out []byte, payloadType string, payload []byte, signatures ...signature) []byte {
	out = append(out, `{"payload":"`...)
	out = base64.StdEncoding.AppendEncode(out, payload)
	out = append(out, `","payloadType":`...)
	out = canon.AppendText(out, payloadType)
	out = append(out, `,"signatures":[`...)
	for i, s := range signatures {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"keyid":`...)
		out = canon.AppendText(out, s.keyID)
		out = append(out, `,"sig":"`...)
		out = base64.StdEncoding.AppendEncode(out, s.sig)
		out = append(out, `"}`...)
	}
	return append(out, `]}`...)
}

// perSignature is about what a signature takes in the JSON form, in bytes.
const perSignature = 160

func encoded(b []byte) canon.Value {
	return canon.StringValue(base64.StdEncoding.EncodeToString(b))
}

// ParseEnvelope reads the JSON form: exactly the three members, standard
// padded base64 without a stray bit. It fails with ErrEnvelope.
func ParseEnvelope(src []byte) (Envelope, error) {
	v, err := canon.Decode(src, canon.Options{MaxBytes: maxEnvelope, Exact: true, FoldTwins: true})
	if err != nil {
		return Envelope{}, fmt.Errorf("%w: %w", ErrEnvelope, err)
	}
	var e Envelope
	fields, err := texts(v, 3, "payload", "payloadType")
	if err != nil {
		return Envelope{}, err
	}
	if e.payload, err = decoded(fields[0]); err != nil {
		return Envelope{}, err
	}
	e.payloadType = fields[1]
	list, _ := v.Get("signatures")
	if list.Kind() != canon.Array || list.Len() == 0 || list.Len() > maxSignatures {
		return Envelope{}, fmt.Errorf("%w: at /signatures: expected 1 to %d signatures", ErrEnvelope, maxSignatures)
	}
	for _, item := range list.Elements() {
		s, err := parseSignature(item)
		if err != nil {
			return Envelope{}, err
		}
		e.signatures = append(e.signatures, s)
	}
	return e, nil
}

func parseSignature(v canon.Value) (signature, error) {
	fields, err := texts(v, 2, "keyid", "sig")
	if err != nil {
		return signature{}, err
	}
	sig, err := decoded(fields[1])
	if err != nil {
		return signature{}, err
	}
	return signature{keyID: fields[0], sig: sig}, nil
}

// texts returns the named strings of an object that has exactly n members.
func texts(v canon.Value, n int, names ...string) ([]string, error) {
	if v.Kind() != canon.Object || v.Len() != n {
		return nil, fmt.Errorf("%w: expected an object of %d members", ErrEnvelope, n)
	}
	out := make([]string, len(names))
	for i, name := range names {
		member, ok := v.Get(name)
		if !ok || member.Kind() != canon.String {
			return nil, fmt.Errorf("%w: expected a string at /%s", ErrEnvelope, name)
		}
		out[i] = member.Text()
	}
	return out, nil
}

func decoded(text string) ([]byte, error) {
	out, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(out) != text {
		return nil, fmt.Errorf("%w: expected standard base64", ErrEnvelope)
	}
	return out, nil
}
