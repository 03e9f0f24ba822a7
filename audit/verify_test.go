package audit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

// memory is a ledger in memory.
type memory struct {
	origin  string
	leaves  [][]byte
	tree    stored
	head    audit.Head
	signed  []byte
	crash   string // the step after which everything fails
	crashed bool
}

var errKilled = errors.New("killed")

func (m *memory) at(step string) error {
	if m.crash == step {
		m.crashed = true
	}
	if m.crashed {
		return errKilled
	}
	return nil
}

func newMemory(n int) *memory {
	m := &memory{origin: "log.example/one", head: audit.EmptyHead()}
	m.write(n)
	return m
}

// write appends records that wait for the tree.
func (m *memory) write(n int) {
	for range n {
		seq := int64(len(m.leaves) + 1)
		leaf, err := audit.Record{Seq: seq, ID: fmt.Sprintf("rec_%d", seq), Event: audit.ActionDenied, Action: fmt.Sprintf("act_%d", seq),
			At: time.Unix(seq, 0)}.Leaf()
		if err != nil {
			panic(err)
		}
		m.leaves = append(m.leaves, leaf)
	}
}

func (m *memory) Origin(context.Context) (string, error)           { return m.origin, nil }
func (m *memory) LatestCheckpoint(context.Context) ([]byte, error) { return m.signed, nil }
func (m *memory) Head(context.Context) (audit.Head, error)         { return m.head, nil }

func (m *memory) Hashes(_ context.Context, positions []int64) ([]canon.Digest, error) {
	return m.tree.read(positions)
}

func (m *memory) Entries(_ context.Context, s audit.Selection) (out []audit.Entry, err error) {
	for i := s.From; i < int64(len(m.leaves)) && len(out) < s.Most; i++ {
		out = append(out, audit.Entry{Index: i, Leaf: m.leaves[i]})
	}
	return out, nil
}

func (m *memory) Sequence(_ context.Context, most int) (audit.Head, int, error) {
	if err := m.at("before sequencing"); err != nil {
		return audit.Head{}, 0, err
	}
	var leaves []canon.Digest
	for _, leaf := range m.leaves[m.head.Size:] {
		if len(leaves) < most {
			leaves = append(leaves, audit.LeafHash(leaf))
		}
	}
	added, head, err := audit.Grow(m.head.Size, leaves, m.tree.read)
	if err != nil {
		return audit.Head{}, 0, err
	}
	m.tree, m.head = append(m.tree, added...), head
	return head, len(leaves), m.at("after sequencing")
}

func (m *memory) KeepCheckpoint(_ context.Context, c audit.Checkpoint, signed []byte) error {
	if err := m.at("before keeping"); err != nil {
		return err
	}
	if head, err := audit.HeadAt(c.Size, m.tree.read); err != nil || head != c.Head || c.Origin != m.origin {
		return audit.ErrFork
	}
	m.signed = signed
	return m.at("after keeping")
}

