package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/internal/events"
)

// Log is what sinks read; a store is one.
type Log interface {
	audit.Followers
	Now(ctx context.Context) (time.Time, error)
	Origin(ctx context.Context) (string, error)
	Entries(ctx context.Context, s audit.Selection) ([]audit.Entry, error)
	Records(ctx context.Context, f audit.Filter) ([]audit.Record, error)
}

// Target takes events: all of them, or an error that holds no secret and no
// event. What was refused comes again, and so may what was taken.
type Target interface {
	Deliver(ctx context.Context, batch []events.Event) error
}

// Config is one sink.
type Config struct {
	Name   string // its place in the log goes by it
	Target Target
	// FromStart begins a new sink with the first record there is, not with the
	// next one.
	FromStart bool
	// Runs adds the run record to the last event of each action.
	Runs bool
}

// Options are the times of all sinks; zero fields are the defaults.
type Options struct {
	Owner    string        // who delivers; another for each process
	Every    time.Duration // how often the log is looked at: 500 ms
	Patience time.Duration // how long a target may take for a batch: 20 s
	MaxPause time.Duration // the longest pause after a failure: 1 min
	Log      *slog.Logger  // nil discards
}

// The bounds of a batch, and how much longer a lease is than a delivery.
const (
	batchRecords = 100
	leaseSlack   = 40 * time.Second
	firstPause   = 200 * time.Millisecond
	maxEntries   = 1000 // of one action, for its run record
)

// Sinks are the sinks of one process.
type Sinks struct {
	log  Log
	opt  Options
	list []*sink
}

// sink is one sink at work.
type sink struct {
	Config
	all *Sinks

	turns sync.Mutex // one turn at a time
	known bool       // the place exists, and is not behind next
	next  int64

	mu        sync.Mutex
	delivered int64
	failures  int64
	failing   bool
}

// New returns sinks that have not begun. Names must differ.
func New(log Log, list []Config, opt Options) (*Sinks, error) {
	if opt.Owner == "" {
		return nil, errors.New("sinks without an owner")
	}
	opt.Every = or(opt.Every, 500*time.Millisecond)
	opt.Patience = or(opt.Patience, 20*time.Second)
	opt.MaxPause = or(opt.MaxPause, time.Minute)
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Sinks{log: log, opt: opt}
	seen := map[string]bool{}
	for _, c := range list {
		if c.Name == "" || c.Target == nil || seen[c.Name] {
			return nil, fmt.Errorf("sink %q: a sink has a name of its own and a target", c.Name)
		}
		seen[c.Name] = true
		s.list = append(s.list, &sink{Config: c, all: s})
	}
	return s, nil
}

func or(d, other time.Duration) time.Duration {
	if d <= 0 {
		return other
	}
	return d
}

// Run delivers until ctx ends.
func (s *Sinks) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, one := range s.list {
		all.Go(func() { one.run(ctx) })
	}
	all.Wait()
}

// Flush delivers what there is, as long as ctx lasts; it tries each sink once.
func (s *Sinks) Flush(ctx context.Context) {
	var all sync.WaitGroup
	for _, one := range s.list {
		all.Go(func() {
			for more := true; more && ctx.Err() == nil; {
				var err error
				if more, err = one.turn(ctx); err != nil {
					return
				}
			}
		})
	}
	all.Wait()
}

