package telemetry

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	oteltrace "go.opentelemetry.io/otel/trace"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
)

// maxText is the longest text of a caller's that an attribute holds.
const maxText = 128

// Observe is for verbatim.Config.Observe: one span for the call, with one
// below it for each step, and the durations of both kinds.
func (t *Telemetry) Observe(o verbatim.Observation) {
	if t.measures != nil && o.Kind == action.KindCall {
		t.count(o)
	}
	if t.spans == nil {
		return
	}
	ctx, span := t.tracer.Start(parent(o.Trace), name(o), oteltrace.WithTimestamp(o.Began), oteltrace.WithSpanKind(kind(o)),
		oteltrace.WithAttributes(attributes(o)...))
	end := o.Began.Add(o.Took)
	for _, s := range o.Steps {
		t.step(ctx, o, s)
	}
	span.AddEvent("verbatim.decision", oteltrace.WithTimestamp(end), oteltrace.WithAttributes(decision(o)...))
	if e := errorType(o); e != "" {
		span.SetAttributes(attribute.String("error.type", e))
		span.SetStatus(codes.Error, "")
	}
	span.End(oteltrace.WithTimestamp(end))
}

func (t *Telemetry) step(ctx context.Context, o verbatim.Observation, s verbatim.Step) {
	name, kind := "verbatim."+s.Name, oteltrace.SpanKindInternal
	attrs := []attribute.KeyValue{attribute.String("verbatim.step", s.Name)}
	if s.Name == verbatim.StepRun {
		name, kind = "execute_tool "+o.Tool, oteltrace.SpanKindClient
		attrs = append(attrs, attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", o.Tool))
	}
	_, span := t.tracer.Start(ctx, strings.TrimSpace(name), oteltrace.WithTimestamp(s.Began), oteltrace.WithSpanKind(kind), oteltrace.WithAttributes(attrs...))
	span.End(oteltrace.WithTimestamp(s.Began.Add(s.Took)))
}

func (t *Telemetry) count(o verbatim.Observation) {
	attrs := []attribute.KeyValue{attribute.String("mcp.method.name", "tools/call"), attribute.String("gen_ai.tool.name", o.Tool)}
	ran := metric.WithAttributes(attrs...)
	if e := errorType(o); e != "" {
		attrs = append(attrs, attribute.String("error.type", e))
	}
	if o.Wire.Method != "" { // a call in Go is no request of MCP
		t.served.Record(context.Background(), o.Took.Seconds(), metric.WithAttributes(attrs...))
	}
	for _, s := range o.Steps {
		if s.Name == verbatim.StepRun {
			t.called.Record(context.Background(), s.Took.Seconds(), ran)
		}
	}
}

// parent is the caller's span. What is no trace context is none.
func parent(t verbatim.Trace) context.Context {
	if t.Parent == "" || len(t.Parent) > maxText || len(t.State) > 512 {
		return context.Background()
	}
	return propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": t.Parent, "tracestate": t.State})
}

func name(o verbatim.Observation) string {
	method := "execute_tool"
	switch {
	case o.Kind == action.KindHandoff:
		method = "handoff"
	case o.Wire.Method != "":
		method = o.Wire.Method
	}
	return strings.TrimSpace(method + " " + o.Tool)
}

func kind(o verbatim.Observation) oteltrace.SpanKind {
	if o.Wire.Method != "" {
		return oteltrace.SpanKindServer
	}
	return oteltrace.SpanKindInternal
}

// attributes follow the conventions for gen_ai and mcp. Ids of the caller that
// are longer than an id is are left out.
func attributes(o verbatim.Observation) []attribute.KeyValue {
	out := []attribute.KeyValue{attribute.String("verbatim.tenant", o.Tenant), attribute.String("gen_ai.agent.name", o.Agent)}
	if o.Kind == action.KindCall {
		out = append(out, attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.type", "function"))
	}
	for _, x := range []struct{ key, value string }{
		{"gen_ai.tool.name", o.Tool}, {"gen_ai.tool.call.id", callID(o)}, {"mcp.method.name", o.Wire.Method}, {"mcp.protocol.version", o.Wire.Version},
		{"jsonrpc.request.id", o.Wire.Request}, {"network.transport", o.Wire.Transport}, {"verbatim.action.id", o.Outcome.ActionID},
	} {
		if x.value != "" && len(x.value) <= maxText {
			out = append(out, attribute.String(x.key, x.value))
		}
	}
	return out
}

// callID is the id that the model's provider gave; the one of JSON-RPC is none.
func callID(o verbatim.Observation) string {
	if o.CallID == o.Wire.Request {
		return ""
	}
	return o.CallID
}

// decision is what became of the call, in the words of docs/codes.md.
func decision(o verbatim.Observation) []attribute.KeyValue {
	out := []attribute.KeyValue{attribute.String("verbatim.status", string(o.Outcome.Status)), attribute.String("verbatim.code", string(o.Outcome.Code)),
		attribute.Bool("verbatim.replayed", o.Outcome.Replayed), attribute.Bool("verbatim.unstored", o.Unstored)}
	for _, x := range []struct{ key, value string }{{"verbatim.decision", o.Decision}, {"verbatim.decision.code", string(o.DecisionCode)},
		{"verbatim.policy.version", o.PolicyVersion}, {"verbatim.action.state", string(o.Outcome.State)}} {
		if x.value != "" {
			out = append(out, attribute.String(x.key, x.value))
		}
	}
	if len(o.Rules) > 0 {
		out = append(out, attribute.StringSlice("verbatim.policy.rules", o.Rules))
	}
	return out
}

// errorType is why there was no good answer: tool_error where the tool said
// so, else the code. Waiting for people is no error.
func errorType(o verbatim.Observation) string {
	switch {
	case o.Unstored:
		return string(verbatim.CodeRecordFailed)
	case o.Outcome.IsError:
		return "tool_error"
	}
	switch o.Outcome.Status {
	case verbatim.StatusOK, verbatim.StatusApprovalRequired, verbatim.StatusInProgress:
		return ""
	}
	return string(o.Outcome.Code)
}