func logSigner(t testing.TB, n ...byte) *keys.Signer {
	t.Helper()
	var seeds [][]byte
	for _, b := range n {
		seeds = append(seeds, []byte(strings.Repeat(string(rune(b)), 32)))
	}
	s, err := keys.NewSigner(keys.Checkpoints, seeds...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func trustIn(t testing.TB, origin string, s *keys.Signer) audit.Trust {
	t.Helper()
	var vkeys []string
	for _, key := range s.Public() {
		k, err := audit.LogKey(origin, key)
		if err != nil {
			t.Fatal(err)
		}
		vkeys = append(vkeys, k)
	}
	trust, err := audit.NewTrust(vkeys...)
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

// sequenced is a log of n records with a checkpoint.
func sequenced(t testing.TB, n int) (*memory, audit.Trust) {
	t.Helper()
	m, key := newMemory(n), logSigner(t, 1)
	turn(t, m, key)
	return m, trustIn(t, m.origin, key)
}

func turn(t testing.TB, m *memory, key *keys.Signer) int {
	t.Helper()
	s, err := audit.NewSequencer(m, key)
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.Turn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestVerifyClaimsNoMoreThanItKnows(t *testing.T) {
	t.Parallel()
	m, trust := sequenced(t, 9)
	elsewhere := audit.Outside{Name: "a file", Signed: m.signed}
	m.write(3)
	r, err := audit.Verify(t.Context(), m, trust)
	if err != nil || r.Complete != 0 || r.Records != 9 || r.Waiting != 3 || r.Signed != 9 || !strings.Contains(r.Claim(), "No checkpoint from elsewhere") {
		t.Fatalf("%+v, %s, %v", r, r.Claim(), err)
	}
	r, err = audit.Verify(t.Context(), m, trust, elsewhere)
	if err != nil || r.Complete != 9 || !strings.HasPrefix(r.Claim(), "Complete up to record 9:") {
		t.Fatalf("%+v, %s, %v", r, r.Claim(), err)
	}
	turn(t, m, logSigner(t, 1))
	if r, err = audit.Verify(t.Context(), m, trust, elsewhere); err != nil || r.Complete != 9 || r.Records != 12 || r.Signed != 12 {
		t.Fatalf("after it grew: %+v, %v", r, err)
	}
}

// TestK02AnEmptyLogIsNotValid: nothing is verified where there is nothing.
func TestK02AnEmptyLogIsNotValid(t *testing.T) {
	t.Parallel()
	empty, trust := sequenced(t, 0)
	if r, err := audit.Verify(t.Context(), empty, trust); !errors.Is(err, audit.ErrNothing) || r.Complete != 0 {
		t.Errorf("an empty log: %+v, %v", r, err)
	}
	m, trust := sequenced(t, 5)
	elsewhere := audit.Outside{Name: "a file", Signed: m.signed}
	gone := newMemory(0)
	if r, err := audit.Verify(t.Context(), gone, trust, elsewhere); !errors.Is(err, audit.ErrFaults) {
		t.Errorf("a log that was deleted as a whole: %+v, %v", r, err)
	}
	if r, err := audit.Verify(t.Context(), m, audit.Trust{}); !errors.Is(err, audit.ErrFaults) {
		t.Errorf("a log whose key nobody trusts: %+v, %v", r, err)
	}
}

// TestVerifyFindsWhatWasDoneToTheStore changes what the store holds, in the
// ways in which somebody without the log's key can.
func TestVerifyFindsWhatWasDoneToTheStore(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*memory){
		"a record changed":               func(m *memory) { m.leaves[3] = m.leaves[4] },
		"two records swapped":            func(m *memory) { m.leaves[3], m.leaves[4] = m.leaves[4], m.leaves[3] },
		"a record removed":               func(m *memory) { m.leaves = append(m.leaves[:3:3], m.leaves[4:]...) },
		"the last records removed":       func(m *memory) { m.leaves = m.leaves[:5] },
		"a record added in the middle":   func(m *memory) { m.leaves = append(m.leaves[:4:4], m.leaves[3:]...) },
		"a stored hash changed":          func(m *memory) { m.tree[2] = leafN(9) },
		"the head set back":              func(m *memory) { m.head, _ = audit.HeadAt(4, m.tree.read) },
		"another root":                   func(m *memory) { m.head.Root = leafN(9) },
		"the tree cut off":               func(m *memory) { m.tree = m.tree[:4] },
		"the checkpoint removed":         func(m *memory) { m.signed = nil },
		"a checkpoint of another origin": func(m *memory) { m.origin = "log.example/two" },
		"a record that is no leaf":       func(m *memory) { m.leaves[3] = []byte("{}") },
		"rewritten with another key": func(m *memory) {
			other := newMemory(0)
			other.write(1)
			other.leaves = append(other.leaves, m.leaves[1:]...)
			other.leaves[0] = m.leaves[1]
			turn(t, other, logSigner(t, 2))
			*m = *other
		},
	} {
		m, trust := sequenced(t, 7)
		change(m)
		if r, err := audit.Verify(t.Context(), m, trust); !errors.Is(err, audit.ErrFaults) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// TestOnlyACheckpointFromElsewhereShowsARewrite: whoever holds the log's key
// can make another history that agrees with itself.
func TestOnlyACheckpointFromElsewhereShowsARewrite(t *testing.T) {
	t.Parallel()
	m, trust := sequenced(t, 7)
	elsewhere := audit.Outside{Name: "a file", Signed: m.signed}
	for name, other := range map[string]*memory{"shorter": newMemory(5), "changed": newMemory(7)} {
		if name == "changed" {
			r, err := audit.ParseLeaf(other.leaves[2])
			if err != nil {
				t.Fatal(err)
			}
			r.By = "somebody"
			if other.leaves[2], err = r.Leaf(); err != nil {
				t.Fatal(err)
			}
		}
		turn(t, other, logSigner(t, 1))
		if r, err := audit.Verify(t.Context(), other, trust); err != nil || r.Complete != 0 {
			t.Errorf("%s: what agrees with itself shows a fault: %+v, %v", name, r, err)
		}
		if r, err := audit.Verify(t.Context(), other, trust, elsewhere); !errors.Is(err, audit.ErrFaults) {
			t.Errorf("%s: not seen beside the checkpoint: %+v, %v", name, r, err)
		}
	}
}

func TestSequencerSignsWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"before sequencing", "after sequencing", "before keeping", "after keeping"} {
		m, key := newMemory(2500), logSigner(t, 1)
		m.crash = step
		s, err := audit.NewSequencer(m, key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Turn(t.Context()); !errors.Is(err, errKilled) {
			t.Fatalf("%s: %v", step, err)
		}
		m.crash, m.crashed = "", false
		turn(t, m, key)
		if n := turn(t, m, key); n != 0 {
			t.Errorf("%s: a second turn found %d records", step, n)
		}
		if r, err := audit.Verify(t.Context(), m, trustIn(t, m.origin, key)); err != nil || r.Signed != 2500 {
			t.Errorf("%s: %+v, %v", step, r, err)
		}
	}
}

func TestSequencerNeedsALogKey(t *testing.T) {
	t.Parallel()
	votes, err := keys.NewSigner(keys.Votes, []byte(strings.Repeat("x", 32)))
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]*keys.Signer{"no key": nil, "a key of another purpose": votes} {
		if _, err := audit.NewSequencer(newMemory(0), k); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestAnOlderKeySignsUntilItIsTakenAway: whoever pinned it can go on.
func TestAnOlderKeySignsUntilItIsTakenAway(t *testing.T) {
	t.Parallel()
	m := newMemory(3)
	old, both, fresh := logSigner(t, 1), logSigner(t, 2, 1), logSigner(t, 2)
	turn(t, m, both)
	for name, k := range map[string]*keys.Signer{"the older": old, "the newer": fresh, "both": both} {
		if _, err := audit.Verify(t.Context(), m, trustIn(t, m.origin, k)); err != nil {
			t.Errorf("%s pinned: %v", name, err)
		}
	}
	m.write(1)
	turn(t, m, fresh)
	if _, err := audit.Verify(t.Context(), m, trustIn(t, m.origin, old)); !errors.Is(err, audit.ErrFaults) {
		t.Errorf("signed by the newer key alone, the older pinned: %v", err)
	}
}

func TestCheckpointsThatAreRefused(t *testing.T) {
	t.Parallel()
	m, trust := sequenced(t, 4)
	if o, err := trust.Open(m.signed); err != nil || !o.ByLog || o.Size != 4 {
		t.Fatalf("%+v, %v", o, err)
	}
	text := string(m.signed)
	for name, other := range map[string]string{
		"nothing":               "",
		"no signature":          text[:strings.Index(text, "\n\n")+2],
		"another size":          strings.Replace(text, "\n4\n", "\n5\n", 1),
		"a size with a zero":    strings.Replace(text, "\n4\n", "\n04\n", 1),
		"another origin":        strings.Replace(text, "log.example/one\n", "log.example/two\n", 1),
		"an extension":          strings.Replace(text, "\n\n", "\nmore\n\n", 1),
		"something behind":      text + "x",
		"longer than it may be": text + strings.Repeat("— x AAAA\n", audit.MaxCheckpoint/8),
	} {
		if o, err := trust.Open([]byte(other)); err == nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// TestATrustedKeySignsForItsOwnLogOnly: the key of one log is no key of
// another one.
func TestATrustedKeySignsForItsOwnLogOnly(t *testing.T) {
	t.Parallel()
	m, key := newMemory(2), logSigner(t, 1)
	m.origin = "log.example/two"
	turn(t, m, key)
	if o, err := trustIn(t, "log.example/one", key).Open(m.signed); err == nil {
		t.Fatalf("%+v", o)
	}
}

func FuzzOpenCheckpoint(f *testing.F) {
	m, trust := sequenced(f, 4)
	f.Add(m.signed)
	f.Fuzz(func(t *testing.T, signed []byte) {
		o, err := trust.Open(signed)
		if c, raw := audit.ReadUntrusted(signed); err == nil && (raw != nil || c != o.Checkpoint) {
			t.Fatalf("%q: %+v, untrusted %+v, %v", signed, o, c, raw)
		}
	})
}
