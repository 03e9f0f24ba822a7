//go:build bench

package auditbench_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// What is measured, and how long.
const (
	callers  = 64
	round    = 2 * time.Second
	rounds   = 7 // of each, in turn
	turn     = 500 * time.Millisecond
	million  = 1_000_000
	backlog  = 40_000
	proofBar = 1024
)

func open(t *testing.T) *sqlite.Store {
	t.Helper()
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "store.db"), sqlite.Options{Sealer: sealer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func logKey(t *testing.T) *keys.Signer {
	t.Helper()
	k, err := keys.NewSigner(keys.Checkpoints, bytes.Repeat([]byte{9}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// execution runs one whole mutation: begin and finish, each durable.
func execution(ctx context.Context, s *sqlite.Store, version string, n int64) error {
	args, err := snapshot.FreezeGo(map[string]any{"to": "VENDOR-001", "n": n})
	if err != nil {
		return err
	}
	id := "act_" + strconv.FormatInt(n, 10)
	a := action.Action{ID: id, Kind: action.KindCall, Tenant: "acme", Principal: "user:pat", Agent: "helper", Tool: "bank.pay", Mutation: true,
		Fingerprint: canon.Sum([]byte(id)), Hash: snapshot.Propose("helper", "bank.pay", args).Hash,
		Decision: action.Decision{Effect: "allow", Code: "ok", PolicyVersion: version},
		Payload:  action.Payload{Raw: []byte(args.Text()), Requested: args.Text(), Args: args.Text()}}
	row, err := s.Begin(ctx, action.Start{Action: a, Lease: time.Minute})
	if err != nil {
		return err
	}
	_, err = s.Finish(ctx, action.Ending{ID: row.ID, Fence: row.Fence, State: action.Succeeded, Result: action.Result{Output: []byte("{}")}})
	return err
}

// rate is executions a second, with or without a sequencer beside them.
func rate(t *testing.T, s *sqlite.Store, version string, next *atomic.Int64, sequenced bool) float64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), round)
	defer cancel()
	var wg sync.WaitGroup
	var done atomic.Int64
	for range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for ctx.Err() == nil {
				if err := execution(context.WithoutCancel(ctx), s, version, next.Add(1)); err != nil {
					t.Error(err)
					return
				}
				done.Add(1)
			}
		}()
	}
	if sequenced {
		q, err := audit.NewSequencer(s, logKey(t))
		if err != nil {
			t.Fatal(err)
		}
		for ctx.Err() == nil {
			time.Sleep(turn)
			if _, err := q.Turn(context.WithoutCancel(ctx)); err != nil {
				t.Error(err)
			}
		}
	}
	start := time.Now()
	wg.Wait()
	return float64(done.Load()) / (round + time.Since(start)).Seconds()
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// TestAudit prints figures; none of them decides.
func TestAudit(t *testing.T) {
	s := open(t)
	version, err := s.SetPolicy(t.Context(), "acme", "bank.pay", canon.Sum([]byte("rules")))
	if err != nil {
		t.Fatal(err)
	}
	var next atomic.Int64
	var plain, sequenced []float64
	for range rounds {
		plain = append(plain, rate(t, s, version, &next, false))
		q, err := audit.NewSequencer(s, logKey(t))
		if err == nil {
			_, err = q.Turn(t.Context()) // the backlog of the round without is not the other's to pay
		}
		if err != nil {
			t.Fatal(err)
		}
		sequenced = append(sequenced, rate(t, s, version, &next, true))
	}
	fmt.Printf("executions a second, %d callers: %.0f without, %.0f with a sequencer; the log takes %.1f %% (bar: at most 15 %%)\n",
		callers, median(plain), median(sequenced), 100*(1-median(sequenced)/median(plain)))
	sequencing(t)
	verification(t)
}

