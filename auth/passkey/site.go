package passkey

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

// The refusals.
var (
	ErrSite         = errors.New("passkeys need an origin with a host name, by https or on localhost")
	ErrRegistration = errors.New("the browser's answer is no new passkey for this page")
)

// Site is where passkeys are valid: one origin, whose host is the RP ID. The
// zero Site accepts nothing.
type Site struct{ origin, rpID string }

// NewSite returns the site of an origin such as "https://approve.example.com".
// It fails with ErrSite where browsers would not make passkeys: an address in
// place of a name (WebAuthn Level 3 §5.1.3), or plain http.
func NewSite(origin string) (Site, error) {
	u, err := url.Parse(origin)
	if err != nil || u.Hostname() == "" || u.Scheme+"://"+u.Host != origin {
		return Site{}, ErrSite
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return Site{}, ErrSite
	}
	if u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != "localhost") {
		return Site{}, ErrSite
	}
	return Site{origin: origin, rpID: u.Hostname()}, nil
}

// Origin is the origin of the site; "" for the zero Site.
func (s Site) Origin() string { return s.origin }

// RPID is the name that authenticators know the site by.
func (s Site) RPID() string { return s.rpID }

// Algorithms are what a site asks for, best first (COSE: ES256, EdDSA, RS256).
func Algorithms() []int64 {
	return []int64{int64(webauthncose.AlgES256), int64(webauthncose.AlgEdDSA), int64(webauthncose.AlgRS256)}
}

// Created is what a browser answers when it made a passkey.
type Created struct {
	ID          []byte // of the credential
	ClientData  []byte
	Attestation []byte // the attestation object, CBOR
}

// Register checks a new passkey (WebAuthn Level 3 §7.1) and returns its public
// half with the count of signatures that the authenticator starts from. It
// fails with ErrRegistration.
func (s Site) Register(challenge []byte, c Created) (keys.Passkey, uint32, error) {
	if s.rpID == "" || len(challenge) == 0 {
		return keys.Passkey{}, 0, ErrRegistration
	}
	parsed, err := parse(c)
	if err != nil || !anonymous(parsed.Response.AttestationObject.Format) {
		return keys.Passkey{}, 0, fmt.Errorf("%w: it cannot be read", ErrRegistration)
	}
	_, err = parsed.Verify(base64.RawURLEncoding.EncodeToString(challenge), s.rpID, []string{s.origin}, nil, nil,
		protocol.TopOriginExplicitVerificationMode, false, true, true, nil, parameters(), protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
	if err != nil || parsed.Response.CollectedClientData.Origin != s.origin {
		return keys.Passkey{}, 0, fmt.Errorf("%w: it does not fit page, challenge or user verification", ErrRegistration)
	}
	data := parsed.Response.AttestationObject.AuthData
	key, err := publicKey(data.AttData.CredentialPublicKey)
	if err != nil {
		return keys.Passkey{}, 0, err
	}
	p, err := keys.NewPasskey(data.AttData.CredentialID, key)
	if err != nil {
		return keys.Passkey{}, 0, fmt.Errorf("%w: %w", ErrRegistration, err)
	}
	return p, data.Counter, nil
}

// anonymous reports whether an attestation is one that browsers give to a
// site that asks for none. Others would make the library read certificates.
func anonymous(format string) bool {
	return format == string(protocol.AttestationFormatNone) || format == string(protocol.AttestationFormatPacked)
}

// maxAnswer bounds each part of the answer in bytes.
const maxAnswer = 8 << 10

// parse reads the answer. The library reads untrusted CBOR; a panic of it is
// an answer that cannot be read. Its JSON decoder takes the last of duplicate
// names, so that ours reads the client data first.
func parse(c Created) (_ *protocol.ParsedCredentialCreationData, err error) {
	defer func() {
		if recover() != nil {
			err = ErrRegistration
		}
	}()
	if len(c.ID) > maxAnswer || len(c.Attestation) > maxAnswer {
		return nil, ErrRegistration
	}
	if _, err := canon.Decode(c.ClientData, canon.Options{MaxBytes: maxAnswer, FoldTwins: true}); err != nil {
		return nil, ErrRegistration
	}
	return protocol.CredentialCreationResponse{
		PublicKeyCredential: protocol.PublicKeyCredential{
			Credential: protocol.Credential{ID: base64.RawURLEncoding.EncodeToString(c.ID), Type: string(protocol.PublicKeyCredentialType)},
			RawID:      c.ID},
		AttestationResponse: protocol.AuthenticatorAttestationResponse{
			AuthenticatorResponse: protocol.AuthenticatorResponse{ClientDataJSON: c.ClientData}, AttestationObject: c.Attestation},
	}.Parse()
}

func parameters() []protocol.CredentialParameter {
	var out []protocol.CredentialParameter
	for _, alg := range Algorithms() {
		out = append(out, protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.COSEAlgorithmIdentifier(alg)})
	}
	return out
}

// publicKey turns a COSE key (RFC 9053) into one of the standard library.
func publicKey(cose []byte) (any, error) {
	parsed, err := webauthncose.ParsePublicKey(cose)
	if err != nil {
		return nil, fmt.Errorf("%w: its key cannot be read", ErrRegistration)
	}
	switch k := parsed.(type) {
	case webauthncose.EC2PublicKeyData:
		point := append(append([]byte{4}, k.XCoord...), k.YCoord...)
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
		if err != nil || k.Curve != int64(webauthncose.P256) {
			return nil, fmt.Errorf("%w: its key is not on P-256", ErrRegistration)
		}
		return key, nil
	case webauthncose.OKPPublicKeyData:
		return ed25519.PublicKey(k.XCoord), nil
	case webauthncose.RSAPublicKeyData:
		exponent := new(big.Int).SetBytes(k.Exponent)
		if !exponent.IsInt64() || exponent.Int64() > 1<<31-1 {
			return nil, fmt.Errorf("%w: its exponent is too large", ErrRegistration)
		}
		return &rsa.PublicKey{N: new(big.Int).SetBytes(k.Modulus), E: int(exponent.Int64())}, nil
	default:
		return nil, fmt.Errorf("%w: its key is of an unknown kind", ErrRegistration)
	}
}
