package telemetry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metricpb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/events"
	"github.com/seed-de4804fb/verbatim/internal/metrics"
	"github.com/seed-de4804fb/verbatim/internal/netguard"
	"github.com/seed-de4804fb/verbatim/internal/telemetry"
)

func observation(change func(*verbatim.Observation)) verbatim.Observation {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o := verbatim.Observation{Kind: action.KindCall, Tenant: "acme", Agent: "helper", Principal: "maria", Tool: "bank.pay", CallID: "7",
		Wire: verbatim.Wire{Method: "tools/call", Version: "2026-07-28", Request: "7", Transport: "tcp"}, Began: began, Took: 300 * time.Millisecond,
		Steps: []verbatim.Step{{Name: verbatim.StepDecide, Began: began.Add(time.Millisecond), Took: time.Millisecond},
			{Name: verbatim.StepRun, Began: began.Add(10 * time.Millisecond), Took: 200 * time.Millisecond}},
		Decision: "allow", DecisionCode: verbatim.CodeOK, PolicyVersion: "abc.1", Rules: []string{"small"},
		Outcome: verbatim.Outcome{Status: verbatim.StatusOK, Code: verbatim.CodeOK, ActionID: "act_1", State: action.Succeeded}}
	if change != nil {
		change(&o)
	}
	return o
}

func TestCallIsASpanWithItsStepsBelowIt(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	tel := c.telemetry(t, nil)
	tel.Observe(observation(func(o *verbatim.Observation) {
		o.Trace = verbatim.Trace{Parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", State: "vendor=x"}
	}))
	tel.Close(t.Context())
	s := c.span(t, "tools/call bank.pay")
	if got := hex.EncodeToString(s.TraceId) + " " + hex.EncodeToString(s.ParentSpanId); got != "0af7651916cd43dd8448eb211c80319c b7ad6b7169203331" {
		t.Errorf("trace and parent %s", got)
	}
	if s.Kind != tracepb.Span_SPAN_KIND_SERVER || s.EndTimeUnixNano-s.StartTimeUnixNano != uint64(300*time.Millisecond) || s.TraceState != "vendor=x" {
		t.Errorf("span %v", s)
	}
	want := map[string]string{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "bank.pay", "gen_ai.tool.type": "function", "gen_ai.agent.name": "helper",
		"mcp.method.name": "tools/call", "mcp.protocol.version": "2026-07-28", "jsonrpc.request.id": "7", "network.transport": "tcp",
		"verbatim.tenant": "acme", "verbatim.action.id": "act_1"}
	if diff := cmp.Diff(want, texts(s.Attributes)); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	if len(s.Events) != 1 || s.Events[0].Name != "verbatim.decision" || texts(s.Events[0].Attributes)["verbatim.decision"] != "allow" || texts(s.Events[0].Attributes)["verbatim.code"] != "ok" {
		t.Errorf("events %v", s.Events)
	}
	run := c.span(t, "execute_tool bank.pay")
	if !bytes.Equal(run.ParentSpanId, s.SpanId) || !bytes.Equal(run.TraceId, s.TraceId) || run.Kind != tracepb.Span_SPAN_KIND_CLIENT {
		t.Errorf("run %v", run)
	}
	c.span(t, "verbatim.decide")
	if c.about["service.name"] != "verbatim" || c.about["service.version"] != "v1" || len(c.bad) > 0 {
		t.Errorf("resource %v, faults %v", c.about, c.bad)
	}
}

func TestCallThatDidNotRunHasASpanThatSaysWhy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		change     func(*verbatim.Observation)
	}{
		{"denied", "policy_denied", func(o *verbatim.Observation) {
			o.Outcome = verbatim.Outcome{Status: verbatim.StatusDenied, Code: verbatim.CodePolicyDenied}
		}},
		{"pending", "", func(o *verbatim.Observation) {
			o.Outcome = verbatim.Outcome{Status: verbatim.StatusApprovalRequired, Code: verbatim.CodeApprovalRequired}
		}},
		{"the tool's own error", "tool_error", func(o *verbatim.Observation) { o.Outcome.IsError = true }},
		{"unstored", "record_failed", func(o *verbatim.Observation) { o.Unstored = true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			tel := c.telemetry(t, nil)
			tel.Observe(observation(tt.change))
			tel.Close(t.Context())
			s := c.span(t, "tools/call bank.pay")
			if got := texts(s.Attributes)["error.type"]; got != tt.want || (s.Status.Code == tracepb.Status_STATUS_CODE_ERROR) != (tt.want != "") {
				t.Errorf("error.type %q, status %v", got, s.Status)
			}
		})
	}
}

func TestTraceContextThatIsNoneIsNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", strings.Repeat("0", 4096)} {
		c := newCollector(t)
		tel := c.telemetry(t, nil)
		tel.Observe(observation(func(o *verbatim.Observation) { o.Trace = verbatim.Trace{Parent: text, State: "a=b"} }))
		tel.Close(t.Context())
		if s := c.span(t, "tools/call bank.pay"); len(s.ParentSpanId) != 0 || s.TraceState != "" {
			t.Errorf("%.60q: parent %x, state %q", text, s.ParentSpanId, s.TraceState)
		}
	}
}

