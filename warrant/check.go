package warrant

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

// Verdict says whether a warrant lets these arguments run here now. The zero
// value does not.
type Verdict string

// The verdicts, in the order in which they are found. Only OK lets run.
const (
	Malformed        Verdict = "malformed"         // not the one form of a warrant
	WrongType        Verdict = "wrong_type"        // an envelope of something else
	UnknownKey       Verdict = "unknown_key"       // no key that is trusted here
	BadSignature     Verdict = "bad_signature"     // a known key did not sign this
	WrongAudience    Verdict = "wrong_audience"    // for another executor
	WrongTool        Verdict = "wrong_tool"        // for another tool
	OtherAttempt     Verdict = "other_attempt"     // for another action or attempt, or one that was sent again since
	NotYet           Verdict = "not_yet"           // signed in the future
	Late             Verdict = "expired"           // its send deadline has passed
	ArgumentsChanged Verdict = "arguments_changed" // not what was decided on
	Replayed         Verdict = "replayed"          // used here before
	Unavailable      Verdict = "unavailable"       // what remembers or is asked gave no answer
	OK               Verdict = "ok"
)

// Verdicts lists every verdict, in the order in which they are found.
func Verdicts() []Verdict {
	return []Verdict{Malformed, WrongType, UnknownKey, BadSignature, WrongAudience, WrongTool, OtherAttempt, NotYet, Late,
		ArgumentsChanged, Replayed, Unavailable, OK}
}

// The limits of a check, in bytes. What the schema added may make arguments
// longer than what a model may send.
const (
	MaxEnvelope  = 64 << 10
	MaxArguments = 4 << 20

	maxPayload = 48 << 10
)

// earliest is how far the clock of a gateway may be ahead.
const earliest = 5 * time.Second

// maxSkew bounds how much earlier a checker may call a warrant late.
const maxSkew = 25 * time.Second

// Config is a Checker.
type Config struct {
	Audience string              // required: the name that the gateway has for this executor
	Keys     []ed25519.PublicKey // required: of the gateways that may send here
	// Seen remembers what was used; nil is a memory of this process. Several
	// processes that stand for one executor need one that they share.
	Seen Seen
	// Ask, if not nil, asks the gateway whether the attempt still stands
	// and has not ended. It comes before Seen. A warrant without an attempt is
	// not asked about.
	Ask func(ctx context.Context, w Warrant) (standing bool, err error)
	// Skew makes a warrant end so much earlier, 0 to 25 s: for a clock that
	// may be behind.
	Skew time.Duration
	Now  func() time.Time // nil is time.Now
}

// Checker checks warrants for one executor. It is safe for concurrent use.
type Checker struct{ cfg Config }

