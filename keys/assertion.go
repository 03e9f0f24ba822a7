package keys

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Assertion is what an authenticator answers to a challenge (WebAuthn Level 3
// §5.2.2).
type Assertion struct {
	AuthenticatorData []byte
	ClientData        []byte // the browser's JSON, byte for byte
	Signature         []byte
}

// Proof is what an assertion that holds says beside the challenge.
type Proof struct {
	Origin string // of the page that asked, such as "https://approve.example.com"
	RPID   string // host of that origin; the authenticator signed its hash
	Count  uint32 // of signatures; 0 where the authenticator does not count
}

// ErrAssertion is returned for an assertion that does not hold. What wraps it
// says which rule is broken.
var ErrAssertion = errors.New("the passkey's signature does not hold")

func noAssertion(why string) error { return fmt.Errorf("%w: %s", ErrAssertion, why) }

// The layout of authenticator data (WebAuthn Level 3 §6.1).
const (
	rpIDHashSize    = sha256.Size
	authDataSize    = rpIDHashSize + 1 + 4
	flagPresent     = 0x01
	flagVerified    = 0x04
	flagBackupAble  = 0x08
	flagBackedUp    = 0x10
	flagAttested    = 0x40
	flagExtensions  = 0x80
	maxClientData   = 8 << 10
	maxAuthData     = 8 << 10
	clientDataDepth = 8
)

// Check verifies an assertion over a challenge (WebAuthn Level 3 §7.2, steps
// 10 to 22). User presence and user verification are required, a page inside
// another one is refused, and the signed RP ID must be the host of the
// signed origin: that host is for the caller to compare. It fails with
// ErrAssertion.
func (p Passkey) Check(challenge []byte, a Assertion) (Proof, error) {
	if p.key == nil || len(challenge) == 0 {
		return Proof{}, noAssertion("there is no key or no challenge")
	}
	client := sha256.Sum256(a.ClientData)
	if len(a.ClientData) > maxClientData || len(a.AuthenticatorData) > maxAuthData ||
		!p.holds(append(append([]byte(nil), a.AuthenticatorData...), client[:]...), a.Signature) {
		return Proof{}, noAssertion("another key signed it, or something else was signed")
	}
	origin, err := readClientData(challenge, a.ClientData)
	if err != nil {
		return Proof{}, err
	}
	return readAuthData(a.AuthenticatorData, origin)
}

// readClientData checks what the browser wrote and returns the origin.
func readClientData(challenge, text []byte) (*url.URL, error) {
	v, err := canon.Decode(text, canon.Options{MaxBytes: maxClientData, MaxDepth: clientDataDepth})
	if err != nil || v.Kind() != canon.Object {
		return nil, noAssertion("the client data is no JSON object")
	}
	field := func(name string) string {
		member, _ := v.Get(name)
		if member.Kind() != canon.String {
			return ""
		}
		return member.Text()
	}
	cross, hasCross := v.Get("crossOrigin")
	_, hasTop := v.Get("topOrigin")
	switch {
	case field("type") != "webauthn.get":
		return nil, noAssertion("it was made for something other than signing in or signing")
	case field("challenge") != base64.RawURLEncoding.EncodeToString(challenge):
		return nil, noAssertion("it answers another challenge")
	case hasCross && (cross.Kind() != canon.Bool || cross.Bool()), hasTop:
		return nil, noAssertion("the page was inside a page of somebody else")
	}
	origin, err := url.Parse(field("origin"))
	if err != nil || origin.Hostname() == "" || origin.Scheme+"://"+origin.Host != field("origin") {
		return nil, noAssertion("the client data names no origin")
	}
	return origin, nil
}

// readAuthData checks what the authenticator wrote.
func readAuthData(data []byte, origin *url.URL) (Proof, error) {
	if len(data) < authDataSize {
		return Proof{}, noAssertion("the authenticator's data is too short")
	}
	flags := data[rpIDHashSize]
	host := sha256.Sum256([]byte(origin.Hostname()))
	switch {
	case string(data[:rpIDHashSize]) != string(host[:]):
		return Proof{}, noAssertion("it was signed for another site")
	case flags&flagPresent == 0:
		return Proof{}, noAssertion("nobody touched the authenticator")
	case flags&flagVerified == 0:
		return Proof{}, noAssertion("the authenticator did not verify its user")
	case flags&flagBackedUp != 0 && flags&flagBackupAble == 0:
		return Proof{}, noAssertion("the flags contradict each other")
	case flags&flagAttested != 0, (flags&flagExtensions == 0) != (len(data) == authDataSize):
		return Proof{}, noAssertion("the authenticator's data has another layout")
	}
	return Proof{Origin: origin.String(), RPID: origin.Hostname(),
		Count: binary.BigEndian.Uint32(data[rpIDHashSize+1 : authDataSize])}, nil
}
