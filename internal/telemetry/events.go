package telemetry

import (
	"context"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	logpb "go.opentelemetry.io/proto/slim/otlp/logs/v1"

	"github.com/seed-de4804fb/verbatim/internal/events"
)

// Events is a sink's target: governance events as log records. What the
// collector does not take comes again.
func (t *Telemetry) Events() EventTarget { return EventTarget{t} }

// EventTarget delivers events; see sink.Target.
type EventTarget struct{ t *Telemetry }

// Deliver sends a batch once.
func (e EventTarget) Deliver(ctx context.Context, batch []events.Event) error {
	scope := &logpb.ScopeLogs{Scope: &common.InstrumentationScope{Name: scopeName + "/events"}}
	for _, ev := range batch {
		r, err := recordOf(ev)
		if err != nil {
			return err
		}
		scope.LogRecords = append(scope.LogRecords, r)
	}
	err := e.t.client.post(ctx, logs, &collector.ExportLogsServiceRequest{ResourceLogs: []*logpb.ResourceLogs{
		{Resource: resourceOf(e.t.resource), ScopeLogs: []*logpb.ScopeLogs{scope}}}})
	if err != nil {
		e.t.client.lost[index(logs)].Add(1)
	}
	return err
}

func recordOf(e events.Event) (*logpb.LogRecord, error) {
	body, err := e.JSON()
	if err != nil {
		return nil, err
	}
	number, word := severity(e.Severity)
	out := &logpb.LogRecord{TimeUnixNano: nanos(e.Time()), ObservedTimeUnixNano: nanos(e.Time()), SeverityNumber: number, SeverityText: word,
		EventName: e.Type, Body: text(string(body))}
	for _, x := range []struct{ key, value string }{
		{"verbatim.event.id", e.ID}, {"verbatim.run.id", e.RunID}, {"verbatim.tenant", e.Tenant}, {"gen_ai.agent.name", e.AgentName},
		{"gen_ai.request.model", e.Model}, {"verbatim.actor", e.Actor}, {"verbatim.status", e.Status}, {"error.type", e.ErrorName},
		{"verbatim.subject.kind", e.Subject.Kind}, {"gen_ai.tool.name", toolOf(e)}, {"gen_ai.tool.call.id", e.Subject.CallID},
		{"verbatim.record.id", e.Record.ID}, {"verbatim.record.event", e.Record.Event},
	} {
		if x.value != "" {
			out.Attributes = append(out.Attributes, pair(x.key, x.value))
		}
	}
	if e.Policy != nil {
		out.Attributes = append(out.Attributes, pair("verbatim.decision", e.Policy.Decision), pair("verbatim.policy.version", e.Policy.PolicyVersion))
	}
	return out, nil
}

func toolOf(e events.Event) string {
	if e.Subject.Kind == "handoff" {
		return ""
	}
	return e.Subject.Name
}

func severity(s string) (logpb.SeverityNumber, string) {
	switch s {
	case events.Debug:
		return logpb.SeverityNumber_SEVERITY_NUMBER_DEBUG, "DEBUG"
	case events.Warn:
		return logpb.SeverityNumber_SEVERITY_NUMBER_WARN, "WARN"
	case events.Error:
		return logpb.SeverityNumber_SEVERITY_NUMBER_ERROR, "ERROR"
	default:
		return logpb.SeverityNumber_SEVERITY_NUMBER_INFO, "INFO"
	}
}