// New checks a configuration.
func New(cfg Config) (*Checker, error) {
	if cfg.Audience == "" || len(cfg.Keys) == 0 || cfg.Skew < 0 || cfg.Skew > maxSkew {
		return nil, errors.New("a checker of warrants without audience or keys, or with a skew outside 0 to 25 s")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Seen == nil {
		cfg.Seen = NewMemory(cfg.Now)
	}
	cfg.Keys = slices.Clone(cfg.Keys)
	for _, k := range cfg.Keys {
		if len(k) != ed25519.PublicKeySize {
			return nil, errors.New("a checker of warrants with a key that is none of Ed25519")
		}
	}
	return &Checker{cfg}, nil
}

// Expect is what the executor knows by itself of the call. An empty field
// expects nothing.
type Expect struct {
	Tool    string // catalog name
	Action  string
	Attempt int
}

// Check says whether the tool may start now with exactly these argument bytes.
// On OK the warrant is used up here: start, or refuse for good. Its fields are
// filled in from the verdict WrongAudience on.
func (c *Checker) Check(ctx context.Context, envelope, arguments []byte, e Expect) (Warrant, Verdict) {
	w, v := Open(envelope, c.cfg.Keys...)
	if v != OK {
		return Warrant{}, v
	}
	if v = c.standing(w, e); v != OK {
		return w, v
	}
	if !same(w, arguments) {
		return w, ArgumentsChanged
	}
	return w, c.use(ctx, w)
}

// Open reads an envelope that one of the trusted keys has signed as a warrant.
// It says nothing of whom it is for, when, or of what; that is for
// [Checker.Check]. On any verdict but OK there is no warrant.
func Open(envelope []byte, trusted ...ed25519.PublicKey) (Warrant, Verdict) {
	e, err := keys.ParseEnvelope(envelope)
	if err != nil || len(envelope) > MaxEnvelope {
		return Warrant{}, Malformed
	}
	id, one := keys.OnlyKeyID(e)
	if !one {
		return Warrant{}, Malformed
	}
	if e.PayloadType() != Type {
		return Warrant{}, WrongType
	}
	at := slices.IndexFunc(trusted, func(k ed25519.PublicKey) bool { return keys.KeyID(k) == id })
	if at < 0 {
		return Warrant{}, UnknownKey
	}
	payload, _, err := keys.VerifyOnly(e, Type, trusted[at])
	if err != nil {
		return Warrant{}, BadSignature
	}
	w, ok := parse(payload)
	if !ok {
		return Warrant{}, Malformed
	}
	return w, OK
}

// standing: it is for this executor, this call and this moment.
func (c *Checker) standing(w Warrant, e Expect) Verdict {
	now := c.cfg.Now()
	switch {
	case w.Audience != c.cfg.Audience:
		return WrongAudience
	case e.Tool != "" && e.Tool != w.Tool:
		return WrongTool
	case e.Action != "" && e.Action != w.Action, e.Attempt != 0 && e.Attempt != w.Attempt:
		return OtherAttempt
	case w.IssuedAt.After(now.Add(earliest)):
		return NotYet
	case c.late(w):
		return Late
	default:
		return OK
	}
}

// same: the bytes have one reading, and it is what was decided on. What cannot
// be read in one way is not.
func same(w Warrant, arguments []byte) bool {
	v, err := canon.Decode(arguments, canon.Options{MaxBytes: MaxArguments, Exact: true})
	if err != nil || v.Kind() != canon.Object {
		return false
	}
	args := v.Canonical()
	return canon.Sum(args) == w.Args && ProposalHash(w.Agent, w.Tool, string(args)) == w.Proposal
}

// use asks whether the attempt still stands and takes the one use.
func (c *Checker) use(ctx context.Context, w Warrant) Verdict {
	if c.cfg.Ask != nil && w.Attempt > 0 {
		standing, err := c.cfg.Ask(ctx, w)
		if err != nil {
			return Unavailable
		}
		if !standing {
			return Replayed
		}
		if c.late(w) { // asking took too long
			return Late
		}
	}
	v, err := c.cfg.Seen.Use(ctx, w)
	if err != nil {
		return Unavailable
	}
	if v == OK && c.late(w) { // remembering took too long: used up, and not run
		return Late
	}
	return v
}

// late: the send deadline has come.
func (c *Checker) late(w Warrant) bool { return !c.cfg.Now().Add(c.cfg.Skew).Before(w.SendBy) }

// Header is the HTTP header that carries a warrant: the envelope in base64url
// without padding (RFC 4648 §5).
const Header = "Verbatim-Warrant"

// AppendEncoded appends an envelope in the form of the header.
func AppendEncoded(out, envelope []byte) []byte {
	return base64.RawURLEncoding.AppendEncode(out, envelope)
}

// Encode returns an envelope in the form of the header.
func Encode(envelope []byte) string {
	var out strings.Builder // EncodeToString takes the room twice
	out.Grow(base64.RawURLEncoding.EncodedLen(len(envelope)))
	var piece [1024]byte
	const whole = len(piece) / 4 * 3
	for ; len(envelope) > whole; envelope = envelope[whole:] {
		base64.RawURLEncoding.Encode(piece[:], envelope[:whole])
		out.Write(piece[:])
	}
	out.Write(base64.RawURLEncoding.AppendEncode(piece[:0], envelope))
	return out.String()
}

// Decode reads the form of the header; it reports false for any other text.
func Decode(value string) ([]byte, bool) {
	if len(value) > base64.RawURLEncoding.EncodedLen(MaxEnvelope) {
		return nil, false
	}
	out, err := base64.RawURLEncoding.Strict().DecodeString(value)
	return out, err == nil && len(out) > 0 && Encode(out) == value
}
