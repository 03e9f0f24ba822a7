package auth_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
)

func TestDelegationsAreBoundedAndEndedByTheirPeople(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bob, dan := b.person(t, "Bob"), b.person(t, "Dan")
	b.person(t, "Olga", "operator")
	ctx := t.Context()
	for name, c := range map[string]struct {
		to          string
		from, until time.Time
		reason      string
	}{
		"to oneself":         {b.alice.ID, start, start.Add(time.Hour), "away"},
		"to nobody":          {"", start, start.Add(time.Hour), "away"},
		"to no account":      {"person_none", start, start.Add(time.Hour), "away"},
		"over before":        {bob.ID, start.Add(-2 * time.Hour), start.Add(-time.Hour), "away"},
		"ends as it starts":  {bob.ID, start.Add(time.Hour), start.Add(time.Hour), "away"},
		"too long":           {bob.ID, start, start.Add(auth.MaxDelegation + time.Second), "away"},
		"without a reason":   {bob.ID, start, start.Add(time.Hour), " "},
		"with a long reason": {bob.ID, start, start.Add(time.Hour), strings.Repeat("x", 501)},
	} {
		if _, err := b.accounts.Delegate(ctx, b.alice, c.to, c.from, c.until, c.reason); !errors.Is(err, auth.ErrDelegation) {
			t.Errorf("%s: %v", name, err)
		}
	}
	make := func() auth.Delegation {
		t.Helper()
		d, err := b.accounts.Delegate(ctx, b.alice, bob.ID, start.Add(-time.Hour), start.Add(time.Hour), "away")
		if err != nil || !d.StartsAt.Equal(start) {
			t.Fatalf("%+v, %v", d, err)
		}
		return d
	}
	d := make()
	if err := b.accounts.EndDelegation(ctx, dan, d.ID); !errors.Is(err, auth.ErrNotManager) {
		t.Errorf("somebody else ends it: %v", err)
	}
	stands := func() int {
		t.Helper()
		got, err := b.accounts.StandsFor(ctx, bob)
		if err != nil {
			t.Fatal(err)
		}
		return len(got)
	}
	if stands() != 1 {
		t.Error("Bob stands in for nobody")
	}
	for _, by := range []auth.Account{b.alice, bob} {
		if err := b.accounts.EndDelegation(ctx, by, make().ID); err != nil {
			t.Errorf("%s: %v", by.Name, err)
		}
	}
	if err := b.book.Disable(ctx, b.alice.ID); err != nil {
		t.Fatal(err)
	}
	if stands() != 0 {
		t.Error("Bob stands in for somebody who was shut out")
	}
}