// sequencing measures how fast records that wait come into the tree.
func sequencing(t *testing.T) {
	s := open(t)
	read := action.Action{Kind: action.KindCall, Tenant: "acme", Principal: "user:pat", Agent: "helper", Tool: "bank.look",
		Decision: action.Decision{Effect: "allow", Code: "ok"}}
	args, err := snapshot.FreezeGo(map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	read.Fingerprint = canon.Sum([]byte("look"))
	read.Hash, read.Payload = snapshot.Propose("helper", "bank.look", args).Hash, action.Payload{Args: args.Text(), Requested: args.Text()}
	for i := range backlog {
		read.ID = "act_" + strconv.Itoa(i)
		if _, err := s.Decide(t.Context(), read); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Entries(t.Context(), audit.Selection{Most: 1}); err != nil { // all of them are in the log now
		t.Fatal(err)
	}
	q, err := audit.NewSequencer(s, logKey(t))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	n, err := q.Turn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("sequenced: %.0f leaves a second, 1000 to a signed checkpoint (bar: 20,000)\n", float64(n)/time.Since(start).Seconds())
}

// made is a log of a million records in memory.
type made struct {
	leaves [][]byte
	hashes []canon.Digest
	head   audit.Head
	signed []byte
	origin string
}

func (m *made) Origin(context.Context) (string, error)           { return m.origin, nil }
func (m *made) LatestCheckpoint(context.Context) ([]byte, error) { return m.signed, nil }
func (m *made) Head(context.Context) (audit.Head, error)         { return m.head, nil }

func (m *made) Hashes(_ context.Context, positions []int64) ([]canon.Digest, error) {
	out := make([]canon.Digest, len(positions))
	for i, p := range positions {
		out[i] = m.hashes[p]
	}
	return out, nil
}

func (m *made) Entries(_ context.Context, s audit.Selection) (out []audit.Entry, err error) {
	for i := s.From; i < int64(len(m.leaves)) && len(out) < s.Most; i++ {
		out = append(out, audit.Entry{Index: i, Leaf: m.leaves[i]})
	}
	return out, nil
}

// verification measures a whole check of a million records, and a proof.
func verification(t *testing.T) {
	m := &made{origin: "log.example/bench"}
	read := func(positions []int64) ([]canon.Digest, error) { return m.Hashes(t.Context(), positions) }
	for from := int64(0); from < million; from += 1000 {
		var leaves []canon.Digest
		for i := range int64(1000) {
			leaf, err := audit.Record{Seq: from + i + 1, ID: fmt.Sprintf("rec_%026d", i), Event: audit.ReadAllowed, Action: fmt.Sprintf("act_%026d", i),
				At: time.Unix(from, 0), Tenant: "acme", Tool: "bank.look", Agent: "helper", By: "user:pat", From: "received", Code: "ok",
				Facts:       map[string]string{"effect": "allow", "policyVersion": "0123456789abcdef.1"},
				Commitments: map[string]string{"arguments": m.origin, "proposalHash": m.origin}}.Leaf()
			if err != nil {
				t.Fatal(err)
			}
			m.leaves, leaves = append(m.leaves, leaf), append(leaves, audit.LeafHash(leaf))
		}
		added, head, err := audit.Grow(from, leaves, read)
		if err != nil {
			t.Fatal(err)
		}
		m.hashes, m.head = append(m.hashes, added...), head
	}
	var err error
	if m.signed, err = (audit.Checkpoint{Origin: m.origin, Head: m.head}).Sign(logKey(t)); err != nil {
		t.Fatal(err)
	}
	key, err := audit.LogKey(m.origin, logKey(t).Public()[0])
	if err != nil {
		t.Fatal(err)
	}
	trust, err := audit.NewTrust(key)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	r, err := audit.Verify(t.Context(), m, trust, audit.Outside{Name: "kept", Signed: m.signed})
	if err != nil || r.Complete != million {
		t.Fatalf("%+v, %v", r, err)
	}
	fmt.Printf("verification of %d records in memory: %.1f s\n", million, time.Since(start).Seconds())
	longest := 0
	for _, i := range []int64{0, 1, million / 2, million - 1} {
		proof, err := audit.ProveInclusion(million, i, read)
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, len(proof)*len(canon.Digest{}))
	}
	fmt.Printf("longest inclusion proof of %d records: %d bytes (bar: %d)\n", million, longest, proofBar)
}