func (s *sink) run(ctx context.Context) {
	pause := time.Duration(0)
	for {
		more, err := s.turn(ctx)
		if ctx.Err() != nil {
			return
		}
		s.note(err)
		wait := s.all.opt.Every
		switch {
		case err != nil:
			pause = min(max(2*pause, firstPause), s.all.opt.MaxPause)
			wait = pause
		case more:
			pause, wait = 0, 0
		default:
			pause = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// note says in the log when a sink begins to fail, and when it has recovered.
func (s *sink) note(err error) {
	s.mu.Lock()
	was := s.failing
	s.failing = err != nil
	if err != nil {
		s.failures++
	}
	s.mu.Unlock()
	switch {
	case err != nil && !was:
		s.all.opt.Log.Warn("a sink does not take events; they wait", "sink", s.Name, "error", err)
	case err == nil && was:
		s.all.opt.Log.Info("a sink takes events again", "sink", s.Name)
	}
}

// turn delivers one batch and reports whether there may be more.
func (s *sink) turn(ctx context.Context) (more bool, err error) {
	s.turns.Lock()
	defer s.turns.Unlock()
	if !s.known {
		if err := s.begin(ctx); err != nil {
			return false, err
		}
	}
	entries, err := s.all.log.Entries(ctx, audit.Selection{From: s.next, Most: batchRecords})
	if err != nil || len(entries) == 0 {
		return false, err
	}
	p, err := s.lease(ctx, s.next)
	if err != nil || p.By != s.all.opt.Owner { // another gateway delivers
		s.next = max(s.next, p.Next)
		return false, err
	}
	if p.Next != s.next { // another gateway has delivered
		s.next = p.Next
		return true, nil
	}
	return s.hand(ctx, entries)
}

// begin finds the place of the sink, or makes it.
func (s *sink) begin(ctx context.Context) error {
	start := int64(0)
	if !s.FromStart {
		var err error
		if start, err = newest(ctx, s.all.log); err != nil {
			return err
		}
	}
	places, err := s.all.log.Places(ctx)
	if err != nil {
		return err
	}
	for _, p := range places {
		if p.Name == s.Name {
			s.known, s.next = true, p.Next
			return nil
		}
	}
	p, err := s.lease(ctx, start)
	if err == nil {
		s.known, s.next = true, p.Next
	}
	return err
}

func (s *sink) lease(ctx context.Context, start int64) (audit.Place, error) {
	return s.all.log.Follow(ctx, s.Name, s.all.opt.Owner, start, s.all.opt.Patience+leaseSlack)
}

// hand gives a batch to the target and then moves the place.
func (s *sink) hand(ctx context.Context, entries []audit.Entry) (bool, error) {
	batch, err := s.eventsOf(ctx, entries)
	if err != nil {
		return false, err
	}
	limited, cancel := context.WithTimeout(ctx, s.all.opt.Patience)
	defer cancel()
	if err := s.Target.Deliver(limited, batch); err != nil {
		return false, err
	}
	next := entries[len(entries)-1].Index + 1
	moved, err := s.all.log.Advance(ctx, s.Name, s.all.opt.Owner, next)
	if err != nil {
		return false, err
	}
	if !moved { // the lease was lost meanwhile; whoever has it goes on
		s.known = false
		return true, nil
	}
	s.next = next
	s.mu.Lock()
	s.delivered += int64(len(batch))
	s.mu.Unlock()
	return len(entries) == batchRecords, nil
}

func (s *sink) eventsOf(ctx context.Context, entries []audit.Entry) ([]events.Event, error) {
	origin, err := s.all.log.Origin(ctx)
	if err != nil {
		return nil, err
	}
	var batch []events.Event
	for _, e := range entries {
		all, err := events.Of(origin, e)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", e.Index, err)
		}
		if last := &all[len(all)-1]; s.Runs && last.Ends() {
			if last.Run, err = s.runOf(ctx, origin, last.RunID, e.Index); err != nil {
				return nil, err
			}
		}
		batch = append(batch, all...)
	}
	return batch, nil
}

// runOf sums an action up as it was with the record of an index: what came
// later is another event's.
func (s *sink) runOf(ctx context.Context, origin, id string, index int64) (*events.Run, error) {
	entries, err := s.all.log.Entries(ctx, audit.Selection{Action: id, Most: maxEntries})
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		if e.Index > index {
			entries = entries[:i]
			break
		}
	}
	return events.RunOf(origin, entries)
}

// newest is the index that the next record will have.
func newest(ctx context.Context, log Log) (int64, error) {
	if _, err := log.Entries(ctx, audit.Selection{Most: 1}); err != nil { // numbers what has no number yet
		return 0, err
	}
	last, err := log.Records(ctx, audit.Filter{Limit: 1})
	if err != nil || len(last) == 0 {
		return 0, err
	}
	return last[0].Seq, nil
}
