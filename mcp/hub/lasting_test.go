package hub_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// TestALastingContextEndsInEachWay: with the one that it is made of, with the
// other one, and when it is stopped; for who asks, for who waits before it and
// after it, and for contexts that are made of it.
func TestALastingContextEndsInEachWay(t *testing.T) {
	t.Parallel()
	type key struct{}
	for name, end := range map[string]func(own, other, stop func()){
		"its own":   func(own, _, _ func()) { own() },
		"the other": func(_, other, _ func()) { other() },
		"stopped":   func(_, _, stop func()) { stop() },
	} {
		for _, waits := range []bool{false, true} {
			own, endOwn := context.WithCancel(context.WithValue(t.Context(), key{}, name))
			other, endOther := context.WithCancel(t.Context())
			ctx, stop := hub.Lasting(own, other)
			if ctx.Err() != nil || ctx.Value(key{}) != name {
				t.Fatalf("%s: %v before its end, with the value %v", name, ctx.Err(), ctx.Value(key{}))
			}
			child := context.Background()
			if waits {
				var endChild context.CancelFunc
				child, endChild = context.WithCancel(context.WithValue(ctx, key{}, name))
				defer endChild()
				select {
				case <-ctx.Done():
					t.Fatalf("%s: ended too early", name)
				case <-child.Done():
					t.Fatalf("%s: what is made of it ended too early", name)
				default:
				}
			}
			end(endOwn, endOther, stop)
			<-ctx.Done()
			if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(ctx), context.Canceled) {
				t.Errorf("%s: error %v, cause %v", name, ctx.Err(), context.Cause(ctx))
			}
			if waits {
				<-child.Done()
			}
			stop()
			endOwn()
			endOther()
		}
	}
}

// TestALastingContextSaysThatItHasEndedWithoutAWaiter: where nobody waits,
// nobody is told, and who asks is told all the same.
func TestALastingContextSaysThatItHasEndedWithoutAWaiter(t *testing.T) {
	t.Parallel()
	late, over := context.WithTimeout(t.Context(), 0)
	defer over()
	for name, ended := range map[string]struct {
		own, other context.Context
		want       error
	}{
		"its own is late": {late, t.Context(), context.DeadlineExceeded},
		"the other ended": {t.Context(), late, context.Canceled},
		"neither":         {t.Context(), t.Context(), nil},
	} {
		ctx, stop := hub.Lasting(ended.own, ended.other)
		if !errors.Is(ctx.Err(), ended.want) {
			t.Errorf("%s: error %v, want %v", name, ctx.Err(), ended.want)
		}
		stop()
		if ctx.Err() == nil {
			t.Errorf("%s: stopped, and no error", name)
		}
	}
}
