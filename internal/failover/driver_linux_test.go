package failover_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
)

// callers is how many callers there are, unless VERBATIM_FAULT_CALLERS says
// otherwise, and pace how long each thinks before its next call. Of a hundred,
// several always ask one gateway at once and share transactions.
const (
	callers = 18
	pace    = 60 * time.Millisecond
)

// driver makes calls through the gateways and remembers what it was told.
type driver struct {
	gateways []*process
	stop     chan struct{}
	working  sync.WaitGroup
	numbers  atomic.Int64
	good     atomic.Int64 // answers that something has now run
	calls    atomic.Int64

	mu      sync.Mutex
	told    map[string][]action.State // by action
	output  map[int]string            // by proposal; "" where none was told
	done    []request                 // proposals that have ended
	notTrue []string
	ran     []time.Time // when it was told that something has now run
}

func newDriver(all []*process, callers int) *driver {
	d := &driver{gateways: all, stop: make(chan struct{}), told: map[string][]action.State{}, output: map[int]string{}}
	for range callers {
		d.working.Go(d.work)
	}
	return d
}

// end lets every caller finish its proposal.
func (d *driver) end() {
	close(d.stop)
	d.working.Wait()
}

func (d *driver) ending() bool {
	select {
	case <-d.stop:
		return true
	default:
		return false
	}
}

func (d *driver) work() {
	for !d.ending() {
		if r, ok := d.old(); ok && rand.IntN(3) == 0 {
			d.again(r)
		} else {
			d.propose(d.fresh())
		}
		time.Sleep(rand.N(2 * pace))
	}
}

// fresh is a proposal that nobody has made. Every fourth must be approved.
func (d *driver) fresh() request {
	n := int(d.numbers.Add(1))
	r := request{N: n, Tool: "blind", Ask: n%4 == 0}
	switch n % 16 {
	case 1:
		r.Tool = "keyed"
	case 2:
		r.Tool = "cancel"
	case 3, 4:
		r.Tool = "queryable"
	}
	return r
}

// old is a proposal that has ended, mostly a moment ago.
func (d *driver) old() (request, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.done) == 0 {
		return request{}, false
	}
	recent := min(len(d.done), 60)
	return d.done[len(d.done)-1-rand.IntN(recent)], true
}

// tries is how often a caller asks about one proposal before it leaves it.
const tries = 12

// propose makes one call, at any gateway, at times at two, until it is told
// how it ended.
func (d *driver) propose(r request) {
	for range tries {
		a := d.call(r)
		switch {
		case a.Error != "" || a.Status == verbatim.StatusInProgress:
			time.Sleep(rand.N(400 * time.Millisecond))
		case a.State == action.PendingApproval:
			d.approve(a.Action)
		case a.State.Terminal():
			d.ended(r, a.State)
			return
		default: // uncertain: somebody may settle it
			time.Sleep(rand.N(2 * time.Second))
		}
		if d.ending() {
			return
		}
	}
}

// ended notes a proposal whose stored answer must stand from now on. One that
// failed may be made again.
func (d *driver) ended(r request, s action.State) {
	if s == action.Succeeded || s == action.ReconciledSucceeded {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.done = append(d.done, r)
	}
}

// busy is how many calls may wait at a gateway before callers go elsewhere.
const busy = 5

// gateway is one of those that answer.
func (d *driver) gateway() *process {
	first := rand.IntN(len(d.gateways))
	for i := range d.gateways {
		if p := d.gateways[(first+i)%len(d.gateways)]; p.waiting() < busy {
			return p
		}
	}
	return d.gateways[first]
}

// call asks one gateway, or two at once.
func (d *driver) call(r request) answer {
	if rand.IntN(4) > 0 {
		return d.note(r, d.gateway().ask(r))
	}
	var other answer
	var wait sync.WaitGroup
	wait.Go(func() { other = d.note(r, d.gateway().ask(r)) })
	a := d.note(r, d.gateway().ask(r))
	wait.Wait()
	if a.State.Terminal() {
		return a
	}
	return other
}

func (d *driver) approve(id string) {
	for _, who := range []string{"ada", "bob"} {
		a := d.gateway().ask(request{Vote: id, By: who})
		if a.Error == "" {
			d.note(request{N: -1}, a)
		}
	}
}

// again makes a call that has ended: it must be answered from the store.
func (d *driver) again(r request) {
	if a := d.call(r); a.Error == "" && a.State == action.Succeeded && !a.Replayed {
		d.untrue("proposal", r.N, "had ended, and ran again")
	}
}

// note keeps what a caller was told.
func (d *driver) note(r request, a answer) answer {
	d.calls.Add(1)
	if a.Action == "" || a.State == "" || a.Error != "" {
		return a
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if a.State == action.Succeeded && !a.Replayed {
		d.good.Add(1)
		d.ran = append(d.ran, time.Now())
	}
	d.told[a.Action] = append(d.told[a.Action], a.State)
	if a.Status == verbatim.StatusOK {
		if before := d.output[r.N]; before != "" && before != a.Output {
			d.notTrue = append(d.notTrue, "two answers to proposal "+text(r.N)+": "+before+" and "+a.Output)
		}
		d.output[r.N] = a.Output
	}
	return a
}

func (d *driver) untrue(words ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = text(w)
	}
	d.notTrue = append(d.notTrue, strings.Join(parts, " "))
}

// silence is the longest time since a moment in which no call ran.
func (d *driver) silence(since time.Time) (longest time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, at := range d.ran {
		if at.After(since) {
			longest, since = max(longest, at.Sub(since)), at
		}
	}
	return longest
}
