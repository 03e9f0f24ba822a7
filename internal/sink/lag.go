package sink

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
)

// Lag is how far a sink is behind.
type Lag struct {
	Sink      string
	Records   int64         // of the log that its target has not taken
	Age       time.Duration // of the oldest of them, by the store's clock
	Delivered int64         // events, by this process
	Failures  int64         // turns that failed, in this process
	Failing   bool          // the last turn failed
}

// Lags tells how far each sink is behind, from the store: also where another
// gateway delivers.
func (s *Sinks) Lags(ctx context.Context) ([]Lag, error) {
	if s == nil || len(s.list) == 0 {
		return nil, nil
	}
	end, err := newest(ctx, s.log)
	if err != nil {
		return nil, err
	}
	now, err := s.log.Now(ctx)
	if err != nil {
		return nil, err
	}
	places, err := s.log.Places(ctx)
	if err != nil {
		return nil, err
	}
	next := map[string]int64{}
	for _, p := range places {
		next[p.Name] = p.Next
	}
	var out []Lag
	for _, one := range s.list {
		one.mu.Lock()
		l := Lag{Sink: one.Name, Delivered: one.delivered, Failures: one.failures, Failing: one.failing}
		one.mu.Unlock()
		at, begun := next[one.Name]
		if !begun && !one.FromStart {
			at = end
		}
		if l.Records = max(0, end-at); l.Records > 0 {
			if l.Age, err = s.age(ctx, at, now); err != nil {
				return nil, err
			}
		}
		out = append(out, l)
	}
	return out, nil
}

// age is how old the record at an index is.
func (s *Sinks) age(ctx context.Context, at int64, now time.Time) (time.Duration, error) {
	found, err := s.log.Entries(ctx, audit.Selection{From: at, Most: 1})
	if err != nil || len(found) == 0 {
		return 0, err
	}
	r, err := audit.ParseLeaf(found[0].Leaf)
	if err != nil {
		return 0, err
	}
	return max(0, now.Sub(r.At)), nil
}
