package telemetry_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	collogs "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	logpb "go.opentelemetry.io/proto/slim/otlp/logs/v1"
	metricpb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/seed-de4804fb/verbatim/internal/metrics"
	"github.com/seed-de4804fb/verbatim/internal/netguard"
	"github.com/seed-de4804fb/verbatim/internal/telemetry"
)

// collector takes OTLP over HTTP as the protocol says.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	status  int
	tries   int
	bodies  []string
	spans   []*tracepb.Span
	metrics map[string]*metricpb.Metric
	logs    []*logpb.LogRecord
	about   map[string]string // attributes of the resource
	bad     []string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{status: http.StatusOK, metrics: map[string]*metricpb.Metric{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tries++
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.bad = append(c.bad, r.Method+" "+r.Header.Get("Content-Type"))
	}
	if c.status == http.StatusOK {
		if err := c.take(r.URL.Path, body); err != nil {
			c.bad = append(c.bad, err.Error())
		}
	}
	w.WriteHeader(c.status)
}

func (c *collector) take(path string, body []byte) error {
	c.bodies = append(c.bodies, string(body))
	switch path {
	case "/v1/traces":
		var m coltrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			return err
		}
		for _, r := range m.ResourceSpans {
			c.about = texts(r.Resource.Attributes)
			for _, s := range r.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
	case "/v1/metrics":
		var m colmetrics.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			return err
		}
		for _, r := range m.ResourceMetrics {
			for _, s := range r.ScopeMetrics {
				for _, one := range s.Metrics {
					c.metrics[one.Name] = one
				}
			}
		}
	case "/v1/logs":
		var m collogs.ExportLogsServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			return err
		}
		for _, r := range m.ResourceLogs {
			for _, s := range r.ScopeLogs {
				c.logs = append(c.logs, s.LogRecords...)
			}
		}
	default:
		c.bad = append(c.bad, path)
	}
	return nil
}

// texts are attributes by name; values that are no text are in their own form.
func texts(list []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, kv := range list {
		if v, ok := kv.Value.Value.(*common.AnyValue_StringValue); ok {
			out[kv.Key] = v.StringValue
			continue
		}
		out[kv.Key] = strings.TrimSpace(kv.Value.String())
	}
	return out
}

// span returns the one span of a name.
func (c *collector) span(t *testing.T, name string) *tracepb.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*tracepb.Span
	for _, s := range c.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans are called %q", len(found), name)
	}
	return found[0]
}

func (c *collector) telemetry(t *testing.T, change func(*telemetry.Config)) *telemetry.Telemetry {
	t.Helper()
	guard, err := netguard.New(netguard.Options{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if err != nil {
		t.Fatal(err)
	}
	cfg := telemetry.Config{URL: c.URL + "/", Guard: guard, Version: "v1", Traces: true, Metrics: true, Sample: 1, Registry: metrics.New()}
	if change != nil {
		change(&cfg)
	}
	tel, err := telemetry.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tel
}
