package auth

import (
	"fmt"
	"sync"
	"time"
)

// The delays after failed guesses. They grow with every failure and are
// bounded, so that whoever guesses cannot lock a person out for good.
const (
	freeAccount  = 3 // failures of one name before it has to wait
	freeOverall  = 20
	maxAccount   = time.Minute
	maxOverall   = 5 * time.Second
	forgetAfter  = time.Hour // without a failure
	maxRemember  = 4096      // names; the rest share one memory
	sharedMemory = "\x00"
)

// ThrottledError says that a guess was not even looked at.
type ThrottledError struct {
	Wait time.Duration // until the next guess is looked at, at least a second
}

// Error says how long to wait.
func (e *ThrottledError) Error() string {
	return fmt.Sprintf("too many failed attempts: wait %s", e.Wait)
}

// throttle remembers failures by name and overall, in memory.
type throttle struct {
	mu      sync.Mutex
	names   map[string]failures
	overall failures
}

type failures struct {
	count int
	last  time.Time
}

// enter counts an attempt as failed before it is looked at, so that guesses
// made at the same time cannot slip through together. succeed takes it back.
func (t *throttle) enter(key string, now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	key = t.remembered(key, now)
	own, all := t.names[key].at(now), t.overall.at(now)
	wait := max(own.wait(freeAccount, maxAccount, now), all.wait(freeOverall, maxOverall, now))
	if wait > 0 {
		return &ThrottledError{Wait: (wait + time.Second - 1).Truncate(time.Second)}
	}
	t.names[key] = failures{count: own.count + 1, last: now}
	t.overall = failures{count: all.count + 1, last: now}
	return nil
}

func (t *throttle) succeed(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.names, key)
	t.overall.count = max(0, t.overall.count-1)
}

// remembered makes room for a name, or returns the memory that names share
// when there is none.
func (t *throttle) remembered(key string, now time.Time) string {
	if t.names == nil {
		t.names = map[string]failures{}
	}
	if _, known := t.names[key]; known || len(t.names) < maxRemember {
		return key
	}
	for name, f := range t.names {
		if f.at(now).count == 0 {
			delete(t.names, name)
		}
	}
	if len(t.names) < maxRemember {
		return key
	}
	return sharedMemory
}

// at forgets failures that are long ago.
func (f failures) at(now time.Time) failures {
	if now.Sub(f.last) > forgetAfter {
		return failures{}
	}
	return f
}

// wait returns how long the next guess has to wait: 1 s, 2 s, 4 s ... after
// the free ones, counted from the last failure.
func (f failures) wait(free int, most time.Duration, now time.Time) time.Duration {
	if f.count < free {
		return 0
	}
	delay := most
	if over := f.count - free; over < 16 {
		delay = min(most, time.Second<<over)
	}
	return f.last.Add(delay).Sub(now)
}
