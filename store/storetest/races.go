package storetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
)

// together runs n calls at once and returns their errors.
func together(n int, call func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			<-start
			errs[i] = call(i)
		}()
	}
	close(start)
	wg.Wait()
	return errs
}

// won counts the calls that succeeded; every other must be one of want.
func (b *bench) won(errs []error, want ...error) int {
	b.Helper()
	n := 0
	for _, err := range errs {
		switch {
		case err == nil:
			n++
		case !isOneOf(err, want):
			b.Errorf("unexpected error %v", err)
		}
	}
	return n
}

func isOneOf(err error, want []error) bool {
	for _, w := range want {
		if errors.Is(err, w) {
			return true
		}
	}
	return false
}

func testRaces(t *testing.T, open Open) {
	const many = 32
	each(t, open, map[string]func(*bench){
		"B27 J04 one claim wins": func(b *bench) {
			row := b.approved()
			errs := together(many, func(int) error {
				_, err := b.store.Claim(b.Context(), row.ID, lease)
				return err
			})
			if n := b.won(errs, action.ErrState); n != 1 {
				b.Fatalf("%d claims won", n)
			}
		},
		"B07 D01 an approval is consumed once": func(b *bench) {
			row := b.claimed()
			errs := together(many, func(int) error {
				_, err := b.start(row)
				return err
			})
			if n := b.won(errs, action.ErrState, action.ErrConsumed); n != 1 {
				b.Fatalf("%d runs began", n)
			}
			if got := b.row(row.ID); got.Attempt != 1 {
				b.Fatalf("attempt %d", got.Attempt)
			}
		},
		"D14 J05 one call wins a key": func(b *bench) {
			calls := make([]action.Action, many)
			for i := range calls {
				calls[i] = b.keyed("k")
			}
			errs := together(many, func(i int) error {
				_, err := b.start(calls[i])
				return err
			})
			if n := b.won(errs, action.ErrKeyTaken); n != 1 {
				b.Fatalf("%d calls began under one key", n)
			}
		},
		"one person has one vote": func(b *bench) {
			row := b.suspend(b.asking(b.call(), []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}}))
			errs := together(many, func(int) error {
				_, err := b.store.Vote(b.Context(), vote(row, ann, true))
				return err
			})
			if n := b.won(errs, action.ErrVoted); n != 1 {
				b.Fatalf("%d votes of one person", n)
			}
			if got := b.row(row.ID).State; got != action.PendingApproval {
				b.Fatalf("one person made it %s", got)
			}
		},
		"revoke against begin: the order of commits is the truth": func(b *bench) {
			for range many / 4 {
				row := b.claimed()
				errs := together(2, func(i int) error {
					if i == 0 {
						_, err := b.store.Revoke(b.Context(), row.ID, opal, "stop")
						return err
					}
					_, err := b.start(row)
					return err
				})
				if n := b.won(errs, action.ErrState); n != 1 {
					b.Fatalf("%d of revoke and begin won", n)
				}
				want := action.Executing
				if errs[0] == nil {
					want = action.Revoked
				}
				if got := b.row(row.ID).State; got != want {
					b.Fatalf("row is %s, want %s", got, want)
				}
			}
		},
		"policy against begin: what began was of the current rules": func(b *bench) {
			calls := make([]action.Action, many)
			for i := range calls {
				calls[i] = b.call()
			}
			errs := together(many+1, func(i int) error {
				if i == many {
					b.policy("newer rules")
					return nil
				}
				_, err := b.start(calls[i])
				return err
			})
			b.won(errs, action.ErrStale)
			_, err := b.start(b.call())
			b.refused(err, action.ErrStale)
		},
		"freeze against begin: what began was counted, and nothing begins after": func(b *bench) {
			calls, running := make([]action.Action, many), 0
			for i := range calls {
				calls[i] = b.call()
			}
			errs := together(many+1, func(i int) error {
				if i == many {
					var err error
					running, err = b.store.Stop(b.Context(), action.Stop{Tenant: tenant, By: opal})
					return err
				}
				_, err := b.start(calls[i])
				return err
			})
			if n := b.won(errs, action.ErrStopped) - 1; n != running {
				b.Fatalf("%d began, %d were counted as running", n, running)
			}
		},
		"a run ends once": func(b *bench) {
			row := b.begin(b.call())
			errs := together(many, func(i int) error {
				state := action.Succeeded
				if i%2 == 0 {
					state = action.Failed
				}
				_, err := b.store.Finish(b.Context(), ending(row, state))
				return err
			})
			if n := b.won(errs, action.ErrState); n != 1 {
				b.Fatalf("%d endings won", n)
			}
		},
	})
}
