package sqlite

import "sync"

// maxBatch is how many verbs share one commit at most.
const maxBatch = 128

// line is where verbs wait for the writing connection. Whoever comes while
// nobody writes does so itself, without waking anybody; what has queued up
// behind it is the writing goroutine's.
type line struct {
	mu      sync.Mutex
	idle    sync.Cond // nobody writes and nobody waits
	waiting []*job
	busy    bool          // somebody writes, or was told to
	told    chan struct{} // wakes the writing goroutine; has room for one
}

func newLine() *line {
	l := &line{told: make(chan struct{}, 1)}
	l.idle.L = &l.mu
	return l
}

// join queues a job up and reports whether its caller is to write.
func (l *line) join(j *job) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, j)
	first, l.busy = !l.busy, true
	return first
}

// take hands over what waits; nothing where the line is empty, and then
// nobody writes any more.
func (l *line) take() []*job {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.busy = false
		l.idle.Broadcast()
		return nil
	}
	n := min(len(l.waiting), maxBatch)
	batch := l.waiting[:n:n]
	l.waiting = l.waiting[n:]
	return batch
}

// leave is called by a caller that has written. Who waits meanwhile, and what
// else is due, is the writing goroutine's.
func (l *line) leave(due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if due || len(l.waiting) > 0 {
		l.told <- struct{}{}
		return
	}
	l.busy = false
	l.idle.Broadcast()
}

// tell has the writing goroutine write.
func (l *line) tell() { l.told <- struct{}{} }

// drained returns when nobody writes and nobody waits.
func (l *line) drained() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.busy {
		l.idle.Wait()
	}
}
