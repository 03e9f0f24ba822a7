package auditbench_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

const origin = "log.example/bench"

// made is a log whose leaves can be made again from their numbers, so that
// only the tree over them is kept.
type made struct {
	hashes []canon.Digest
	head   audit.Head
	signed []byte
}

// leaf is the record at an index, as long as one of an allowed read.
func leaf(i int64) ([]byte, error) {
	const digest = "30a1fcc1c6cec492a4b58b410435c6b1a724a43b12f43a17f71c8dccb5bc94e2"
	return audit.Record{Seq: i + 1, ID: fmt.Sprintf("rec_%026d", i), Event: audit.ReadAllowed, Action: fmt.Sprintf("act_%026d", i),
		At: time.Unix(i, 0), Tenant: "acme", Tool: "bank.look", Agent: "helper", By: "user:pat", From: "received", Code: "ok",
		Facts:       map[string]string{"effect": "allow", "policyVersion": "0123456789abcdef.1"},
		Commitments: map[string]string{"arguments": digest, "proposalHash": digest}}.Leaf()
}

func logKey(t testing.TB) *keys.Signer {
	t.Helper()
	k, err := keys.NewSigner(keys.Checkpoints, bytes.Repeat([]byte{9}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func publicKey(t testing.TB) string {
	t.Helper()
	key, err := audit.LogKey(origin, logKey(t).Public()[0])
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// grown makes a log of size records and signs it.
func grown(t testing.TB, size int64) *made {
	t.Helper()
	m := &made{}
	for m.head.Size < size {
		var leaves []canon.Digest
		for i := m.head.Size; i < min(m.head.Size+1000, size); i++ {
			text, err := leaf(i)
			if err != nil {
				t.Fatal(err)
			}
			leaves = append(leaves, audit.LeafHash(text))
		}
		added, head, err := audit.Grow(m.head.Size, leaves, m.read)
		if err != nil {
			t.Fatal(err)
		}
		m.hashes, m.head = append(m.hashes, added...), head
	}
	var err error
	if m.signed, err = (audit.Checkpoint{Origin: origin, Head: m.head}).Sign(logKey(t)); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *made) read(positions []int64) ([]canon.Digest, error) {
	out := make([]canon.Digest, len(positions))
	for i, p := range positions {
		out[i] = m.hashes[p]
	}
	return out, nil
}

func (m *made) Origin(context.Context) (string, error)           { return origin, nil }
func (m *made) LatestCheckpoint(context.Context) ([]byte, error) { return m.signed, nil }
func (m *made) Head(context.Context) (audit.Head, error)         { return m.head, nil }

func (m *made) Hashes(_ context.Context, positions []int64) ([]canon.Digest, error) {
	return m.read(positions)
}

func (m *made) Entries(_ context.Context, s audit.Selection) (out []audit.Entry, err error) {
	for i := s.From; i < m.head.Size && len(out) < s.Most; i++ {
		text, err := leaf(i)
		if err != nil {
			return nil, err
		}
		out = append(out, audit.Entry{Index: i, Leaf: text})
	}
	return out, nil
}
