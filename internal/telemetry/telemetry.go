package telemetry

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/seed-de4804fb/verbatim/internal/metrics"
	"github.com/seed-de4804fb/verbatim/internal/netguard"
)

// Config is where telemetry goes, and what of it.
type Config struct {
	URL     string // of the collector; /v1/traces and so on are added
	Guard   *netguard.Client
	Version string // of this program
	Traces  bool
	Metrics bool
	// Sample is the part of calls that have spans: above 0, to 1.
	Sample   float64
	Interval time.Duration // between sendings of metrics; 0 means a minute
	Registry *metrics.Registry
	Log      *slog.Logger // nil discards
}

// The bounds of what waits to be sent.
const (
	queueSpans    = 4096 // more are dropped
	batchSpans    = 512
	spanDelay     = 2 * time.Second
	exportTimeout = 20 * time.Second
)

// Telemetry sends what it is told of. It is safe for concurrent use.
type Telemetry struct {
	client   *client
	resource *resource.Resource
	spans    *sdktrace.TracerProvider // nil: no traces
	tracer   oteltrace.Tracer
	measures *sdkmetric.MeterProvider // nil: no metrics
	served   metric.Float64Histogram
	called   metric.Float64Histogram
}

// New checks a configuration and begins to send.
func New(cfg Config) (*Telemetry, error) {
	if cfg.Guard == nil || cfg.Registry == nil {
		return nil, errors.New("telemetry without client or registry")
	}
	if !(cfg.Sample > 0 && cfg.Sample <= 1) {
		return nil, errors.New("the part of calls that have spans is above 0, and at most 1")
	}
	if cfg.Interval <= 0 {
		cfg.Interval = time.Minute
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	c, err := newClient(cfg.URL, cfg.Guard, cfg.Log)
	if err != nil {
		return nil, err
	}
	t := &Telemetry{client: c, resource: resource.NewSchemaless(attribute.String("service.name", "verbatim"),
		attribute.String("service.version", cfg.Version), attribute.String("service.instance.id", rand.Text()))}
	if cfg.Traces {
		t.trace(cfg)
	}
	if cfg.Metrics {
		if err := t.measure(cfg); err != nil {
			return nil, fmt.Errorf("telemetry: %w", err)
		}
	}
	lost := cfg.Registry.Gauge("verbatim_telemetry_lost_requests", "Requests that the collector did not take, in this process; what was in them is lost, but for events.", "signal")
	cfg.Registry.Ask(func(_ context.Context, set metrics.Set) error {
		for _, signal := range []string{traces, metricsSig, logs} {
			set(lost, float64(c.lost[index(signal)].Load()), signal)
		}
		return nil
	})
	return t, nil
}

func (t *Telemetry) trace(cfg Config) {
	// The caller's own wish to be sampled or not is not asked: it is not the
	// caller's to say what operators see.
	t.spans = sdktrace.NewTracerProvider(sdktrace.WithResource(t.resource), sdktrace.WithSampler(sdktrace.TraceIDRatioBased(cfg.Sample)),
		sdktrace.WithBatcher(spanExporter{t.client}, sdktrace.WithMaxQueueSize(queueSpans), sdktrace.WithMaxExportBatchSize(batchSpans),
			sdktrace.WithBatchTimeout(spanDelay), sdktrace.WithExportTimeout(exportTimeout)))
	t.tracer = t.spans.Tracer(scopeName, oteltrace.WithInstrumentationVersion(cfg.Version))
}

func (t *Telemetry) measure(cfg Config) error {
	reader := sdkmetric.NewPeriodicReader(measureExporter{t.client}, sdkmetric.WithInterval(cfg.Interval),
		sdkmetric.WithTimeout(exportTimeout), sdkmetric.WithProducer(registered{cfg.Registry, time.Now()}))
	t.measures = sdkmetric.NewMeterProvider(sdkmetric.WithResource(t.resource), sdkmetric.WithReader(reader),
		sdkmetric.WithCardinalityLimit(metrics.MaxSeries))
	meter := t.measures.Meter(scopeName, metric.WithInstrumentationVersion(cfg.Version))
	// The bounds are those that the conventions for MCP ask for.
	bounds := metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
	var err, errCalled error
	t.served, err = meter.Float64Histogram("mcp.server.operation.duration", metric.WithUnit("s"), bounds,
		metric.WithDescription("Time from a request to its answer, waiting for people included."))
	t.called, errCalled = meter.Float64Histogram("mcp.client.operation.duration", metric.WithUnit("s"), bounds,
		metric.WithDescription("Time of one run of a tool."))
	return errors.Join(err, errCalled)
}

// Flush sends what waits, as long as ctx lasts.
func (t *Telemetry) Flush(ctx context.Context) {
	if t.spans != nil {
		_ = t.spans.ForceFlush(ctx) // it tells of the end of ctx only
	}
	if t.measures != nil {
		_ = t.measures.ForceFlush(ctx) // likewise
	}
}

// Close sends what waits, as long as ctx lasts, and ends.
func (t *Telemetry) Close(ctx context.Context) {
	if t.spans != nil {
		_ = t.spans.Shutdown(ctx) // it tells of the end of ctx only
	}
	if t.measures != nil {
		_ = t.measures.Shutdown(ctx) // likewise
	}
}
