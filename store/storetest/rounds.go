package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// RoundsVariable says how many rounds of the race are run; long-races sets it.
const RoundsVariable = "VERBATIM_RACE_ROUNDS"

const (
	shortRounds = 120
	racers      = 16 // rounds at a time
)

// leads are rounds in which some go before the others, one for each ending:
// the race may miss one of them, however often it is run.
var leads = map[int][]int{1: {expires}, 2: {rejects}, 3: {revokes}, 4: {approves, executes}}

// The rivals of a round.
const (
	approves = iota
	rejects
	revokes
	expires
	executes
)

func testRounds(t *testing.T, open Open) {
	b := prepare(t, open)
	rounds := shortRounds
	if text := os.Getenv(RoundsVariable); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	var next atomic.Int64
	var mu sync.Mutex
	ended := map[action.State]int{}
	var wg sync.WaitGroup
	for range racers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := next.Add(1); int(n) <= rounds && !t.Failed(); n = next.Add(1) {
				state, err := b.round(int(n))
				if err != nil {
					t.Errorf("round %d: %v", n, err)
				}
				mu.Lock()
				ended[state]++
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	t.Logf("%d rounds: %v", rounds, ended)
	if len(ended) < 2 && !t.Failed() {
		t.Error("each round ended the same way: the race is none")
	}
	for _, state := range []action.State{action.Denied, action.Revoked, action.Expired, action.Succeeded} {
		if ended[state] == 0 && rounds >= len(leads) && !t.Failed() {
			t.Errorf("no round ended %s", state)
		}
	}
}

// told is what one of the rivals was told.
type told struct {
	who string
	row action.Action
	err error
}

// round has everything that can end one action happen at once, and says how it
// ended.
func (b *bench) round(n int) (action.State, error) {
	ctx := context.Background()
	a := b.asking(b.call(), oneAdmin())
	if n%4 == 1 {
		a.Terms.PendingUntil = b.clock.read().Add(time.Millisecond)
	}
	row, err := b.store.Suspend(ctx, a)
	if err != nil {
		return "", err
	}
	yes, no := vote(row, ann, true), vote(row, bob, false)
	yes.LoginAt = b.clock.read()
	rivals := []func() told{
		approves: func() told { r, err := b.store.Vote(ctx, yes); return told{"approve", r, err} },
		rejects:  func() told { r, err := b.store.Vote(ctx, no); return told{"reject", r, err} },
		revokes:  func() told { r, err := b.store.Revoke(ctx, row.ID, opal, "stop"); return told{"revoke", r, err} },
		expires:  func() told { return b.expireNow(ctx, row.ID) },
		executes: func() told { return b.execute(ctx, row.ID) },
	}
	answers, delays := make([]told, len(rivals)), headStarts(n, len(rivals))
	for _, i := range leads[n] {
		answers[i] = rivals[i]()
	}
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range rivals {
		if slices.Contains(leads[n], i) {
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			<-start
			time.Sleep(delays[i])
			answers[i] = rivals[i]()
		}()
	}
	close(start)
	wg.Wait()
	return b.truth(ctx, row.ID, answers)
}

// headStarts are how long each rival waits: by chance, the same in each run.
// Running takes several steps, so that in half of the rounds those who would
// stop it are slow.
func headStarts(n, rivals int) []time.Duration {
	r := rand.New(rand.NewPCG(uint64(n), 0))
	out := make([]time.Duration, rivals)
	for i := range out {
		most := time.Millisecond
		if n%2 == 0 && i > 0 && i < rivals-1 {
			most = 30 * time.Millisecond
		}
		out[i] = time.Duration(r.Int64N(int64(most)))
	}
	return out
}

// expireNow lets a millisecond pass and sweeps.
func (b *bench) expireNow(ctx context.Context, id string) told {
	b.clock.add(time.Millisecond)
	rows, err := b.store.Expire(ctx, false)
	i := slices.IndexFunc(rows, func(r action.Action) bool { return r.ID == id })
	if err == nil && i < 0 {
		return told{"expire", action.Action{}, action.ErrState}
	}
	if err != nil {
		return told{"expire", action.Action{}, err}
	}
	return told{"expire", rows[i], nil}
}

// execute tries for a moment to run the action.
func (b *bench) execute(ctx context.Context, id string) told {
	for range 40 {
		row, err := b.store.Claim(ctx, id, lease)
		if errors.Is(err, action.ErrState) && row.State == action.PendingApproval {
			time.Sleep(250 * time.Microsecond)
			continue
		}
		if err != nil {
			return told{"execute", row, err}
		}
		if row, err = b.store.Begin(ctx, action.Start{Action: row, Lease: lease}); err != nil {
			return told{"execute", row, err}
		}
		row, err = b.store.Finish(ctx, ending(row, action.Succeeded))
		return told{"execute", row, err}
	}
	return told{"execute", action.Action{State: action.PendingApproval}, action.ErrState}
}

// truth compares how an action ended with its record and with what everybody
// was told. Whatever is left open is ended first.
func (b *bench) truth(ctx context.Context, id string, answers []told) (action.State, error) {
	row, err := b.store.Action(ctx, tenant, id)
	if err == nil && !row.State.Terminal() {
		row, err = b.store.Revoke(ctx, id, opal, "the round is over")
	}
	if err != nil {
		return "", err
	}
	records, err := b.store.Records(ctx, audit.Filter{Tenant: tenant, Action: id})
	if err != nil {
		return row.State, err
	}
	been := map[action.State]bool{}
	ends := 0
	for _, r := range records {
		from, to := action.State(r.From), action.State(r.To)
		if been[to] = true; from != to && from != action.Received && !action.CanMove(from, to) {
			return row.State, fmt.Errorf("the record has an edge from %s to %s", from, to)
		}
		if to.Terminal() && from != to {
			ends++
		}
	}
	if ends != 1 || !been[row.State] {
		return row.State, fmt.Errorf("%d ends on record, and the row is %s", ends, row.State)
	}
	return row.State, errors.Join(fair(row.State, been, answers), oneWon(answers))
}

// fair: a winner's word is what happened, and a loser is shown a state that
// the action was in.
func fair(end action.State, been map[action.State]bool, answers []told) error {
	wins := map[string]action.State{"reject": action.Denied, "revoke": action.Revoked, "expire": action.Expired, "execute": action.Succeeded}
	var errs []error
	for _, a := range answers {
		switch want, ends := wins[a.who]; {
		case a.err == nil && ends && end != want:
			errs = append(errs, fmt.Errorf("%s was told that it won, and the action is %s", a.who, end))
		case a.err == nil && !ends && !been[action.Approved]:
			errs = append(errs, errors.New("a counted yes left no approval"))
		case a.err != nil && !isOneOf(a.err, []error{action.ErrState, action.ErrLate, action.ErrIneligible, action.ErrFence, action.ErrStale}):
			errs = append(errs, fmt.Errorf("%s was told %w", a.who, a.err))
		case a.err != nil && a.row.ID != "" && !been[a.row.State]:
			errs = append(errs, fmt.Errorf("%s was shown %s, which the action never was", a.who, a.row.State))
		}
	}
	return errors.Join(errs...)
}

// oneWon: one of those who end an action may have won, never two.
func oneWon(answers []told) error {
	n := 0
	for _, a := range answers {
		if a.err == nil && a.who != "approve" {
			n++
		}
	}
	if n > 1 {
		return fmt.Errorf("%d were told that they won", n)
	}
	return nil
}
