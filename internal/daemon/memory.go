package daemon

import (
	"runtime/debug"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/footprint"
)

// Memory is given back a second after a start, and again after twice as long
// each time, up to a minute: what a start needs is much of what there is, and
// what work needs comes back as it is used.
const (
	firstGiven = time.Second
	lastGiven  = 64 * time.Second
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

// settle collects and gives once after each start, and then only gives, ever
// more rarely, until that fails or the end.
func settle(end, stirred <-chan struct{}, collect func(), give func() bool) {
	next := firstGiven
	wait := time.NewTimer(next)
	defer wait.Stop()
	for {
		select {
		case <-end:
			return
		case <-stirred:
			next = firstGiven
			wait.Reset(next)
			continue
		case <-wait.C:
		}
		if next == firstGiven {
			collect()
		}
		if !give() {
			return
		}
		next = min(2*next, lastGiven)
		wait.Reset(next)
	}
}
