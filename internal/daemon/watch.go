package daemon

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// watch sweeps, reloads and looks for idleness, every second.
func (d *Daemon) watch() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var forgotten time.Time
	for {
		select {
		case <-d.serving.Done():
			return
		case <-tick.C:
		}
		if !d.lock.Held() {
			d.log.Error("the home has been removed; ending")
			d.stop()
			return
		}
		if _, err := d.cfg.Gate.Sweep(d.serving, false); err != nil && d.serving.Err() == nil {
			d.log.Error("the sweep failed", "error", err)
		}
		if time.Since(forgotten) > forgetEvery {
			forgotten = time.Now()
			d.forget()
			d.forgetPayloads()
		}
		if d.cfg.Reload != nil {
			d.cfg.Reload()
		}
		if d.over() {
			d.log.Info("nothing to do; ending")
			d.stop()
		}
	}
}

// over reports whether the daemon has no reason to stay.
func (d *Daemon) over() bool {
	if d.attached.count() > 0 {
		d.touch()
		return false
	}
	if d.draining.Load() {
		return true
	}
	if d.cfg.Idle <= 0 || time.Since(time.Unix(0, d.touched.Load())) < d.cfg.Idle {
		return false
	}
	pending, err := d.pending(d.serving)
	return err == nil && pending == 0
}

// maxPending bounds the count of what waits.
const maxPending = 100

// pending counts the actions that wait for people or run.
func (d *Daemon) pending(ctx context.Context) (int, error) {
	rows, err := d.cfg.Gate.Actions(ctx, action.Filter{Tenant: d.cfg.Tenant, Limit: maxPending,
		States: []action.State{action.PendingApproval, action.Approved, action.Claimed, action.Executing}})
	return len(rows), err
}
