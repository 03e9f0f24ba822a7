package daemon

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/metrics"
)

// flushGrace bounds how long an ending daemon waits for sinks. What they have
// not taken, the next daemon hands on.
const flushGrace = 3 * time.Second

// SinkLag is how far a sink of events is behind.
type SinkLag struct {
	Sink    string `json:"sink"`
	Records int64  `json:"records"`    // of the log that it has not taken
	Age     int64  `json:"ageSeconds"` // of the oldest of them, by the store's clock
	Failing bool   `json:"failing"`    // it refused the last time
}

// hand hands events on until calls are no longer taken.
func (d *Daemon) hand() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if d.cfg.Sinks != nil {
			d.cfg.Sinks.Run(d.serving)
		}
	}()
	return done
}

// lastEvents hands on what was recorded until the very end, if the sinks are
// quick.
func (d *Daemon) lastEvents(handed <-chan struct{}) {
	<-handed
	if d.cfg.Sinks == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushGrace)
	defer cancel()
	d.cfg.Sinks.Flush(ctx)
}

func (d *Daemon) lags(ctx context.Context) (out []SinkLag, err error) {
	all, err := d.cfg.Sinks.Lags(ctx)
	for _, l := range all {
		out = append(out, SinkLag{Sink: l.Sink, Records: l.Records, Age: int64(l.Age / time.Second), Failing: l.Failing})
	}
	return out, err
}

func (d *Daemon) meterSinks(r *metrics.Registry) {
	records := r.Gauge("verbatim_sink_lag_records", "Records of the log that a sink has not taken.", "sink")
	age := r.Gauge("verbatim_sink_lag_seconds", "Age of the oldest of them, by the store's clock.", "sink")
	delivered := r.Gauge("verbatim_sink_delivered_events", "Events that a sink has taken from this process.", "sink")
	failures := r.Gauge("verbatim_sink_failures", "Times that a sink did not take events, in this process.", "sink")
	r.Ask(func(ctx context.Context, set metrics.Set) error {
		all, err := d.cfg.Sinks.Lags(ctx)
		for _, l := range all {
			set(records, float64(l.Records), l.Sink)
			set(age, l.Age.Seconds(), l.Sink)
			set(delivered, float64(l.Delivered), l.Sink)
			set(failures, float64(l.Failures), l.Sink)
		}
		return err
	})
}
