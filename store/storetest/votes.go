package storetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

func groups(names ...string) []action.Requirement {
	r := action.Requirement{}
	for _, name := range names {
		r.AnyOf = append(r.AnyOf, action.Group{Name: name, Votes: 1})
	}
	return []action.Requirement{r}
}

func (b *bench) votes(v action.Vote, want error) action.Action {
	b.Helper()
	row, err := b.store.Vote(b.Context(), v)
	if want == nil {
		b.must(err)
	} else {
		b.refused(err, want)
	}
	return row
}

// device is a new passkey of an account.
func (b *bench) device(account string) keys.Passkey {
	b.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	b.must(err)
	p, err := keys.NewPasskey(fmt.Append(nil, "device ", b.next()), &private.PublicKey)
	b.must(err)
	b.must(b.register().AddCredential(b.Context(), auth.Credential{ID: p.CredentialID(), AccountID: account, PublicKey: p.SPKI(), RPID: "localhost",
		Name: "phone", CreatedAt: b.clock.read(), Statement: []byte("{}")}))
	return p
}

// byPasskey puts a vote into the envelope of a passkey. Whether the signature
// holds is not for a store to say.
func byPasskey(b *bench, v action.Vote, p keys.Passkey) action.Vote {
	b.Helper()
	v.Method, v.Envelope = action.MethodPasskey, keys.SignedByPasskey(approval.PayloadType, approval.VotePayload(v), p, keys.Assertion{}).JSON()
	return v
}

