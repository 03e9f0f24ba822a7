package daemon

import (
	"runtime/debug"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/footprint"
)

// Memory is given back soon after a start, and again after twice as long each
// time, up to a minute: what a start needs is much of what there is, what work
// needs comes back as it is used, and without this the garbage of a busy moment
// stays for minutes once there is little to do.
const (
	// trimmed is how long after a start the pages of the program's file are given
	// back that only it read: under load they would stay until the collection
	// after it, beside those that calls need.
	trimmed    = 250 * time.Millisecond
	firstGiven = 500 * time.Millisecond
	lastGiven  = 64 * time.Second
	// regrown is how long after a collection pages are given back. It shrinks the
	// stacks of what sleeps, and their growing again, at the next turn of each
	// loop of the daemon, reads tables all over the program.
	regrown = 1200 * time.Millisecond
)

// stir notes that something was started: the daemon, or a client's server.
func (d *Daemon) stir() {
	select {
	case d.stirred <- struct{}{}:
	default:
	}
}

// giveBack gives memory back that nobody uses any more, until the end.
func (d *Daemon) giveBack() {
	settle(d.serving.Done(), d.stirred, debug.FreeOSMemory, func() bool {
		_, err := footprint.GiveBack()
		if err != nil {
			d.log.Debug("memory was not given back", "error", err)
		}
		return err == nil
	})
}

// settle gives soon after each start, then collects and gives, ever more
// rarely, until giving fails or the end.
func settle(end, stirred <-chan struct{}, collect func(), give func() bool) {
	next, turn := firstGiven, trimming
	wait := time.NewTimer(trimmed)
	defer wait.Stop()
	for {
		select {
		case <-end:
			return
		case <-stirred:
			next, turn = firstGiven, trimming
			wait.Reset(trimmed)
			continue
		case <-wait.C:
		}
		if turn == collecting {
			collect()
			turn = giving
			wait.Reset(regrown)
			continue
		}
		if !give() {
			return
		}
		if turn == trimming {
			turn = collecting
			wait.Reset(next - trimmed)
			continue
		}
		next, turn = min(2*next, lastGiven), collecting
		wait.Reset(next)
	}
}

// What settle does next.
const (
	trimming = iota
	collecting
	giving
)
