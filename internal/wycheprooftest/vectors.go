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
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
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

// Read returns the tests of a file, at least as many as are wanted.
func Read(t testing.TB, file string, atLeast int) []Vector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(needs.Module(t, Module), "testvectors_v1", file))
	if err != nil {
		t.Fatal(err)
	}
	suite, err := canon.Decode(text, canon.Options{MaxBytes: 16 << 20, MaxNodes: 1_000_000})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var out []Vector
	for _, g := range get(suite, "testGroups").Elements() {
		key := Vector{DER: unhex(t, get(g, "publicKeyDer")), Raw: unhex(t, get(g, "publicKey", "pk")), JWK: jwk(g)}
		for _, v := range get(g, "tests").Elements() {
			one := key
			id, _ := get(v, "tcId").Int64()
			one.ID, one.Comment, one.JWS = int(id), get(v, "comment").Text(), get(v, "jws").Text()
			one.Message, one.Sig = unhex(t, get(v, "msg")), unhex(t, get(v, "sig"))
			one.Valid, one.Either = get(v, "result").Text() == "valid", get(v, "result").Text() == "acceptable"
			out = append(out, one)
		}
	}
	if len(out) < atLeast {
		t.Fatalf("%s has %d tests, not %d", file, len(out), atLeast)
	}
	return out
}

// get is a member of a member; null where there is none.
func get(v canon.Value, names ...string) canon.Value {
	for _, name := range names {
		v, _ = v.Get(name)
	}
	return v
}

// jwk is the key of a group in the form of RFC 7517, under whatever name.
func jwk(group canon.Value) []byte {
	for _, name := range []string{"publicKeyJwk", "keyJwk", "public", "private"} {
		if v, ok := group.Get(name); ok && v.Kind() == canon.Object {
			return v.Canonical()
		}
	}
	return nil
}

// Check fails the test where a verifier said something else than it must.
func (v Vector) Check(t testing.TB, file string, holds bool) {
	t.Helper()
	if holds != v.Valid && !v.Either {
		t.Errorf("%s, test %d (%s): holds: %v, must: %v", file, v.ID, v.Comment, holds, v.Valid)
	}
}

func unhex(t testing.TB, v canon.Value) []byte {
	t.Helper()
	b, err := hex.DecodeString(v.Text())
	if err != nil {
		t.Fatal(err)
	}
	return b
}
