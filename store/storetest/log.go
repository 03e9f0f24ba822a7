package storetest

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/keys"
)

func (b *bench) logKey() *keys.Signer {
	b.Helper()
	s, err := keys.NewSigner(keys.Checkpoints, bytes.Repeat([]byte{9}, 32))
	b.must(err)
	return s
}

// sequence takes one turn of a sequencer and returns the newest checkpoint.
func (b *bench) sequence() []byte {
	b.Helper()
	s, err := audit.NewSequencer(b.store, b.logKey())
	b.must(err)
	_, err = s.Turn(b.Context())
	b.must(err)
	signed, err := b.store.LatestCheckpoint(b.Context())
	b.must(err)
	return signed
}

func (b *bench) trust() audit.Trust {
	b.Helper()
	origin, err := b.store.Origin(b.Context())
	b.must(err)
	vkey, err := audit.LogKey(origin, b.logKey().Public()[0])
	b.must(err)
	trust, err := audit.NewTrust(vkey)
	b.must(err)
	return trust
}

func (b *bench) entries(action string) []audit.Entry {
	b.Helper()
	out, err := b.store.Entries(b.Context(), audit.Selection{Tenant: tenant, Action: action, Most: audit.MaxEntries})
	b.must(err)
	return out
}

func testLog(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"a log that grew in turns verifies against each earlier checkpoint": func(b *bench) {
			var outside []audit.Outside
			for range 3 {
				b.finish(b.begin(b.claimed()), action.Succeeded)
				outside = append(outside, audit.Outside{Name: "earlier", Signed: b.sequence()})
			}
			b.pending()
			r, err := audit.Verify(b.Context(), b.store, b.trust(), outside...)
			b.must(err)
			if r.Complete == 0 || r.Complete != r.Records || len(r.Outside) != 3 || r.Waiting != 1 {
				b.Fatalf("%+v", r)
			}
		},
		"every record of an action has a proof": func(b *bench) {
			row := b.finish(b.begin(b.claimed()), action.Succeeded)
			b.sequence()
			head, err := b.store.Head(b.Context())
			b.must(err)
			entries := b.entries(row.ID)
			if len(entries) != len(b.records(row.ID)) {
				b.Fatalf("%d entries, %d records", len(entries), len(b.records(row.ID)))
			}
			for _, e := range entries {
				proof, err := audit.ProveInclusion(head.Size, e.Index, audit.HashesOf(b.Context(), b.store))
				b.must(err)
				b.must(audit.CheckInclusion(head, e.Index, audit.LeafHash(e.Leaf), proof))
				r, err := audit.ParseLeaf(e.Leaf)
				b.must(err)
				if r.Seq != e.Index+1 || r.Action != row.ID || len(e.Salt) != audit.SaltSize {
					b.Errorf("entry %d: %+v, %d bytes of salt", e.Index, r, len(e.Salt))
				}
			}
		},
		"entries are of the tenant and the action that were asked for": func(b *bench) {
			row := b.pending()
			for _, s := range []audit.Selection{{Tenant: other, Action: row.ID, Most: 10}, {Tenant: tenant, Action: "act_none", Most: 10}} {
				if out, err := b.store.Entries(b.Context(), s); err != nil || len(out) != 0 {
					b.Errorf("%+v: %d entries, %v", s, len(out), err)
				}
			}
			all, err := b.store.Entries(b.Context(), audit.Selection{From: 2, Most: 2})
			b.must(err)
			if len(all) != 2 || all[0].Index != 2 || all[1].Index != 3 {
				b.Errorf("%+v", all)
			}
		},
		"a turn that finds nothing writes nothing": func(b *bench) {
			first := b.sequence()
			if again := b.sequence(); !bytes.Equal(first, again) {
				b.Fatalf("%s, then %s", first, again)
			}
			if _, n, err := b.store.Sequence(b.Context(), 10); err != nil || n != 0 {
				b.Fatalf("%d records, %v", n, err)
			}
		},
		"a checkpoint of another history is refused": func(b *bench) {
			b.sequence()
			head, err := b.store.Head(b.Context())
			b.must(err)
			origin, err := b.store.Origin(b.Context())
			b.must(err)
			for name, c := range map[string]audit.Checkpoint{
				"another root":   {Origin: origin, Head: audit.Head{Size: head.Size, Root: audit.LeafHash(nil)}},
				"an older root":  {Origin: origin, Head: audit.Head{Size: head.Size - 1, Root: head.Root}},
				"another origin": {Origin: origin + "x", Head: head},
				"a longer log":   {Origin: origin, Head: audit.Head{Size: head.Size + 1, Root: head.Root}},
			} {
				if err := b.store.KeepCheckpoint(b.Context(), c, []byte("x")); !errors.Is(err, audit.ErrFork) {
					b.Errorf("%s: %v", name, err)
				}
			}
		},
		"sequencers at once make one tree": func(b *bench) {
			for range 12 {
				b.pending()
			}
			var wg sync.WaitGroup
			for range 8 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for {
						_, n, err := b.store.Sequence(b.Context(), 3)
						if err != nil {
							b.Errorf("sequence: %v", err)
						}
						if n == 0 {
							return
						}
					}
				}()
			}
			wg.Wait()
			signed := b.sequence()
			r, err := audit.Verify(b.Context(), b.store, b.trust(), audit.Outside{Name: "its own", Signed: signed})
			b.must(err)
			if r.Waiting != 0 || r.Complete != r.Records {
				b.Fatalf("%+v", r)
			}
		},
	})
}
