package audit_test

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// stored is a tree in memory.
type stored []canon.Digest

func (s *stored) read(positions []int64) ([]canon.Digest, error) {
	out := make([]canon.Digest, len(positions))
	for i, p := range positions {
		if p < 0 || p >= int64(len(*s)) {
			return nil, fs.ErrNotExist
		}
		out[i] = (*s)[p]
	}
	return out, nil
}

func leafN(n int) canon.Digest { return audit.LeafHash([]byte{byte(n >> 8), byte(n)}) }

// grown is a tree that was grown in steps, and its heads at each size.
func grown(t interface{ Fatal(...any) }, size int, step func(left int) int) (*stored, []audit.Head) {
	var s stored
	var one audit.Tree
	heads := []audit.Head{one.Head()}
	for n := 0; n < size; {
		var leaves []canon.Digest
		for range step(size - n) {
			leaves = append(leaves, leafN(n+len(leaves)))
			one.Add(leaves[len(leaves)-1])
			heads = append(heads, one.Head())
		}
		added, head, err := audit.Grow(int64(n), leaves, s.read)
		if err != nil {
			t.Fatal(err)
		}
		s = append(s, added...)
		n += len(leaves)
		if head != heads[n] || int64(len(s)) != audit.StoredHashes(int64(n)) {
			t.Fatal("grown in steps and leaf by leaf differ at", n)
		}
	}
	return &s, heads
}

// TestGrownHashesAreTheLibrarys: what is stored of a tree, and its head, are
// what the library makes of the same leaves one by one.
func TestGrownHashesAreTheLibrarys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 300).Draw(t, "size")
		s, heads := grown(t, size, func(left int) int { return rapid.IntRange(1, left).Draw(t, "step") })
		var want []tlog.Hash
		stored := tlog.HashReaderFunc(func(positions []int64) (out []tlog.Hash, err error) {
			for _, p := range positions {
				out = append(out, want[p])
			}
			return out, nil
		})
		for n := range size {
			more, err := tlog.StoredHashesForRecordHash(int64(n), tlog.Hash(leafN(n)), stored)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, more...)
		}
		for i, h := range want {
			if canon.Digest(h) != (*s)[i] {
				t.Fatalf("of %d leaves, hash %d is another", size, i)
			}
		}
		if root, err := tlog.TreeHash(int64(size), stored); err != nil || canon.Digest(root) != heads[size].Root || len(want) != len(*s) {
			t.Fatalf("%d leaves have another root, or %d hashes instead of %d: %v", size, len(*s), len(want), err)
		}
	})
}

// TestTreeIsTheSameHoweverItGrew also proves every leaf and every older tree
// of what it has grown.
func TestTreeIsTheSameHoweverItGrew(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		size := rapid.IntRange(1, 70).Draw(r, "size")
		s, heads := grown(r, size, func(left int) int { return rapid.IntRange(1, left).Draw(r, "step") })
		at := rapid.IntRange(1, size).Draw(r, "at")
		head, err := audit.HeadAt(int64(at), s.read)
		if err != nil || head != heads[at] {
			r.Fatalf("head at %d: %v, %v", at, head, err)
		}
		for old := 1; old <= at; old++ {
			proof, err := audit.ProveConsistency(int64(at), int64(old), s.read)
			if err != nil {
				r.Fatal(err)
			}
			if err := audit.CheckConsistency(heads[at], heads[old], proof); err != nil {
				r.Fatalf("from %d to %d: %v", old, at, err)
			}
			if old < at {
				if err := audit.CheckConsistency(heads[at], audit.Head{Size: int64(old), Root: leafN(0xffff)}, proof); err == nil {
					r.Fatalf("another root of %d is accepted", old)
				}
			}
		}
		for i := range at {
			proof, err := audit.ProveInclusion(int64(at), int64(i), s.read)
			if err != nil {
				r.Fatal(err)
			}
			if err := audit.CheckInclusion(heads[at], int64(i), leafN(i), proof); err != nil {
				r.Fatalf("leaf %d of %d: %v", i, at, err)
			}
			if err := audit.CheckInclusion(heads[at], int64(i), leafN(i+1), proof); err == nil {
				r.Fatalf("another leaf at %d of %d is accepted", i, at)
			}
		}
	})
}

func TestProofsOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s, heads := grown(t, 5, func(int) int { return 5 })
	for name, err := range map[string]error{
		"a leaf beyond the tree":         third(audit.ProveInclusion(5, 5, s.read)),
		"a leaf before it":               third(audit.ProveInclusion(5, -1, s.read)),
		"a larger older tree":            third(audit.ProveConsistency(5, 6, s.read)),
		"an older tree of negative size": third(audit.ProveConsistency(5, -1, s.read)),
		"an older tree without a leaf":   third(audit.ProveConsistency(5, 0, s.read)),
		"a check beyond the tree":        audit.CheckInclusion(heads[5], 5, leafN(5), nil),
		"a check of a larger older tree": audit.CheckConsistency(heads[4], heads[5], nil),
		"the empty tree":                 audit.CheckConsistency(heads[5], heads[0], nil),
		"the same size, another root":    audit.CheckConsistency(heads[5], audit.Head{Size: 5}, nil),
		"the same size, with a proof":    audit.CheckConsistency(heads[5], heads[5], []canon.Digest{{}}),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func third(_ []canon.Digest, err error) error { return err }

// vectors reads every file of a folder of the public Merkle suite.
func vectors(t *testing.T, kind string, each func(name string, v canon.Value)) {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "suites", "merkle", "testdata", kind)
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the public Merkle suite is not here")
	}
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		v, err := canon.Decode(text, canon.Options{})
		if err != nil {
			return err
		}
		n++
		each(strings.TrimPrefix(path, dir), v)
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("%d vectors, %v", n, err)
	}
	t.Logf("%d vectors", n)
}

// digestsIn reads hashes. Words that stand for a hash of another length are
// mapped to one, each to its own; false where there is none at all.
func digestsIn(v canon.Value, name string) ([]canon.Digest, bool) {
	member, _ := v.Get(name)
	texts := []canon.Value{member}
	if member.Kind() != canon.String {
		texts = member.Elements()
	}
	var out []canon.Digest
	for _, text := range texts {
		b, err := base64.StdEncoding.DecodeString(text.Text())
		if err != nil || len(b) == 0 {
			return nil, false
		}
		if len(b) != len(canon.Digest{}) {
			sum := canon.Sum(b)
			b = sum[:]
		}
		out = append(out, canon.Digest(b))
	}
	return out, true
}

func number(v canon.Value, name string) (int64, bool) {
	member, _ := v.Get(name)
	return member.Int64()
}

func wantsError(v canon.Value) bool {
	member, _ := v.Get("wantErr")
	return member.Kind() == canon.Bool && member.Bool()
}

func TestPublicInclusionVectors(t *testing.T) {
	t.Parallel()
	vectors(t, "inclusion", func(name string, v canon.Value) {
		index, ok1 := number(v, "leafIdx")
		size, ok2 := number(v, "treeSize")
		root, ok3 := digestsIn(v, "root")
		leaf, ok4 := digestsIn(v, "leafHash")
		proof, ok5 := []canon.Digest(nil), true
		if p, there := v.Get("proof"); there && p.Kind() == canon.Array {
			proof, ok5 = digestsIn(v, "proof")
		}
		got := !ok1 || !ok2 || !ok3 || !ok4 || !ok5
		if !got {
			got = audit.CheckInclusion(audit.Head{Size: size, Root: root[0]}, index, leaf[0], proof) != nil
		}
		if got != wantsError(v) {
			t.Errorf("%s: refused %v, want %v", name, got, wantsError(v))
		}
	})
}

func TestPublicConsistencyVectors(t *testing.T) {
	t.Parallel()
	vectors(t, "consistency", func(name string, v canon.Value) {
		old, ok1 := number(v, "size1")
		size, ok2 := number(v, "size2")
		oldRoot, ok3 := digestsIn(v, "root1")
		root, ok4 := digestsIn(v, "root2")
		proof, ok5 := []canon.Digest(nil), true
		if p, there := v.Get("proof"); there && p.Kind() == canon.Array {
			proof, ok5 = digestsIn(v, "proof")
		}
		got := !ok1 || !ok2 || !ok3 || !ok4 || !ok5
		if !got {
			got = audit.CheckConsistency(audit.Head{Size: size, Root: root[0]}, audit.Head{Size: old, Root: oldRoot[0]}, proof) != nil
		}
		if got != wantsError(v) {
			t.Errorf("%s: refused %v, want %v", name, got, wantsError(v))
		}
	})
}
