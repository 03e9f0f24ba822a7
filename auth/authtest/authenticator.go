package authtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/url"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/passkey"
	"github.com/seed-de4804fb/verbatim/keys"
)

// Authenticator is an authenticator with its browser, in memory, with one
// passkey on P-256. Its fields may be changed to make it misbehave.
type Authenticator struct {
	Origin string // that the browser states
	RPID   string // that the authenticator signs
	ID     []byte
	Count  uint32
	Flags  byte // of assertions: user present (1) and verified (4)
	Key    *ecdsa.PrivateKey
}

// NewAuthenticator returns an authenticator for the pages of an origin.
func NewAuthenticator(origin string) (*Authenticator, error) {
	u, err := url.Parse(origin)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	a := &Authenticator{Origin: origin, RPID: u.Hostname(), ID: make([]byte, 16), Count: 1, Flags: 5, Key: key}
	rand.Read(a.ID)
	return a, nil
}

func (a *Authenticator) clientData(kind string, challenge []byte) []byte {
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": base64.RawURLEncoding.EncodeToString(challenge),
		"origin": a.Origin, "crossOrigin": false})
	if err != nil {
		panic(err) // a map of texts can be written
	}
	return text
}

func (a *Authenticator) data(flags byte) []byte {
	host := sha256.Sum256([]byte(a.RPID))
	return binary.BigEndian.AppendUint32(append(host[:], flags), a.Count)
}

// Create makes the passkey: what a browser answers to create().
func (a *Authenticator) Create(challenge []byte) passkey.Created {
	point, err := a.Key.PublicKey.Bytes()
	if err != nil {
		panic(err) // the key is one of ours
	}
	// COSE_Key {1: 2, 3: -7, -1: 1, -2: x, -3: y} (RFC 9053 §7.1).
	cose := []byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20}
	cose = append(append(append(cose, point[1:33]...), 0x22, 0x58, 0x20), point[33:]...)
	data := append(a.data(a.Flags|0x40), make([]byte, 16)...) // no AAGUID
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(a.ID))), a.ID...)
	data = append(data, cose...)
	object := append([]byte{0xa3}, cborText("fmt")...)
	object = append(append(object, cborText("none")...), cborText("attStmt")...)
	object = append(append(object, 0xa0), cborText("authData")...)
	object = append(binary.BigEndian.AppendUint16(append(object, 0x59), uint16(len(data))), data...)
	return passkey.Created{ID: a.ID, ClientData: a.clientData("webauthn.create", challenge), Attestation: object}
}

func cborText(text string) []byte { return append([]byte{0x60 | byte(len(text))}, text...) }

// Assert signs a challenge: what a browser answers to get().
func (a *Authenticator) Assert(challenge []byte) auth.Assertion {
	a.Count++
	data, client := a.data(a.Flags), a.clientData("webauthn.get", challenge)
	sum := sha256.Sum256(client)
	message := sha256.Sum256(append(append([]byte(nil), data...), sum[:]...))
	sig, err := ecdsa.SignASN1(rand.Reader, a.Key, message[:])
	if err != nil {
		panic(err) // the key is one of ours
	}
	return auth.Assertion{CredentialID: a.ID, Assertion: keys.Assertion{AuthenticatorData: data, ClientData: client, Signature: sig}}
}
