package endpoint

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// load counts what is under way of each caller and of all, and how fast
// requests come. One caller's share is bounded before the whole is, so that it
// does not keep others out.
type load struct {
	each, all int
	rate      float64 // requests per second of one caller; it may save up as many as come in one
	now       func() time.Time

	mu      sync.Mutex
	total   int
	callers map[string]*share
}

// share is one caller's.
type share struct {
	busy  int
	saved float64   // requests that it may make at once
	at    time.Time // of that
}

// busyness is why a request is turned away; zero is not.
type busyness struct {
	status int
	after  int // seconds
}

// maxShares is how many callers are remembered before those that have saved up
// everything are forgotten.
const maxShares = 1024

func newLoad(l Limits) *load {
	return &load{each: l.Requests, all: l.Total, rate: float64(l.Rate), now: time.Now, callers: map[string]*share{}}
}

// enter takes a place, unless there is none.
func (l *load) enter(key string) busyness {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	c := l.share(key, now)
	switch {
	case c.saved < 1:
		return busyness{http.StatusTooManyRequests, max(1, int(math.Ceil((1-c.saved)/l.rate)))}
	case c.busy >= l.each:
		return busyness{http.StatusTooManyRequests, 1}
	case l.total >= l.all:
		return busyness{http.StatusServiceUnavailable, 1}
	}
	c.busy++
	c.saved--
	l.total++
	return busyness{}
}

// share is a caller's, with what it has saved up since.
func (l *load) share(key string, now time.Time) *share {
	c := l.callers[key]
	if c == nil {
		if len(l.callers) >= maxShares {
			l.forget(now)
		}
		c = &share{saved: l.rate, at: now}
		l.callers[key] = c
		return c
	}
	c.saved, c.at = l.savings(c, now), now
	return c
}

func (l *load) savings(c *share, now time.Time) float64 {
	return min(l.rate, c.saved+max(0, now.Sub(c.at).Seconds())*l.rate)
}

// forget lets go of callers that are as new.
func (l *load) forget(now time.Time) {
	for key, c := range l.callers {
		if c.busy == 0 && l.savings(c, now) >= l.rate {
			delete(l.callers, key)
		}
	}
}

func (l *load) leave(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.callers[key].busy--
	l.total--
}

// header says when to come again.
func (b busyness) header(w http.ResponseWriter) {
	w.Header().Set("Retry-After", strconv.Itoa(b.after))
}

const textBusy = "too many requests are under way, or they come too fast; nothing was done"
