package gate

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// stateTime is how long a client may take to answer what a server asked for.
const stateTime = 15 * time.Minute

// States guards what a server that asks for input gives its client to bring
// back (MCP 2026-07-28, requestState). The client gets it sealed, and it opens
// only for the same principal, server, method and parameters, for some
// minutes: a state of one call is none of another. The server gets its own
// bytes back.
//
// The key is of this process; after a restart the client begins anew. It is
// safe for concurrent use.
type States struct{ aead cipher.AEAD }

// NewStates makes a key.
func NewStates() (*States, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &States{aead}, err
}

const (
	requestState = "/params/requestState"
	resultState  = "/result/requestState"
)

var errState = errors.New("the requestState is not one of this request, or is too old")

// Open gives a request that brings a state back the server's own one. It fails
// where the state was not given for this request.
func (s *States) Open(m *wire.Message, who verbatim.Session, server string) (*wire.Message, error) {
	raw, found, err := m.Member(requestState)
	if err != nil || !found {
		return m, err
	}
	bound := belongs(who, server, m)
	text, ok := wire.Text(raw)
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if !ok || err != nil {
		return nil, errState
	}
	plain, err := s.aead.Open(nil, nil, sealed, bound[:])
	if err != nil || len(plain) < 8 {
		return nil, errState
	}
	if until := int64(binary.BigEndian.Uint64(plain)); time.Now().Unix() > until {
		return nil, errState
	}
	return m.WithMember(requestState, plain[8:])
}

// Seal gives an answer that asks for input a state that only the request m
// opens.
func (s *States) Seal(answer, m *wire.Message, who verbatim.Session, server string) (*wire.Message, error) {
	if answer == nil || answer.Kind() != wire.KindResult {
		return answer, nil
	}
	raw, found, err := answer.Member(resultState)
	if err != nil || !found {
		return answer, err
	}
	bound := belongs(who, server, m)
	if _, ok := wire.Text(raw); !ok {
		return nil, errState
	}
	plain := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(stateTime).Unix()))
	sealed := s.aead.Seal(nil, nil, append(plain, raw...), bound[:])
	return answer.WithMember(resultState, canon.StringValue(base64.RawURLEncoding.EncodeToString(sealed)).Canonical())
}

// belongs is what a state belongs to: who asks which server for what. Arguments
// count by what they say, not by how they are spelled.
func belongs(s verbatim.Session, server string, m *wire.Message) canon.Digest {
	parts := []canon.Value{}
	for _, text := range []string{s.Tenant, s.Principal, s.Agent, server, m.Method()} {
		parts = append(parts, canon.StringValue(text))
	}
	for _, at := range []string{"/params/name", "/params/uri", "/params/arguments", "/params/ref", "/params/argument"} {
		parts = append(parts, said(m, at))
	}
	return canon.Digest(sha256.Sum256(canon.ArrayValue(parts...).Canonical()))
}

func said(m *wire.Message, pointer string) canon.Value {
	raw, found, err := m.Member(pointer)
	if err != nil || !found {
		return canon.ArrayValue()
	}
	v, err := canon.Decode(raw, canon.Options{})
	if err != nil { // it will be refused; until then its spelling counts
		v = canon.StringValue(base64.StdEncoding.EncodeToString(raw))
	}
	return canon.ArrayValue(v)
}
