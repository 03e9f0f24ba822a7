package auditbench_test

import (
	"math/bits"
	"os"
	"testing"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// steps is the length of an inclusion proof by the definition of RFC 6962
// §2.1.1, in hashes.
func steps(index, size int64) int {
	if size == 1 {
		return 0
	}
	left := int64(1) << (bits.Len64(uint64(size-1)) - 1) // the largest power of two below size
	if index < left {
		return 1 + steps(index, left)
	}
	return 1 + steps(index-left, size-left)
}

func TestProofsOfALongLogHoldAndHaveTheLengthOfTheirDefinition(t *testing.T) {
	t.Parallel()
	const size = 10_000
	m := grown(t, size)
	longest := 0
	for i := int64(0); i < size; i += 7 {
		proof, err := audit.ProveInclusion(size, i, m.read)
		if err != nil {
			t.Fatal(err)
		}
		if len(proof) != steps(i, size) {
			t.Fatalf("proof of record %d has %d hashes, want %d", i+1, len(proof), steps(i, size))
		}
		longest = max(longest, len(proof))
		text, err := leaf(i)
		if err != nil {
			t.Fatal(err)
		}
		if err := audit.CheckInclusion(m.head, i, audit.LeafHash(text), proof); err != nil {
			t.Fatalf("record %d: %v", i+1, err)
		}
		if err := audit.CheckInclusion(m.head, i, canon.Sum(text), proof); err == nil {
			t.Fatalf("record %d: the proof holds for something else", i+1)
		}
	}
	if longest != bits.Len64(size-1) {
		t.Errorf("longest proof: %d hashes, want %d", longest, bits.Len64(size-1))
	}
}

func TestProofAtAMillionFitsIntoAKibibyte(t *testing.T) {
	t.Parallel()
	for i := int64(0); i < 1_000_000; i += 997 {
		if n := steps(i, 1_000_000) * len(canon.Digest{}); n > 640 {
			t.Fatalf("proof of record %d: %d bytes", i+1, n)
		}
	}
}

func TestBothCheckersCallALongLogComplete(t *testing.T) {
	t.Parallel()
	const size = 10_000
	d := written(t, grown(t, size))
	l, err := audit.OpenExported(os.DirFS(d.dir))
	if err != nil {
		t.Fatal(err)
	}
	trust, err := audit.NewTrust(publicKey(t))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := os.ReadFile(d.checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	r, err := audit.Verify(t.Context(), l, trust, audit.Outside{Name: "kept", Signed: signed})
	if err != nil || r.Complete != size {
		t.Errorf("ours: %+v, %v", r, err)
	}
	if n, _ := completeTo(t, node(t, d)); n != size {
		t.Errorf("the independent one: complete up to %d", n)
	}
}
