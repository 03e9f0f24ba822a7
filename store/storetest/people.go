package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
)

// register is a store's book of people, for what only people do.
func (b *bench) register() auth.Book {
	b.Helper()
	book, ok := b.store.(auth.Book)
	if !ok {
		b.Fatalf("the store keeps no people: %T", b.store)
	}
	return book
}

func (b *bench) invitation(by string, groups ...string) auth.Invitation {
	b.Helper()
	now := b.clock.read()
	i := auth.Invitation{Token: canon.Sum(fmt.Append(nil, "code ", b.next())), Tenant: tenant, Groups: groups, By: by, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
	b.must(b.register().AddInvitation(b.Context(), i))
	return i
}

// newcomer is an account that somebody is about to make of an invitation.
func (b *bench) newcomer() auth.Account {
	id := fmt.Sprintf("acc_new%d", b.next())
	return auth.Account{ID: id, Name: id, Key: id, Tenant: "not theirs to say", Groups: []string{"not theirs either"}, Active: true, CreatedAt: b.clock.read()}
}

func (b *bench) key(account, name string) *auth.Credential {
	return &auth.Credential{ID: []byte(name), AccountID: account, PublicKey: []byte("key"), RPID: "localhost", Name: "laptop", CreatedAt: b.clock.read(), Statement: []byte("{}")}
}

func testPeople(t *testing.T, open Open) {
	each(t, open, signIns())
	each(t, open, map[string]func(*bench){
		"an invitation makes one account, in its tenant and groups": func(b *bench) {
			book, ctx := b.register(), b.Context()
			i := b.invitation(ann, "finance", "night")
			a := b.newcomer()
			b.must(book.Accept(ctx, i.Token, a, b.key(a.ID, "first")))
			got, err := book.AccountByID(ctx, a.ID)
			b.must(err)
			a.Tenant, a.Groups = tenant, []string{"finance", "night"}
			if diff := cmp.Diff(a, got); diff != "" {
				b.Fatal(diff)
			}
			if have, err := book.Credentials(ctx, a.ID); err != nil || len(have) != 1 {
				b.Fatalf("%d passkeys, %v", len(have), err)
			}
			b.refused(book.Accept(ctx, i.Token, b.newcomer(), nil), auth.ErrNoInvitation)
			b.refused(book.WithdrawInvitation(ctx, i.Token, ann, b.clock.read()), auth.ErrNoInvitation)
			used, err := book.Invitation(ctx, i.Token)
			b.must(err)
			if used.UsedBy != a.ID || !used.UsedAt.Equal(a.CreatedAt) {
				b.Fatalf("%+v", used)
			}
			b.recorded(audit.AccountAdded, ann)
		},
		"one of many who have a code makes the account": func(b *bench) {
			i := b.invitation(ann)
			people := make([]auth.Account, 16)
			for n := range people {
				people[n] = b.newcomer()
			}
			errs := together(len(people), func(n int) error { return b.register().Accept(b.Context(), i.Token, people[n], nil) })
			if n := b.won(errs, auth.ErrNoInvitation); n != 1 {
				b.Fatalf("%d accounts of one invitation", n)
			}
		},
		"an account that cannot be made uses nothing up": func(b *bench) {
			book, ctx := b.register(), b.Context()
			i := b.invitation(ann)
			taken := b.newcomer()
			taken.Key = fay
			b.refused(book.Accept(ctx, i.Token, taken, nil), auth.ErrNameTaken)
			b.must(book.AddCredential(ctx, *b.key(bob, "of bob")))
			a := b.newcomer()
			b.refused(book.Accept(ctx, i.Token, a, b.key(a.ID, "of bob")), auth.ErrCredentialTaken)
			if _, err := book.AccountByID(ctx, a.ID); !errors.Is(err, auth.ErrNoAccount) {
				b.Fatalf("half an account was made: %v", err)
			}
			b.must(book.Accept(ctx, i.Token, a, nil))
		},
		"an invitation ends by time, by withdrawal and with who made it": func(b *bench) {
			book, ctx := b.register(), b.Context()
			late, gone, orphan := b.invitation(ann), b.invitation(ann), b.invitation(bob)
			b.must(book.WithdrawInvitation(ctx, gone.Token, opal, b.clock.read()))
			b.must(book.SetActive(ctx, bob, false, opal))
			b.refused(book.Accept(ctx, gone.Token, b.newcomer(), nil), auth.ErrNoInvitation)
			b.refused(book.Accept(ctx, orphan.Token, b.newcomer(), nil), auth.ErrNoInvitation)
			if open, err := book.Invitations(ctx, tenant); err != nil || len(open) != 2 {
				b.Fatalf("%d open, %v", len(open), err)
			}
			b.clock.add(time.Hour)
			b.refused(book.Accept(ctx, late.Token, b.newcomer(), nil), auth.ErrNoInvitation)
			b.refused(book.Accept(ctx, canon.Sum([]byte("a guess")), b.newcomer(), nil), auth.ErrNoInvitation)
			stranger := auth.Invitation{Token: canon.Sum([]byte("x")), Tenant: tenant, By: zoe, CreatedAt: b.clock.read(), ExpiresAt: b.clock.read().Add(time.Hour)}
			b.refused(book.AddInvitation(ctx, stranger), auth.ErrNoAccount)
			b.recorded(audit.InvitationEnded, opal)
		},
		"groups are replaced, and count for votes at once": func(b *bench) {
			book, ctx := b.register(), b.Context()
			row := b.pending()
			b.must(book.SetGroups(ctx, ann, []string{"kitchen"}, opal))
			b.votes(vote(row, ann, true), action.ErrIneligible)
			b.must(book.SetGroups(ctx, ann, []string{"admin"}, opal))
			b.approve(row, ann)
			b.must(book.SetGroups(ctx, ann, nil, opal))
			_, err := b.start(b.claim(b.row(row.ID)))
			b.refused(err, action.ErrIneligible)
			b.refused(book.SetGroups(ctx, ann, nil, zoe), auth.ErrNotManager)
			b.refused(book.SetGroups(ctx, "acc_none", nil, opal), auth.ErrNoAccount)
			b.recorded(audit.GroupsChanged, opal)
		},
		"who is shut out may be let in again, and the last operator stays": func(b *bench) {
			book, ctx := b.register(), b.Context()
			row := b.pending()
			b.must(book.SetActive(ctx, ann, false, opal))
			b.votes(vote(row, ann, true), action.ErrIneligible)
			b.must(book.SetActive(ctx, ann, true, opal))
			b.approve(row, ann)
			b.refused(book.SetActive(ctx, opal, false, opal), auth.ErrLast)
			b.refused(book.SetGroups(ctx, opal, nil, ann), auth.ErrLast)
			b.must(book.SetGroups(ctx, ann, []string{"operator"}, opal))
			b.must(book.SetActive(ctx, opal, false, opal))
			b.refused(book.SetActive(ctx, ann, true, opal), auth.ErrNotManager)
			b.recorded(audit.AccountEnabled, opal)
		},
		"no login outlives the moment in which its account was shut out": func(b *bench) {
			by := b.password(ann)
			for round := range 10 {
				b.must(b.register().SetActive(b.Context(), ann, true, opal))
				logins := make([]auth.Login, 5)
				errs := together(len(logins)+1, func(i int) error {
					ctx := context.WithoutCancel(b.Context())
					if i == len(logins) {
						return b.register().SetActive(ctx, ann, false, opal)
					}
					logins[i] = b.login(ann, auth.MethodPassword)
					return b.register().AddLogin(ctx, logins[i], by)
				})
				b.won(errs, auth.ErrNoAccount)
				for _, l := range logins {
					if _, err := b.register().Login(b.Context(), l.Token); !errors.Is(err, auth.ErrNoLogin) {
						b.Fatalf("round %d: a login is left: %v", round, err)
					}
				}
			}
		},
		"two operators cannot shut each other out": func(b *bench) {
			book := b.register()
			b.must(book.SetGroups(b.Context(), ann, []string{"operator"}, opal))
			errs := together(2, func(i int) error {
				who := []string{opal, ann}
				return book.SetActive(context.WithoutCancel(b.Context()), who[i], false, who[1-i])
			})
			if n := b.won(errs, auth.ErrNotManager, auth.ErrLast); n != 1 {
				b.Fatalf("%d were shut out", n)
			}
		},
	})
}

// recorded fails unless somebody is on record for an event.
func (b *bench) recorded(event, by string) {
	b.Helper()
	records, err := b.store.Records(b.Context(), audit.Filter{Tenant: tenant, Event: event})
	b.must(err)
	for _, r := range records {
		if r.By == by {
			return
		}
	}
	b.Fatalf("no record says that %s did %s: %+v", by, event, records)
}
