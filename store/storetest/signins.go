package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
)

// password gives an account a new password and proves it.
func (b *bench) password(id string) auth.Proof {
	b.Helper()
	hash := fmt.Sprint("hash ", b.next())
	b.must(b.register().SetPassword(b.Context(), id, hash, b.clock.read()))
	return auth.Proof{PasswordHash: hash}
}

// passkey gives an account a new passkey and proves it.
func (b *bench) passkey(id string, by auth.Proof) auth.Proof {
	b.Helper()
	c := b.key(id, fmt.Sprint("passkey ", b.next()))
	b.must(b.register().AddCredential(b.Context(), *c))
	by.Passkey = c.ID
	return by
}

// login is one that somebody is about to begin.
func (b *bench) login(account, method string) auth.Login {
	now := b.clock.read()
	return auth.Login{Token: canon.Sum(fmt.Append(nil, "login ", b.next())), AccountID: account, CreatedAt: now,
		ExpiresAt: now.Add(time.Hour), IdleUntil: now.Add(time.Hour), Method: method, ProvedAt: now}
}

// signIn adds a login and reports whether it is there.
func (b *bench) signIn(l auth.Login, by auth.Proof, want error) {
	b.Helper()
	err := b.register().AddLogin(b.Context(), l, by)
	if !errors.Is(err, want) {
		b.Fatalf("a login by %s: %v, want %v", l.Method, err, want)
	}
	if _, found := b.register().Login(b.Context(), l.Token); (found == nil) != (want == nil) {
		b.Fatalf("the login of an answer %v: %v", want, found)
	}
}

func signIns() map[string]func(*bench) {
	return map[string]func(*bench){
		"a login by a password that was changed meanwhile is not added": func(b *bench) {
			old := b.password(ann)
			b.signIn(b.login(ann, auth.MethodPassword), old, nil)
			now := b.password(ann)
			b.signIn(b.login(ann, auth.MethodPassword), old, auth.ErrProofGone)
			b.signIn(b.login(ann, auth.MethodPassword), now, nil)
		},
		"a change of the password ends logins of every method that are on their way": func(b *bench) {
			none := auth.Proof{}
			key := b.passkey(bob, none)
			b.signIn(b.login(bob, auth.MethodPasskey), key, nil)
			b.signIn(b.login(bob, auth.MethodOIDC), none, nil)
			b.password(bob)
			b.signIn(b.login(bob, auth.MethodPasskey), key, auth.ErrProofGone)
			b.signIn(b.login(bob, auth.MethodOIDC), none, auth.ErrProofGone)
		},
		"a login by a passkey that was removed meanwhile is not added": func(b *bench) {
			password := b.password(ann)
			gone, stays := b.passkey(ann, password), b.passkey(ann, password)
			b.signIn(b.login(ann, auth.MethodPasskey), gone, nil)
			b.must(b.register().RemoveCredential(b.Context(), gone.Passkey, b.clock.read()))
			b.signIn(b.login(ann, auth.MethodPasskey), gone, auth.ErrProofGone)
			b.signIn(b.login(ann, auth.MethodPasskey), stays, nil)
		},
		"a login takes a proof of its method, of its account": func(b *bench) {
			password, none := b.password(ann), auth.Proof{}
			of := b.passkey(bob, none)
			b.signIn(b.login(ann, auth.MethodPassword), none, auth.ErrProofGone)
			b.signIn(b.login(fay, auth.MethodPassword), none, auth.ErrProofGone) // who has no password
			b.signIn(b.login(ann, auth.MethodPasskey), password, auth.ErrProofGone)
			b.signIn(b.login(ann, auth.MethodPasskey), auth.Proof{PasswordHash: password.PasswordHash, Passkey: of.Passkey}, auth.ErrProofGone)
			b.signIn(b.login(bob, ""), of, auth.ErrProofGone)
			b.signIn(b.login("acc_none", auth.MethodOIDC), none, auth.ErrNoAccount)
		},
		"no login outlives the change of the password that it was proved with": func(b *bench) {
			b.rivals(10, auth.MethodPassword, b.password, func(ctx context.Context, by auth.Proof) error {
				return b.register().SetPassword(ctx, ann, by.PasswordHash+" no more", b.clock.read())
			})
		},
		"no login follows the removal of the passkey that it was proved with": func(b *bench) {
			password := b.password(ann)
			b.rivals(3, auth.MethodPasskey, func(id string) auth.Proof { return b.passkey(id, password) }, func(ctx context.Context, by auth.Proof) error {
				if err := b.register().RemoveCredential(ctx, by.Passkey, b.clock.read()); err != nil {
					return err
				}
				late := b.login(ann, auth.MethodPasskey)
				if err := b.register().AddLogin(ctx, late, by); !errors.Is(err, auth.ErrProofGone) {
					return fmt.Errorf("a login after the removal: %w", err)
				}
				return b.register().SetPassword(ctx, ann, password.PasswordHash, b.clock.read()) // ends those of before
			})
		},
	}
}

// rivals: whatever is proved at the moment when its proof ends, no login of it
// is left.
func (b *bench) rivals(rounds int, method string, prove func(id string) auth.Proof, end func(context.Context, auth.Proof) error) {
	b.Helper()
	for round := range rounds {
		by, logins := prove(ann), make([]auth.Login, 5)
		errs := together(len(logins)+1, func(i int) error {
			ctx := context.WithoutCancel(b.Context())
			if i == len(logins) {
				return end(ctx, by)
			}
			logins[i] = b.login(ann, method)
			return b.register().AddLogin(ctx, logins[i], by)
		})
		b.won(errs, auth.ErrProofGone)
		for _, l := range logins {
			if _, err := b.register().Login(b.Context(), l.Token); !errors.Is(err, auth.ErrNoLogin) {
				b.Fatalf("round %d: a login is left: %v", round, err)
			}
		}
	}
}
