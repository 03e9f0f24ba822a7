package storetest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

func standingRevoked(b *bench) {
	g := b.granted(b.paying(300))
	claimed := b.claim(b.cover(b.paying(300), g, nil))
	_, err := b.store.RevokeGrant(b.Context(), tenant, g.ID, fay)
	b.refused(err, action.ErrIneligible)
	out, err := b.store.RevokeGrant(b.Context(), tenant, g.ID, pat) // less authority for one's own agent
	b.must(err)
	if out.RevokedAt.IsZero() || out.RevokedBy != pat {
		b.Fatalf("%+v", out)
	}
	b.recorded(audit.StandingRevoked, pat)
	_, err = b.start(claimed)
	b.refused(err, action.ErrIneligible)
	b.refused(err, action.ErrStanding)
	b.used(g, 0, 0)
	b.cover(b.paying(3), g, action.ErrStanding)
	_, err = b.store.RevokeGrant(b.Context(), tenant, g.ID, ann)
	b.refused(err, action.ErrState)
	_, err = b.store.SignGrant(b.Context(), signature(g, bob))
	b.refused(err, action.ErrState)
	if left, err := b.store.Grants(b.Context(), action.StandingFilter{Tenant: tenant, Usable: true}); err != nil || len(left) != 0 {
		b.Fatalf("%+v, %v", left, err)
	}
}

func standingEnds(b *bench) {
	ends := map[string]func(){
		"its end":       func() { b.clock.add(time.Hour) },
		"a new policy":  func() { b.version = b.policy(fmt.Sprintf("rules %d", b.next())) },
		"a lost signer": func() { b.must(b.book.Disable(b.Context(), ann)) },
	}
	for _, name := range []string{"its end", "a new policy", "a lost signer"} {
		g := b.granted(b.paying(300))
		row := b.paying(300)
		if name == "its end" {
			b.clock.add(55 * time.Minute)
			row = b.paying(300)
			b.clock.add(-55 * time.Minute)
		}
		claimed := b.claim(b.cover(row, g, nil))
		ends[name]()
		if _, err := b.start(claimed); err == nil {
			b.Errorf("a run began after %s", name)
		}
		b.used(g, 0, 0)
	}
}

func standingQuorum(b *bench) {
	two := []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}}
	a := b.paying(300, func(a *action.Action) { a.Terms.Requirements = two })
	g := b.granted(a)
	b.cover(a, g, action.ErrStanding)
	_, err := b.store.SignGrant(b.Context(), signature(g, bob))
	b.must(err)
	b.recorded(audit.StandingSigned, bob)
	b.begin(b.claim(b.cover(a, g, nil)))
	one := b.paying(3)
	b.cover(one, g, action.ErrStanding) // for another requirement
}

func standingRush(b *bench) {
	g := b.granted(b.paying(300), func(g *action.StandingGrant) { g.MaxUses = 8 })
	var rows []action.Action
	for range 8 { // 900 is enough for three of them
		rows = append(rows, b.paying(300))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	begun := 0
	for _, row := range rows {
		wg.Go(func() {
			_, err := b.store.Cover(b.Context(), row.ID, g.ID)
			if err == nil {
				var out action.Action
				if out, err = b.store.Claim(b.Context(), row.ID, lease); err == nil {
					_, err = b.start(out)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				begun++
			} else if !errors.Is(err, action.ErrStanding) {
				b.Errorf("refused as %v", err)
			}
		})
	}
	wg.Wait()
	b.used(g, 3, 900)
	if begun != 3 {
		b.Fatalf("%d runs began", begun)
	}
}

func standingErased(b *bench) {
	a := b.paying(300)
	g := b.granted(a)
	b.finish(b.begin(b.claim(b.cover(a, g, nil))), action.Succeeded)
	_, err := b.erase(a.ID, opal)
	b.must(err)
	got := b.standing(g.ID)
	if len(got.Scope.Members)+len(got.Scope.Targets) != 0 || got.RevokedAt.IsZero() {
		b.Fatalf("left: %+v", got)
	}
	for _, e := range b.entries(a.ID) {
		if r, err := audit.ParseLeaf(e.Leaf); err != nil || r.Event == audit.StandingMade && e.Salt != nil {
			b.Errorf("record %s keeps its salt: %v", r.Event, err)
		}
	}
	b.cover(b.paying(3), g, action.ErrStanding)
}

// standingRaces has a run begin while its grant is revoked, again and again:
// what began had begun before the revocation, and nothing begins after one.
func standingRaces(b *bench) {
	began := 0
	for range 12 {
		g := b.granted(b.paying(300))
		claimed := b.claim(b.cover(b.paying(300), g, nil))
		var wg sync.WaitGroup
		var startErr, revokeErr error
		wg.Go(func() { _, startErr = b.start(claimed) })
		wg.Go(func() { _, revokeErr = b.store.RevokeGrant(b.Context(), tenant, g.ID, ann) })
		wg.Wait()
		b.must(revokeErr)
		got := b.standing(g.ID)
		switch {
		case startErr == nil:
			began++
			if got.Uses != 1 || b.row(claimed.ID).State != action.Executing {
				b.Fatalf("it began, with %d uses: %s", got.Uses, b.row(claimed.ID).State)
			}
		case !errors.Is(startErr, action.ErrIneligible):
			b.Fatalf("refused as %v", startErr)
		case got.Uses != 0 || b.row(claimed.ID).State != action.Claimed:
			b.Fatalf("it did not begin, with %d uses: %s", got.Uses, b.row(claimed.ID).State)
		}
		again := b.paying(300)
		b.cover(again, g, action.ErrStanding)
	}
	b.Logf("%d of 12 began before the revocation", began)
}
