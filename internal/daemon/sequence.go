package daemon

import (
	"context"
	"time"
)

// sequenceEvery is how often records are added to the signed log. A proof of
// a record is there within a second.
const sequenceEvery = 500 * time.Millisecond

// sequence adds records to the signed log until calls are no longer taken.
// What comes after that is added by lastRecords.
func (d *Daemon) sequence(done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(sequenceEvery)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-d.serving.Done():
			return
		case <-tick.C:
		}
		err := d.signRecords(d.serving)
		if err != nil && !failing && d.serving.Err() == nil {
			d.log.Error("the log does not grow; records wait for it", "error", err)
		}
		failing = err != nil
	}
}

// lastRecords signs what was recorded until the very end.
func (d *Daemon) lastRecords(sequenced <-chan struct{}) {
	<-sequenced
	ctx, cancel := context.WithTimeout(context.Background(), endGrace)
	defer cancel()
	if err := d.signRecords(ctx); err != nil {
		d.log.Warn("the last records are not in the signed log yet; the next daemon adds them", "error", err)
	}
}

func (d *Daemon) signRecords(ctx context.Context) error {
	if d.cfg.Sequence == nil {
		return nil
	}
	_, err := d.cfg.Sequence(ctx)
	return err
}
