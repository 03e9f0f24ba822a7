package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// The limits of a password.
const (
	MinPassword      = 10   // characters, or
	MinPasswordWords = 4    // words of any length
	MaxPassword      = 1024 // bytes, before and after normalization
	minDifferent     = 5    // characters that differ
)

// ErrPassword is returned for a password that an account must not have. The
// error that wraps it says which rule it breaks, and never the password.
var ErrPassword = errors.New("the password cannot be used")

func weak(why string) error { return fmt.Errorf("%w: %s", ErrPassword, why) }

// errHash is returned for stored text that is not a hash of ours.
var errHash = errors.New("stored password hash is not argon2id in PHC form within its limits")

// The cost of a password (RFC 9106 §4, second recommendation). A stored hash
// that costs less is refused, so that nobody can weaken one by editing it.
const (
	hashMemory  = 64 * 1024 // KiB
	hashTime    = 3
	hashThreads = 4
	hashSalt    = 16 // bytes
	hashKey     = 32 // bytes
	maxMemory   = 1024 * 1024
	maxTime     = 16
)

// tried are passwords long enough for the rules that every guesser knows.
var tried = []string{
	"0123456789", "1234567890", "12345678910", "0987654321", "qwertyuiop", "1q2w3e4r5t", "1qaz2wsx3edc", "password12", "password123",
	"password1234", "passwordpassword", "administrator", "changeme123", "letmein123", "welcome123", "iloveyou123",
	"qwerty12345", "qwerty123456", "correct horse battery staple", "correcthorsebatterystaple",
}

// cleanPassword is the OpaqueString profile of RFC 8265 §4.2 without its
// mapping of spaces: NFC, no control characters.
func cleanPassword(password string) (string, bool) {
	if len(password) == 0 || len(password) > MaxPassword || !utf8.ValidString(password) {
		return "", false
	}
	if strings.ContainsFunc(password, unicode.IsControl) {
		return "", false
	}
	clean := norm.NFC.String(password)
	return clean, len(clean) <= MaxPassword
}

// newPassword checks a password that somebody chooses.
func newPassword(name, password string) (string, error) {
	clean, ok := cleanPassword(password)
	if !ok {
		return "", weak("it must have 1 to 1024 bytes of UTF-8 and no control characters")
	}
	if utf8.RuneCountInString(clean) < MinPassword && len(strings.Fields(clean)) < MinPasswordWords {
		return "", weak("it needs at least 10 characters or 4 words")
	}
	different := map[rune]bool{}
	for _, r := range clean {
		different[r] = true
	}
	if len(different) < minDifferent {
		return "", weak("it needs at least 5 characters that differ")
	}
	if strings.EqualFold(clean, name) {
		return "", weak("it must not be the name")
	}
	for _, known := range tried {
		if strings.EqualFold(clean, known) {
			return "", weak("it is one that everybody tries first")
		}
	}
	return clean, nil
}

// phc is one hash with its parameters.
type phc struct {
	memory, time uint32
	threads      uint8
	salt, key    []byte
}

func hashPassword(clean string) string {
	p := phc{memory: hashMemory, time: hashTime, threads: hashThreads, salt: make([]byte, hashSalt)}
	rand.Read(p.salt)
	p.key = p.derive(clean, hashKey)
	return p.String()
}

func (p phc) derive(clean string, size uint32) []byte {
	return argon2.IDKey([]byte(clean), p.salt, p.time, p.memory, p.threads, size)
}

// String returns the PHC string form.
func (p phc) String() string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.time, p.threads,
		b64.EncodeToString(p.salt), b64.EncodeToString(p.key))
}

// parsePHC reads a stored hash. What it accepts prints back byte for byte.
func parsePHC(text string) (phc, error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 {
		return phc{}, errHash
	}
	var p phc
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.time, &p.threads); err != nil {
		return phc{}, errHash
	}
	b64 := base64.RawStdEncoding.Strict()
	var saltErr, keyErr error
	p.salt, saltErr = b64.DecodeString(parts[4])
	p.key, keyErr = b64.DecodeString(parts[5])
	if saltErr != nil || keyErr != nil || p.String() != text || !p.strong() {
		return phc{}, errHash
	}
	return p, nil
}

func (p phc) strong() bool {
	return p.memory >= hashMemory && p.memory <= maxMemory &&
		p.time >= hashTime && p.time <= maxTime && p.threads >= 1 &&
		len(p.salt) >= hashSalt && len(p.salt) <= 64 && len(p.key) == hashKey
}

// matches compares in constant time.
func (p phc) matches(clean string) bool {
	return subtle.ConstantTimeCompare(p.key, p.derive(clean, hashKey)) == 1
}