func testVotes(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"enough votes approve for the shorter of ttl and the hard end": func(b *bench) {
			row := b.approved()
			if want := b.clock.read().Add(row.Terms.TTL); row.State != action.Approved || !row.Deadline.Equal(want) {
				b.Fatalf("%s until %s, want %s", row.State, row.Deadline, want)
			}
			a := b.asking(b.call(), oneAdmin())
			a.Terms.ExpiresAt = b.clock.read().Add(time.Minute)
			row = b.approve(b.suspend(a), ann)
			if !row.Deadline.Equal(a.Terms.ExpiresAt) {
				b.Fatalf("until %s, want %s", row.Deadline, a.Terms.ExpiresAt)
			}
		},
		"a quorum needs distinct people and every requirement": func(b *bench) {
			two := []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}, groups("finance")[0]}
			row := b.suspend(b.asking(b.call(), two))
			b.votes(vote(row, ann, true), nil)
			b.votes(vote(row, ann, true), action.ErrVoted)
			if got := b.votes(vote(row, fay, true), nil).State; got != action.PendingApproval {
				b.Fatalf("one admin and finance made it %s", got)
			}
			if got := b.votes(vote(row, bob, true), nil).State; got != action.Approved {
				b.Fatalf("all requirements met, yet %s", got)
			}
		},
		"who has a passkey votes with that only, from then on": func(b *bench) {
			two := []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}}
			before, row := b.suspend(b.asking(b.call(), two)), b.suspend(b.asking(b.call(), two))
			b.votes(vote(before, ann, true), nil)
			b.clock.add(time.Second)
			key := auth.Credential{ID: []byte("key of ann"), AccountID: ann, PublicKey: []byte("key"), RPID: "localhost", Name: "laptop",
				CreatedAt: b.clock.read(), Statement: []byte("{}")}
			b.must(b.book.AddCredential(b.Context(), key))
			b.votes(vote(row, ann, true), action.ErrPasskey)
			b.votes(vote(row, ann, false), action.ErrPasskey)
			b.same(row, b.row(row.ID))
			signed := vote(row, ann, true)
			signed.Method = action.MethodPasskey
			b.votes(signed, nil)
			for _, r := range []action.Action{before, row} {
				if got := b.votes(vote(r, bob, true), nil).State; got != action.Approved {
					b.Fatalf("two admins made it %s", got)
				}
			}
			late := b.pending()
			b.must(b.book.RemoveCredential(b.Context(), key.ID, b.clock.read()))
			b.votes(vote(late, ann, true), nil)
		},
		"a vote by a passkey that was removed since counts for nothing": func(b *bench) {
			row, early, late := b.pending(), b.pending(), b.pending()
			gone, stays := b.device(ann), b.device(bob)
			b.votes(byPasskey(b, vote(row, ann, true), gone), nil)
			b.votes(byPasskey(b, vote(early, bob, true), stays), nil)
			held := b.claim(b.row(row.ID))
			b.must(b.book.RemoveCredential(b.Context(), gone.CredentialID(), b.clock.read()))
			_, err := b.store.Begin(b.Context(), action.Start{Action: held, Lease: lease})
			b.refused(err, action.ErrIneligible)
			b.begin(b.claim(b.row(early.ID)))
			b.votes(byPasskey(b, vote(late, ann, true), gone), action.ErrPasskey)
			b.same(late, b.row(late.ID))
		},
		"a step-up takes a passkey or a login of five minutes, when voting and when it begins": func(b *bench) {
			stale, row := b.pending(), b.pending()
			b.clock.add(6 * time.Minute)
			old := vote(row, ann, true)
			b.votes(old, action.ErrStepUp)
			old.LoginAt = time.Time{}
			b.votes(old, action.ErrStepUp)
			b.same(row, b.row(row.ID))
			old.LoginAt, old.Login = b.clock.read().Add(-5*time.Minute), []byte("said")
			b.votes(old, nil)
			kept, err := b.store.Votes(b.Context(), tenant, row.ID)
			b.must(err)
			if len(kept) != 1 || !kept[0].LoginAt.Equal(old.LoginAt) || string(kept[0].Login) != "said" {
				b.Fatalf("%+v", kept)
			}
			b.clock.add(4 * time.Minute) // what counts is the age when it was cast
			b.begin(b.claim(b.row(row.ID)))
			if got := b.votes(vote(stale, bob, false), nil).State; got != action.Denied {
				b.Fatalf("a rejection asks for more than being somebody who may: %s", got)
			}
			plain := b.asking(b.call(), oneAdmin())
			plain.HighImpact, plain.Terms.StepUp = false, false
			plain = b.suspend(plain)
			b.clock.add(6 * time.Minute)
			b.votes(vote(plain, ann, true), nil)
		},
		"one rejection rejects": func(b *bench) {
			row := b.suspend(b.asking(b.call(), []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}}))
			b.votes(vote(row, ann, true), nil)
			got := b.votes(vote(row, bob, false), nil)
			if got.State != action.Denied || got.Result == nil || got.Result.Code != "rejected" {
				b.Fatalf("%s %+v", got.State, got.Result)
			}
			b.same(got, b.row(row.ID))
		},
		"D02 a decision is final": func(b *bench) {
			row := b.pending()
			b.votes(vote(row, ann, false), nil)
			b.votes(vote(row, bob, true), action.ErrState)
			_, err := b.store.Claim(b.Context(), row.ID, lease)
			b.refused(err, action.ErrState)
		},
		"B05 B14 a vote names what it is for": func(b *bench) {
			row, sibling := b.pending(), b.pending()
			wrong := vote(row, ann, true)
			wrong.Digest = sibling.Terms.Digest
			b.votes(wrong, action.ErrDigest)
			wrong.Digest = canon.Digest{}
			b.votes(wrong, action.ErrDigest)
			b.same(row, b.row(row.ID))
		},
		"B10 unknown rows and rows of others do not exist": func(b *bench) {
			row := b.pending()
			unknown := vote(row, ann, true)
			unknown.ActionID = "act_none"
			b.votes(unknown, action.ErrNotFound)
			if got := b.votes(vote(row, zoe, true), action.ErrNotFound); got.ID != "" {
				b.Fatal("another tenant was shown the row")
			}
		},
		"B32 a caller who stops waiting decides nothing": func(b *bench) {
			row := b.pending()
			b.must(b.store.Leave(b.Context(), row.ID))
			if got := b.votes(vote(row, ann, true), nil); got.State != action.Approved || !got.CallerGone {
				b.Fatalf("%s, gone %t", got.State, got.CallerGone)
			}
		},
		"B31 the record says who decided, or that nobody did": func(b *bench) {
			rejected, revoked, expired := b.pending(), b.pending(), b.pending()
			b.votes(vote(rejected, ann, false), nil)
			_, err := b.store.Revoke(b.Context(), revoked.ID, opal, "stop")
			b.must(err)
			b.clock.add(time.Hour)
			_, err = b.store.Expire(b.Context(), false)
			b.must(err)
			for id, want := range map[string][2]string{rejected.ID: {ann, "rejected"}, revoked.ID: {opal, "revoked"},
				expired.ID: {"sweeper", "expired"}} {
				records := b.records(id)
				if last := records[len(records)-1]; last.By != want[0] || last.Code != want[1] {
					b.Errorf("by %s, code %s, want %v", last.By, last.Code, want)
				}
			}
		},
		"B30 silence is never a yes": func(b *bench) {
			row := b.pending()
			b.clock.add(time.Hour)
			b.votes(vote(row, ann, true), action.ErrLate)
			_, err := b.store.Claim(b.Context(), row.ID, lease)
			b.refused(err, action.ErrState)
		},
		"L03 the proposer may not vote, nor who is in no group, nor a stranger": func(b *bench) {
			row := b.pending()
			for _, voter := range []string{pat, fay, opal, "acc_none"} {
				b.votes(vote(row, voter, true), action.ErrIneligible)
			}
			b.same(row, b.row(row.ID))
		},
		"L04 the owner votes only where policy names the group owner": func(b *bench) {
			row := b.suspend(b.asking(b.call(), groups("owner")))
			b.votes(vote(row, ann, true), action.ErrIneligible)
			if got := b.votes(vote(row, pat, true), nil).State; got != action.Approved {
				b.Fatalf("%s", got)
			}
		},
		"a disabled account may not vote": func(b *bench) {
			row := b.pending()
			b.must(b.book.Disable(b.Context(), ann))
			b.votes(vote(row, ann, true), action.ErrIneligible)
		},
		"votes read back as they came": func(b *bench) {
			row := b.suspend(b.asking(b.call(), []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}}))
			b.approve(row, bob, ann)
			got, err := b.store.Votes(b.Context(), tenant, row.ID)
			b.must(err)
			if len(got) != 2 || got[0].Voter != bob || got[1].Voter != ann || string(got[0].Envelope) != "signed" ||
				!got[0].At.Equal(b.clock.read()) || got[0].Digest != row.Terms.Digest {
				b.Fatalf("votes %+v", got)
			}
			_, err = b.store.Votes(b.Context(), other, row.ID)
			b.refused(err, action.ErrNotFound)
		},
	})
}
