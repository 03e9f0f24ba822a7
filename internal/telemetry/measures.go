package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	metric "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
)

// measureExporter sends the metrics of the SDK.
type measureExporter struct{ client *client }

// Temporality is cumulative for all.
func (measureExporter) Temporality(sdkmetric.InstrumentKind) metricdata.Temporality {
	return metricdata.CumulativeTemporality
}

// Aggregation is the SDK's default.
func (measureExporter) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

// Export sends metrics. It reports no error, as with spans.
func (e measureExporter) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	out := &metric.ResourceMetrics{Resource: resourceOf(all.Resource)}
	for _, s := range all.ScopeMetrics {
		scope := &metric.ScopeMetrics{Scope: scopeOf(s.Scope)}
		for _, m := range s.Metrics {
			if one := measureOf(m); one != nil {
				scope.Metrics = append(scope.Metrics, one)
			}
		}
		out.ScopeMetrics = append(out.ScopeMetrics, scope)
	}
	e.client.send(ctx, metricsSig, &collector.ExportMetricsServiceRequest{ResourceMetrics: []*metric.ResourceMetrics{out}})
	return nil
}

// ForceFlush has nothing to flush.
func (measureExporter) ForceFlush(context.Context) error { return nil }

// Shutdown has nothing to close.
func (measureExporter) Shutdown(context.Context) error { return nil }

// measureOf is one metric of the kinds that are made here; nil for others.
func measureOf(m metricdata.Metrics) *metric.Metric {
	out := &metric.Metric{Name: m.Name, Description: m.Description, Unit: m.Unit}
	switch data := m.Data.(type) {
	case metricdata.Sum[float64]:
		out.Data = &metric.Metric_Sum{Sum: &metric.Sum{IsMonotonic: data.IsMonotonic, AggregationTemporality: cumulative, DataPoints: pointsOf(data.DataPoints)}}
	case metricdata.Gauge[float64]:
		out.Data = &metric.Metric_Gauge{Gauge: &metric.Gauge{DataPoints: pointsOf(data.DataPoints)}}
	case metricdata.Histogram[float64]:
		h := &metric.Histogram{AggregationTemporality: cumulative}
		for _, p := range data.DataPoints {
			h.DataPoints = append(h.DataPoints, histogramOf(p))
		}
		out.Data = &metric.Metric_Histogram{Histogram: h}
	default:
		return nil
	}
	return out
}

const cumulative = metric.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE

func pointsOf(list []metricdata.DataPoint[float64]) (out []*metric.NumberDataPoint) {
	for _, p := range list {
		out = append(out, &metric.NumberDataPoint{Attributes: pairs(p.Attributes.ToSlice()), StartTimeUnixNano: nanos(p.StartTime), TimeUnixNano: nanos(p.Time),
			Value: &metric.NumberDataPoint_AsDouble{AsDouble: p.Value}})
	}
	return out
}

func histogramOf(p metricdata.HistogramDataPoint[float64]) *metric.HistogramDataPoint {
	sum := p.Sum
	out := &metric.HistogramDataPoint{Attributes: pairs(p.Attributes.ToSlice()), StartTimeUnixNano: nanos(p.StartTime), TimeUnixNano: nanos(p.Time),
		Count: p.Count, Sum: &sum, BucketCounts: p.BucketCounts, ExplicitBounds: p.Bounds}
	if low, ok := p.Min.Value(); ok {
		out.Min = &low
	}
	if high, ok := p.Max.Value(); ok {
		out.Max = &high
	}
	return out
}

// nanos is a time as it is sent; 0 for none.
func nanos(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(t.UnixNano())
}

// labels are the attributes of a series of the registry.
func labels(names, values []string) attribute.Set {
	var out []attribute.KeyValue
	for i, name := range names {
		out = append(out, attribute.String(name, values[i]))
	}
	return attribute.NewSet(out...)
}
