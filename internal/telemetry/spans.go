package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
)

// spanExporter sends the spans of the SDK.
type spanExporter struct{ client *client }

// ExportSpans sends spans. It reports no error, which would go to a global of
// the SDK: what is lost is counted.
func (e spanExporter) ExportSpans(ctx context.Context, list []sdktrace.ReadOnlySpan) error {
	if len(list) == 0 {
		return nil
	}
	scope := &trace.ScopeSpans{Scope: scopeOf(list[0].InstrumentationScope())} // there is one
	for _, s := range list {
		scope.Spans = append(scope.Spans, spanOf(s))
	}
	e.client.send(ctx, traces, &collector.ExportTraceServiceRequest{ResourceSpans: []*trace.ResourceSpans{
		{Resource: resourceOf(list[0].Resource()), ScopeSpans: []*trace.ScopeSpans{scope}}}})
	return nil
}

// Shutdown has nothing to close.
func (spanExporter) Shutdown(context.Context) error { return nil }

func spanOf(s sdktrace.ReadOnlySpan) *trace.Span {
	id, span := s.SpanContext().TraceID(), s.SpanContext().SpanID()
	out := &trace.Span{TraceId: id[:], SpanId: span[:], TraceState: s.SpanContext().TraceState().String(), Name: s.Name(),
		Kind: kindOf(s.SpanKind()), StartTimeUnixNano: uint64(s.StartTime().UnixNano()), EndTimeUnixNano: uint64(s.EndTime().UnixNano()),
		Attributes: pairs(s.Attributes()), Flags: uint32(s.SpanContext().TraceFlags()), Status: &trace.Status{}}
	if parent := s.Parent(); parent.HasSpanID() {
		id := parent.SpanID()
		out.ParentSpanId = id[:]
	}
	if s.Status().Code == codes.Error {
		out.Status.Code = trace.Status_STATUS_CODE_ERROR
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, &trace.Span_Event{TimeUnixNano: uint64(e.Time.UnixNano()), Name: e.Name, Attributes: pairs(e.Attributes)})
	}
	return out
}

func kindOf(k oteltrace.SpanKind) trace.Span_SpanKind {
	switch k {
	case oteltrace.SpanKindServer:
		return trace.Span_SPAN_KIND_SERVER
	case oteltrace.SpanKindClient:
		return trace.Span_SPAN_KIND_CLIENT
	default:
		return trace.Span_SPAN_KIND_INTERNAL
	}
}
