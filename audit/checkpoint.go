package audit

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

// MaxCheckpoint is the longest signed checkpoint in bytes.
const MaxCheckpoint = 16 << 10

// The refusals of checkpoints.
var (
	ErrCheckpoint = errors.New("not a signed checkpoint")
	ErrUntrusted  = errors.New("no trusted key has signed the checkpoint")
)

// Checkpoint says how long a log was and which root it had (C2SP
// tlog-checkpoint). Its origin names the log; a log keeps it for ever.
type Checkpoint struct {
	Origin string
	Head
}

// NewOrigin returns a name that no other log has.
func NewOrigin(random string) string { return "verbatim.invalid/log/" + strings.ToLower(random) }

// Text is what is signed: origin, size and root, one a line.
func (c Checkpoint) Text() string {
	return c.Origin + "\n" + strconv.FormatInt(c.Size, 10) + "\n" + base64.StdEncoding.EncodeToString(c.Root[:]) + "\n"
}

// parseCheckpoint reads the text of a checkpoint whose signature holds.
// Lines after the third are extensions, which none of ours has.
func parseCheckpoint(text string) (Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[0] == "" || lines[3] != "" {
		return Checkpoint{}, fmt.Errorf("%w: expected origin, size and root", ErrCheckpoint)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return Checkpoint{}, fmt.Errorf("%w: line 2 is no size", ErrCheckpoint)
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != len(canon.Digest{}) || base64.StdEncoding.EncodeToString(root) != lines[2] {
		return Checkpoint{}, fmt.Errorf("%w: line 3 is no root", ErrCheckpoint)
	}
	c := Checkpoint{Origin: lines[0], Head: Head{Size: size, Root: canon.Digest(root)}}
	if size == 0 && c.Head != EmptyHead() {
		return Checkpoint{}, fmt.Errorf("%w: the empty log has another root", ErrCheckpoint)
	}
	return c, nil
}

// LogKey is a public key of a log in the form of C2SP signed-note: name, hash
// and key. Whoever checks the log pins it.
func LogKey(origin string, key ed25519.PublicKey) (string, error) {
	return note.NewEd25519VerifierKey(origin, key)
}

// noteSigner signs notes with a key of the ring.
type noteSigner struct {
	name string
	hash uint32
	sign func([]byte) ([]byte, error)
}

func (s noteSigner) Name() string                    { return s.name }
func (s noteSigner) KeyHash() uint32                 { return s.hash }
func (s noteSigner) Sign(msg []byte) ([]byte, error) { return s.sign(msg) }

// Sign signs the checkpoint with every key that the signer has, so that
// whoever has pinned an older key can still check what a newer one signs.
func (c Checkpoint) Sign(s *keys.Signer) ([]byte, error) {
	public := s.Public()
	signers := make([]note.Signer, len(public))
	for i, key := range public {
		vkey, err := LogKey(c.Origin, key)
		if err != nil {
			return nil, fmt.Errorf("sign checkpoint: %w", err)
		}
		v, err := note.NewVerifier(vkey)
		if err != nil {
			return nil, fmt.Errorf("sign checkpoint: %w", err)
		}
		signers[i] = noteSigner{v.Name(), v.KeyHash(), func(msg []byte) ([]byte, error) { return s.SignBytes(i, msg) }}
	}
	return note.Sign(&note.Note{Text: c.Text()}, signers...)
}
