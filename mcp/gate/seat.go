package gate

import (
	"sync"
	"time"
)

// seat is the place of the one goroutine that reads a server. While calls
// follow each other closely, whoever waits for an answer takes it and reads
// for itself: to be woken by another goroutine would cost more than many a
// server takes. The listener has it while nobody asks.
type seat struct {
	mu      sync.Mutex
	free    sync.Cond // signalled when the listener may look again
	open    bool      // there is a listener
	taken   bool      // somebody reads
	leave   bool      // the listener stays out
	waits   int       // those who wait for an answer and do not read
	used    bool      // since the watch last looked
	watched bool
	ended   bool
	err     error // that ended the stream
}

func newSeat() *seat {
	s := &seat{}
	s.free.L = &s.mu
	return s
}

const (
	// watchEvery is how often a seat that callers use is looked at, and so about
	// how long what the server sends by itself may lie unread between two calls.
	watchEvery = 2 * time.Millisecond
	// watchFor is after how many looks at an unused seat nobody looks any more.
	watchFor = 100
)

// sit takes the seat for a caller. Where somebody else reads it returns false,
// and the caller is counted as waiting until [seat.served].
func (s *seat) sit(a *asker, reads bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reads && s.open && !s.ended {
		s.used = true
		s.watch()
		if !s.taken {
			s.taken, s.leave = true, true
			return true
		}
		s.leave = true // it is free again for the next one
	}
	if a.waits = !a.served; a.waits {
		s.waits++
	}
	if !s.taken {
		s.call()
	}
	return false
}

// served ends the waiting of somebody who did not read: there is an answer, or
// no more interest in one.
func (s *seat) served(a *asker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.waits {
		s.waits--
	}
	a.waits, a.served = false, true
}

// rise leaves the seat. The listener comes where somebody still waits.
func (s *seat) rise() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = false
	if s.waits > 0 {
		s.call()
	}
}

// call has the listener come. mu is held.
func (s *seat) call() {
	s.leave = false
	s.free.Signal()
}

// listen takes the seat for the listener; false when the stream has ended.
func (s *seat) listen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = true
	for !s.ended && (s.taken || s.leave && s.waits == 0) {
		s.free.Wait()
	}
	s.taken = !s.ended
	return s.taken
}

// end notes that the stream has ended, for all.
func (s *seat) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended, s.err = true, err
	}
	s.taken = false
	s.free.Broadcast()
}

// watch has somebody look whether callers still use the seat. mu is held.
func (s *seat) watch() {
	if s.watched {
		return
	}
	s.watched = true
	go func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for unused, more := 0, true; more; {
			<-tick.C
			unused, more = s.look(unused)
		}
	}()
}

// look gives the seat back to the listener if no caller has taken it for a
// while. unused is how often it was found so; more asks for another look.
func (s *seat) look(unused int) (_ int, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := s.used || s.taken && s.leave
	s.used = false
	if used {
		return 0, !s.ended
	}
	if s.leave {
		s.call()
	}
	s.watched = unused < watchFor && !s.ended
	return unused + 1, s.watched
}
