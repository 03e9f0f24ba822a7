package main

import (
	"context"
	"fmt"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/internal/netguard"
	"github.com/seed-de4804fb/verbatim/internal/telemetry"
)

// telemetryGrace bounds how long an ending daemon waits for the collector.
const telemetryGrace = 3 * time.Second

// collected begins to send to the collector, if the configuration names one.
func (p *parts) collected(ctx context.Context) error {
	o := p.cfg.OTLP
	if o == nil {
		return nil
	}
	var header netguard.Header
	if o.Header != "" {
		text, err := readSecret(ctx, o.Secret)
		if err != nil {
			return fmt.Errorf("telemetry: %w", err)
		}
		header = netguard.Header{Name: o.Header, Value: text}
	}
	guard, err := guarded(o.Networks, o.CA, header)
	if err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	p.telemetry, err = telemetry.New(telemetry.Config{URL: o.URL, Guard: guard, Version: daemon.ThisBuild().Version, Traces: o.Traces,
		Metrics: o.Metrics, Sample: o.Sample, Interval: o.Interval, Registry: p.meters.registry, Log: p.log})
	if err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	return nil
}

// observe tells those who watch of a call that was answered.
func (p *parts) observe(o verbatim.Observation) {
	p.meters.calls.Observe(o)
	if p.telemetry != nil {
		p.telemetry.Observe(o)
	}
}

// lastTelemetry sends what waits, if the collector is quick.
func (p *parts) lastTelemetry() {
	if p.telemetry == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), telemetryGrace)
	defer cancel()
	p.telemetry.Close(ctx)
}
