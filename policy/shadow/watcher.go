package shadow

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/replay"
)

// What waits for the candidate at most. More is dropped.
const (
	MaxQueued      = 256
	MaxQueuedBytes = 16 << 20 // of arguments
	// setAsideAfter is how many times in a row a candidate may not answer.
	// Each leaves a goroutine behind that may never end.
	setAsideAfter = 8
)

// Observation is one call that the live policy has decided on.
type Observation struct {
	Action string       // id of its row or record
	Input  policy.Input // what the live policy was given
	Groups []action.Requirement
	Live   policy.Decision
}

// Sink keeps verdicts. It is used by one goroutine at a time.
type Sink interface {
	Keep(v replay.Verdict) error
	// Dropped notes that so many calls were never put to the candidate.
	Dropped(n int64, at time.Time) error
	// Idle is called when nothing waits any more, such as to flush.
	Idle() error
}

// Config is all that a Watcher needs.
type Config struct {
	// Candidate returns the candidate of now, nil if it does not load. It must
	// return at once. One that was set aside is asked again when the pointer
	// is another one.
	Candidate func() *replay.Candidate
	Sink      Sink          // nil only counts
	Timeout   time.Duration // of one evaluation; as in [policy.Evaluate]
}

// Counts says what became of the calls that were observed.
type Counts struct {
	Observed     int64 `json:"observed"` // all of the below
	Same         int64 `json:"same"`     // the same decision on the same terms
	Changed      int64 `json:"changed"`  // another decision, or other terms
	Unreplayable int64 `json:"unreplayable"`
	Dropped      int64 `json:"dropped"`
	Waiting      int64 `json:"waiting"`
	// Failed is how many of Same and Changed were denied because the candidate
	// failed, and Unkept how many verdicts the sink did not take.
	Failed int64 `json:"failed"`
	Unkept int64 `json:"unkept"`
}

// Watcher asks a candidate about what the live policy decides. It is safe for
// concurrent use.
type Watcher struct {
	cfg   Config
	queue chan Observation
	bytes atomic.Int64 // that wait
	stop  chan struct{}
	once  sync.Once
	ended chan struct{}

	observed, same, changed, unreplayable, dropped, failed, unkept atomic.Int64

	told    int64             // of dropped, what the sink knows; of the worker alone
	silent  int               // how many times in a row the candidate has not answered
	aside   *replay.Candidate // that is not asked any more
	current *replay.Candidate
}

// New starts a watcher. It fails without a candidate to ask.
func New(cfg Config) (*Watcher, error) {
	if cfg.Candidate == nil {
		return nil, errors.New("shadow: config without candidate")
	}
	w := &Watcher{cfg: cfg, queue: make(chan Observation, MaxQueued), stop: make(chan struct{}), ended: make(chan struct{})}
	go w.work()
	return w, nil
}

// Observe hands a call over. It never waits.
func (w *Watcher) Observe(o Observation) {
	w.observed.Add(1)
	size := int64(len(o.Input.RawArguments) + len(o.Input.Proposal.Args.Text()))
	if w.bytes.Add(size) > MaxQueuedBytes {
		w.drop(size)
		return
	}
	// The caller may use its lists again when the call has ended.
	o.Input.Session.Roles, o.Input.Session.Taint = slices.Clone(o.Input.Session.Roles), slices.Clone(o.Input.Session.Taint)
	select {
	case w.queue <- o:
	default:
		w.drop(size)
	}
}

func (w *Watcher) drop(size int64) {
	w.bytes.Add(-size)
	w.dropped.Add(1)
}

// Counts returns what became of the calls so far.
func (w *Watcher) Counts() Counts {
	c := Counts{Same: w.same.Load(), Changed: w.changed.Load(), Unreplayable: w.unreplayable.Load(), Dropped: w.dropped.Load(),
		Failed: w.failed.Load(), Unkept: w.unkept.Load()}
	c.Observed = w.observed.Load()
	c.Waiting = max(0, c.Observed-c.Same-c.Changed-c.Unreplayable-c.Dropped)
	return c
}

// Close lets the candidate see what waits, and ends. It fails with the
// context's error where that takes too long; the rest is then dropped.
func (w *Watcher) Close(ctx context.Context) error {
	w.once.Do(func() { close(w.stop) })
	select {
	case <-w.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *Watcher) work() {
	defer close(w.ended)
	for {
		select {
		case o := <-w.queue:
			w.one(o)
		case <-w.stop:
			for len(w.queue) > 0 {
				w.one(<-w.queue)
			}
			w.rest()
			return
		}
		if len(w.queue) == 0 {
			w.rest()
		}
	}
}

// one asks the candidate about one call and keeps what it says.
func (w *Watcher) one(o Observation) {
	defer w.bytes.Add(-int64(len(o.Input.RawArguments) + len(o.Input.Proposal.Args.Text())))
	v := w.ask(o)
	v.Action = o.Action
	switch v.Kind {
	case replay.Flip, replay.Terms:
		w.changed.Add(1)
	case replay.Unreplayable:
		w.unreplayable.Add(1)
	default:
		w.same.Add(1)
	}
	w.keep(func(s Sink) error { return s.Keep(v) })
}

// ask puts the call to the candidate, unless there is none or it is set aside.
func (w *Watcher) ask(o Observation) (v replay.Verdict) {
	c := w.candidate()
	if c == nil || c == w.aside {
		v, _ = (replay.Candidate{Engine: nil}).Weigh(context.Background(), o.Input, nil, o.Live, w.cfg.Timeout)
		v.Kind, v.Why, v.Is = replay.Unreplayable, replay.WhyCandidate, replay.Answer{Rules: []string{}}
		return v
	}
	v, failed := c.Weigh(context.Background(), o.Input, o.Groups, o.Live, w.cfg.Timeout)
	if failed != "" {
		w.failed.Add(1)
	}
	if failed != policy.ReasonTimeout {
		w.silent = 0
	} else if w.silent++; w.silent >= setAsideAfter {
		w.aside = c
	}
	return v
}

// candidate is the one of now; nil where asking for it panics.
func (w *Watcher) candidate() (c *replay.Candidate) {
	defer func() {
		if recover() != nil {
			c = nil
		}
	}()
	c = w.cfg.Candidate()
	if c != w.current {
		w.current, w.silent = c, 0
	}
	return c
}

// rest tells the sink what it does not know yet.
func (w *Watcher) rest() {
	if n := w.dropped.Load() - w.told; n > 0 {
		w.told += n
		w.keep(func(s Sink) error { return s.Dropped(n, time.Now()) })
	}
	w.keep(Sink.Idle)
}

// keep calls the sink. That it fails is counted; a call is not to suffer.
func (w *Watcher) keep(do func(Sink) error) {
	if w.cfg.Sink == nil {
		return
	}
	defer func() {
		if recover() != nil {
			w.unkept.Add(1)
		}
	}()
	if do(w.cfg.Sink) != nil {
		w.unkept.Add(1)
	}
}
