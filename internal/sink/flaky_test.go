package sink_test

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/internal/sink"
)

// flakyLog fails each verb the first times that it is asked.
type flakyLog struct {
	sink.Log
	asked  map[string]int
	failed int
}

func (l *flakyLog) fails(verb string) error {
	if l.asked == nil {
		l.asked = map[string]int{}
	}
	if l.asked[verb]++; l.asked[verb] <= 3 {
		l.failed++
		return errAway
	}
	return nil
}

func (l *flakyLog) Follow(ctx context.Context, name, by string, start int64, lease time.Duration) (audit.Place, error) {
	if err := l.fails("follow"); err != nil {
		return audit.Place{}, err
	}
	return l.Log.Follow(ctx, name, by, start, lease)
}

func (l *flakyLog) Advance(ctx context.Context, name, by string, next int64) (bool, error) {
	if err := l.fails("advance"); err != nil {
		return false, err
	}
	return l.Log.Advance(ctx, name, by, next)
}

func (l *flakyLog) Places(ctx context.Context) ([]audit.Place, error) {
	if err := l.fails("places"); err != nil {
		return nil, err
	}
	return l.Log.Places(ctx)
}

func (l *flakyLog) Entries(ctx context.Context, s audit.Selection) ([]audit.Entry, error) {
	if err := l.fails("entries"); err != nil {
		return nil, err
	}
	return l.Log.Entries(ctx, s)
}

func (l *flakyLog) Origin(ctx context.Context) (string, error) {
	if err := l.fails("origin"); err != nil {
		return "", err
	}
	return l.Log.Origin(ctx)
}