func TestMetricsHaveTheNamesOfTheConventionsAndOfTheRegistry(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	registry := metrics.New()
	calls := metrics.NewCalls(registry)
	g := registry.Gauge("verbatim_actions", ".", "state")
	registry.Ask(func(_ context.Context, set metrics.Set) error { set(g, 4, "uncertain"); return nil })
	tel := c.telemetry(t, func(cfg *telemetry.Config) { cfg.Registry = registry })
	for _, o := range []verbatim.Observation{observation(nil), observation(func(o *verbatim.Observation) { o.Wire = verbatim.Wire{} })} {
		tel.Observe(o)
		calls.Observe(o)
	}
	tel.Close(t.Context())
	server, client := c.metrics["mcp.server.operation.duration"].GetHistogram(), c.metrics["mcp.client.operation.duration"].GetHistogram()
	if server == nil || client == nil || server.DataPoints[0].Count != 1 || client.DataPoints[0].Count != 2 {
		t.Fatalf("server %v, client %v", server, client)
	}
	if got := texts(server.DataPoints[0].Attributes); got["mcp.method.name"] != "tools/call" || got["gen_ai.tool.name"] != "bank.pay" {
		t.Errorf("attributes %v", got)
	}
	if s := server.DataPoints[0]; s.GetSum() != 0.3 || len(s.BucketCounts) != len(s.ExplicitBounds)+1 || c.metrics["mcp.server.operation.duration"].Unit != "s" {
		t.Errorf("histogram %v", s)
	}
	sum := c.metrics["verbatim.calls"].GetSum()
	if sum == nil || !sum.IsMonotonic || sum.AggregationTemporality != metricpb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE || sum.DataPoints[0].GetAsDouble() != 2 {
		t.Errorf("calls %v", c.metrics["verbatim.calls"])
	}
	if got := c.metrics["verbatim.actions"].GetGauge(); got == nil || got.DataPoints[0].GetAsDouble() != 4 || texts(got.DataPoints[0].Attributes)["state"] != "uncertain" {
		t.Errorf("actions %v", c.metrics["verbatim.actions"])
	}
	if h := c.metrics["verbatim.call_seconds"].GetHistogram(); h == nil || h.DataPoints[0].Count != 2 {
		t.Errorf("call_seconds %v", c.metrics["verbatim.call_seconds"])
	}
}

func TestEventsAreLogRecordsAndWhatIsRefusedComesAgain(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	tel := c.telemetry(t, nil)
	defer tel.Close(t.Context())
	e := events.Event{SchemaVersion: events.Schema, ID: "id-1", Type: events.PolicyDenied, Severity: events.Warn, OccurredAt: "2026-03-01T12:00:00Z", RunID: "act_1",
		Subject: events.Subject{Kind: "tool", Name: "bank.pay"}, Policy: &events.Policy{Decision: "deny"}, ErrorName: "policy_denied", Record: events.Record{ID: "rec_1"}}
	c.status = 503
	if err := tel.Events().Deliver(t.Context(), []events.Event{e}); err == nil {
		t.Error("it counts as taken")
	}
	c.mu.Lock()
	c.status = 200
	c.mu.Unlock()
	if err := tel.Events().Deliver(t.Context(), []events.Event{e}); err != nil {
		t.Fatal(err)
	}
	if len(c.logs) != 1 {
		t.Fatalf("%d log records", len(c.logs))
	}
	got := texts(c.logs[0].Attributes)
	if c.logs[0].EventName != events.PolicyDenied || c.logs[0].SeverityText != "WARN" || c.logs[0].TimeUnixNano == 0 || got["verbatim.event.id"] != "id-1" ||
		got["verbatim.decision"] != "deny" || got["error.type"] != "policy_denied" || !strings.Contains(c.logs[0].Body.GetStringValue(), `"id":"id-1"`) {
		t.Errorf("record %v", c.logs[0])
	}
}

func TestCollectorThatIsAwayHoldsUpNobodyAndIsSaidOnce(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	c.status = 500
	var mu sync.Mutex
	var said bytes.Buffer
	registry := metrics.New()
	tel := c.telemetry(t, func(cfg *telemetry.Config) {
		cfg.Registry, cfg.Metrics = registry, false
		cfg.Log = slog.New(slog.NewTextHandler(locked{&mu, &said}, nil))
	})
	for range 20_000 { // far more than wait at most
		tel.Observe(observation(nil))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	tel.Flush(ctx)
	mu.Lock()
	text := said.String()
	mu.Unlock()
	if strings.Count(text, "does not take telemetry") != 1 || strings.Contains(text, c.URL) {
		t.Errorf("the log says:\n%s", text)
	}
	page, _ := registry.Text(t.Context())
	if strings.Contains(string(page), `verbatim_telemetry_lost_requests{signal="traces"} 0`) {
		t.Error("nothing counts as lost")
	}
	c.Close()
	ended, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	tel.Close(ended)
}

type locked struct {
	mu *sync.Mutex
	to *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

func TestTelemetryGoesOnlyWhereItMay(t *testing.T) {
	t.Parallel()
	guard, err := netguard.New(netguard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]telemetry.Config{
		"plain http to the world": {URL: "http://collector.example", Guard: guard, Sample: 1, Registry: metrics.New()},
		"a user in the URL":       {URL: "https://a:b@collector.example", Guard: guard, Sample: 1, Registry: metrics.New()},
		"a query":                 {URL: "https://collector.example?a=b", Guard: guard, Sample: 1, Registry: metrics.New()},
		"no part at all":          {URL: "https://collector.example", Guard: guard, Registry: metrics.New()},
		"more than all":           {URL: "https://collector.example", Guard: guard, Sample: 2, Registry: metrics.New()},
		"no client":               {URL: "https://collector.example", Sample: 1, Registry: metrics.New()},
	} {
		if _, err := telemetry.New(cfg); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
