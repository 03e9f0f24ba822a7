package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/seed-de4804fb/verbatim/keys"
)

// algCosignature is the key type of a witness's timestamped signature (C2SP
// tlog-cosignature).
const algCosignature = 4

// timeSize is the length of the time before such a signature, in bytes.
const timeSize = 8

// Trust is whom a checker of checkpoints believes: public keys of logs and of
// witnesses in the form of C2SP signed-note.
type Trust struct {
	keys      note.Verifiers
	witnesses map[string]bool // name and hash
	plain     map[string][]ed25519.PublicKey
	some      bool // the zero value trusts nobody
}

// NewTrust reads public keys, as [LogKey] and [WitnessKey] write them.
func NewTrust(vkeys ...string) (Trust, error) {
	t := Trust{witnesses: map[string]bool{}, plain: map[string][]ed25519.PublicKey{}, some: len(vkeys) > 0}
	var all []note.Verifier
	seen := map[string]bool{}
	for i, text := range vkeys {
		v, key, witness, err := parseKey(strings.TrimSpace(text))
		if err != nil {
			return Trust{}, fmt.Errorf("key %d: %w", i+1, err)
		}
		id := keyName(v.Name(), v.KeyHash())
		if !seen[id] {
			seen[id] = true
			all = append(all, v)
			if !witness {
				t.plain[v.Name()] = append(t.plain[v.Name()], key)
			}
		}
		if witness {
			t.witnesses[id] = true
		}
	}
	t.keys = note.VerifierList(all...)
	return t, nil
}

func keyName(name string, hash uint32) string { return fmt.Sprintf("%s+%08x", name, hash) }

var errKey = errors.New("expected name+hash+key of a signed note, Ed25519")

// parseKey reads one public key and says whether it is a witness's.
func parseKey(text string) (v note.Verifier, key ed25519.PublicKey, witness bool, err error) {
	parts := strings.SplitN(text, "+", 3)
	if len(parts) != 3 {
		return nil, nil, false, errKey
	}
	typed, err := base64.StdEncoding.Strict().DecodeString(parts[2])
	if err != nil || len(typed) != 1+ed25519.PublicKeySize {
		return nil, nil, false, errKey
	}
	key = typed[1:]
	if typed[0] != algCosignature {
		if v, err = note.NewVerifier(text); err != nil {
			return nil, nil, false, errKey
		}
		return v, key, false, nil
	}
	hash := noteHash(parts[0], typed)
	if parts[0] == "" || parts[1] != fmt.Sprintf("%08x", hash) {
		return nil, nil, false, errKey
	}
	return cosigner{parts[0], hash, key}, key, true, nil
}

// noteHash is the hash by which a note names a key (C2SP signed-note).
func noteHash(name string, key []byte) uint32 {
	h := sha256.New()
	h.Write([]byte(name + "\n"))
	h.Write(key)
	return binary.BigEndian.Uint32(h.Sum(nil))
}

// WitnessKey is the public key of a witness as checkers pin it.
func WitnessKey(name string, key ed25519.PublicKey) string {
	typed := append([]byte{algCosignature}, key...)
	return keyName(name, noteHash(name, typed)) + "+" + base64.StdEncoding.EncodeToString(typed)
}

// cosigner verifies what a witness signed.
type cosigner struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func (c cosigner) Name() string    { return c.name }
func (c cosigner) KeyHash() uint32 { return c.hash }

// Verify implements note.Verifier.
func (c cosigner) Verify(msg, sig []byte) bool {
	if len(sig) != timeSize+ed25519.SignatureSize {
		return false
	}
	at := binary.BigEndian.Uint64(sig)
	return at <= 1<<62 && ed25519.Verify(c.key, cosigned(at, msg), sig[timeSize:])
}

// cosigned is what a witness signs.
func cosigned(at uint64, msg []byte) []byte {
	return append([]byte("cosignature/v1\ntime "+strconv.FormatUint(at, 10)+"\n"), msg...)
}

// Opened is a checkpoint with what its signatures say.
type Opened struct {
	Checkpoint
	ByLog     bool                 // a trusted key of its own origin signed it
	Witnesses map[string]time.Time // trusted witnesses that signed it, and when
}

