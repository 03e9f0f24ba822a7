// Package wycheprooftest reads the Wycheproof test vectors of signatures.
//
// In: a test and the name of a file of testvectors_v1. Out: one [Vector] for
// each test in it, with the key in every form that the file has. The vectors
// are a pinned Go module in the module cache, where scripts/test-tools puts
// it; where it is missing, the test is skipped or fails as package needs says.
// It must be imported by tests only.
package wycheprooftest

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-de4804fb/verbatim/internal/needs"
)

// Module is the module that is pinned; scripts/test-tools names it, too, with
// its sum.
const Module = "github.com/c2sp/wycheproof@v0.0.0-20260902155932-3fa63dd0344a"

// Vector is one test.
type Vector struct {
	ID      int
	Comment string
	// DER is the key as SubjectPublicKeyInfo, JWK in the form of RFC 7517, and
	// Raw an Ed25519 key of 32 bytes. Each is nil where the file has none.
	DER, JWK, Raw []byte
	Message, Sig  []byte
	JWS           string // in files of JSON Web Signature
	// Valid is what a verifier must say; with Either, both answers are right.
	Valid, Either bool
}

type suite struct {
	TestGroups []struct {
		PublicKeyDER string
		PublicKeyJWK json.RawMessage
		KeyJWK       json.RawMessage
		PublicKey    struct{ PK string }
		Public       json.RawMessage
		Private      json.RawMessage
		Tests        []struct {
			TCID                           int
			Comment, Msg, Sig, JWS, Result string
		}
	}
}

// Read returns the tests of a file, at least as many as are wanted.
func Read(t testing.TB, file string, atLeast int) []Vector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(needs.Module(t, Module), "testvectors_v1", file))
	if err != nil {
		t.Fatal(err)
	}
	var s suite
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var out []Vector
	for _, g := range s.TestGroups {
		key := Vector{DER: unhex(t, g.PublicKeyDER), JWK: first(g.PublicKeyJWK, g.KeyJWK, g.Public, g.Private), Raw: unhex(t, g.PublicKey.PK)}
		for _, v := range g.Tests {
			one := key
			one.ID, one.Comment, one.JWS = v.TCID, v.Comment, v.JWS
			one.Message, one.Sig = unhex(t, v.Msg), unhex(t, v.Sig)
			one.Valid, one.Either = v.Result == "valid", v.Result == "acceptable"
			out = append(out, one)
		}
	}
	if len(out) < atLeast {
		t.Fatalf("%s has %d tests, not %d", file, len(out), atLeast)
	}
	return out
}

// Check fails the test where a verifier said something else than it must.
func (v Vector) Check(t testing.TB, file string, holds bool) {
	t.Helper()
	if holds != v.Valid && !v.Either {
		t.Errorf("%s, test %d (%s): holds: %v, must: %v", file, v.ID, v.Comment, holds, v.Valid)
	}
}

func first(texts ...json.RawMessage) []byte {
	for _, text := range texts {
		if len(text) > 0 {
			return text
		}
	}
	return nil
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
