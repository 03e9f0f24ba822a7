package telemetry

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/seed-de4804fb/verbatim/internal/metrics"
)

// registered gives what the registry has counted to the SDK.
type registered struct {
	registry *metrics.Registry
	began    time.Time
}

// Produce reads the registry (sdkmetric.Producer).
func (r registered) Produce(ctx context.Context) ([]metricdata.ScopeMetrics, error) {
	now := time.Now()
	var all []metricdata.Metrics
	for _, s := range r.registry.Samples(ctx) {
		name, unit := named(s.Family.Name)
		if len(all) == 0 || all[len(all)-1].Name != name {
			all = append(all, metricdata.Metrics{Name: name, Description: s.Family.Help, Unit: unit})
		}
		r.add(&all[len(all)-1], s, now)
	}
	return []metricdata.ScopeMetrics{{Scope: instrumentation.Scope{Name: scopeName + "/registry"}, Metrics: all}}, nil
}

func (r registered) add(m *metricdata.Metrics, s metrics.Sample, now time.Time) {
	at := labels(s.Family.Labels, s.Values)
	if s.Counts != nil {
		h, _ := m.Data.(metricdata.Histogram[float64])
		count := uint64(0)
		for _, n := range s.Counts {
			count += n
		}
		h.Temporality = metricdata.CumulativeTemporality
		h.DataPoints = append(h.DataPoints, metricdata.HistogramDataPoint[float64]{Attributes: at, StartTime: r.began, Time: now,
			Count: count, Sum: s.Value, Bounds: s.Bounds, BucketCounts: s.Counts})
		m.Data = h
		return
	}
	point := metricdata.DataPoint[float64]{Attributes: at, StartTime: r.began, Time: now, Value: s.Value}
	if s.Family.Kind == "counter" {
		sum, _ := m.Data.(metricdata.Sum[float64])
		sum.Temporality, sum.IsMonotonic = metricdata.CumulativeTemporality, true
		sum.DataPoints = append(sum.DataPoints, point)
		m.Data = sum
		return
	}
	point.StartTime = time.Time{}
	g, _ := m.Data.(metricdata.Gauge[float64])
	g.DataPoints = append(g.DataPoints, point)
	m.Data = g
}

// named is the name of a family as OpenTelemetry writes it, with its unit.
func named(family string) (name, unit string) {
	name = strings.TrimSuffix(strings.Replace(family, "verbatim_", "verbatim.", 1), "_total")
	switch {
	case strings.HasSuffix(name, "_seconds"):
		unit = "s"
	case strings.HasSuffix(name, "_bytes"):
		unit = "By"
	case strings.HasSuffix(name, "_ratio"):
		unit = "1"
	}
	return name, unit
}