// Open reads a signed checkpoint on which at least one trusted signature
// holds. A signature of a trusted key that does not hold refuses it as a
// whole. It fails with ErrCheckpoint or ErrUntrusted.
func (t Trust) Open(signed []byte) (Opened, error) {
	if len(signed) > MaxCheckpoint {
		return Opened{}, ErrCheckpoint
	}
	if !t.some {
		return Opened{}, ErrUntrusted
	}
	n, err := note.Open(signed, t.keys)
	var unverified *note.UnverifiedNoteError
	var invalid *note.InvalidSignatureError
	switch {
	case errors.As(err, &unverified), errors.As(err, &invalid):
		return Opened{}, ErrUntrusted
	case err != nil:
		return Opened{}, ErrCheckpoint
	}
	c, err := parseCheckpoint(n.Text)
	if err != nil {
		return Opened{}, err
	}
	o := Opened{Checkpoint: c, Witnesses: map[string]time.Time{}}
	for _, s := range n.Sigs {
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return Opened{}, fmt.Errorf("%w: a signature has stray bits", ErrCheckpoint)
		}
		if !t.witnesses[keyName(s.Name, s.Hash)] {
			o.ByLog = o.ByLog || s.Name == c.Origin
			continue
		}
		if at, ok := signedAt(s); ok {
			o.Witnesses[s.Name] = at
		}
	}
	if !o.ByLog && len(o.Witnesses) == 0 {
		return Opened{}, ErrUntrusted // somebody else's name
	}
	return o, nil
}

// signedAt is the time in a witness's signature, which holds.
func signedAt(s note.Signature) (time.Time, bool) {
	b, err := base64.StdEncoding.DecodeString(s.Base64)
	if err != nil || len(b) < 4+timeSize {
		return time.Time{}, false
	}
	return time.Unix(int64(binary.BigEndian.Uint64(b[4:])), 0).UTC(), true
}

// ReadUntrusted reads the text of a signed checkpoint without looking at its
// signatures. It is for finding out which key is needed, never for deciding.
func ReadUntrusted(signed []byte) (Checkpoint, error) {
	text, _, found := strings.Cut(string(signed), "\n\n")
	if !found || len(signed) > MaxCheckpoint {
		return Checkpoint{}, ErrCheckpoint
	}
	return parseCheckpoint(text + "\n")
}

// Cosign returns the line with which a witness signs the checkpoint at a time
// (C2SP tlog-cosignature).
func (c Checkpoint) Cosign(name string, at time.Time, s *keys.Signer) ([]byte, error) {
	if s == nil || s.Purpose() != keys.Witnesses || at.Unix() < 0 {
		return nil, errors.New("a witness needs a key for witnesses and a time since 1970")
	}
	key := s.Public()[0]
	sig := binary.BigEndian.AppendUint32(nil, noteHash(name, append([]byte{algCosignature}, key...)))
	sig = binary.BigEndian.AppendUint64(sig, uint64(at.Unix()))
	made, err := s.SignBytes(0, cosigned(uint64(at.Unix()), []byte(c.Text())))
	if err != nil {
		return nil, err
	}
	return []byte("— " + name + " " + base64.StdEncoding.EncodeToString(append(sig, made...)) + "\n"), nil
}

// Knows reports whether a key of a log is trusted.
func (t Trust) Knows(origin string) bool { return len(t.plain[origin]) > 0 }

// Joined is a signed checkpoint with more signature lines; lines of a key that
// has signed already replace what it signed.
func Joined(signed, lines []byte) []byte {
	text, tail, found := strings.Cut(string(signed), "\n\n")
	if !found {
		return signed
	}
	var out []string
	fresh := map[string]bool{}
	for line := range strings.Lines(string(lines)) {
		fresh[signedBy(line)] = true
	}
	for line := range strings.Lines(tail) {
		if !fresh[signedBy(line)] {
			out = append(out, line)
		}
	}
	return []byte(text + "\n\n" + strings.Join(out, "") + string(lines))
}

// signedBy names the key of a signature line: its name and hash.
func signedBy(line string) string {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return line
	}
	sig, err := base64.StdEncoding.DecodeString(fields[2])
	if err != nil || len(sig) < 4 {
		return line
	}
	return keyName(fields[1], binary.BigEndian.Uint32(sig))
}

// Empty reports whether nobody is trusted.
func (t Trust) Empty() bool { return !t.some }
