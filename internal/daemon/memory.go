package daemon

import (
	"runtime/debug"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/footprint"
)

// Memory is given back a second after a start, and again after twice as long
// each time, up to a minute: what a start needs is much of what there is, what
// work needs comes back as it is used, and without this the garbage of a busy
// moment stays for minutes once there is little to do.
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
	settle(d.serving.Done(), d.stirred, func() bool {
		debug.FreeOSMemory()
		_, err := footprint.GiveBack()
		if err != nil {
			d.log.Debug("memory was not given back", "error", err)
		}
		return err == nil
	})
}

// settle gives soon after each start and then ever more rarely, until that
// fails or the end.
func settle(end, stirred <-chan struct{}, give func() bool) {
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
		if !give() {
			return
		}
		next = min(2*next, lastGiven)
		wait.Reset(next)
	}
}
