package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// everyMetric lists the families of a page of metrics, with the names that
// Prometheus knows histograms by.
func everyMetric(t *testing.T, page string) (families, names []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllStringSubmatch(page, -1) {
		families = append(families, m[1])
		names = append(names, m[1])
		if m[2] == "histogram" {
			names = append(names, m[1]+"_bucket", m[1]+"_sum", m[1]+"_count")
		}
	}
	if len(families) < 20 {
		t.Fatalf("%d families on the page", len(families))
	}
	return families, names
}

// documented are the metrics that the operators' page speaks of.
func documented(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range regexp.MustCompile(`\bverbatim_[a-z_]+`).FindAllString(string(page), -1) {
		if name != "verbatim_gateway" { // the name of a role in the database
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// metrics reads what the daemon serves to Prometheus.
func (p *place) metrics() string {
	p.t.Helper()
	res, err := http.Get(p.daemon().State.Metrics + "/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		p.t.Fatalf("metrics: %d, %v", res.StatusCode, err)
	}
	return string(text)
}

func TestAlertsSpeakOfMetricsThatExistAndEveryMetricIsDocumented(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "100ms")
	s := p.serve("  notes: {command: notes-mcp, env: {NOTES: " + p.notes + "}}\nmetrics: {listen: \"127.0.0.1:0\"}\ncandidate: next.cedar\ntelemetry: {otlp: {url: \"" + newRecorder(t).URL + "\", networks: [\"127.0.0.0/8\"]}}\n")
	if got := p.call(agent{ClientSession: s.client("2026-07-28")}, "add", `{"text":"once"}`, ""); got.Code != "no_approver" {
		t.Fatalf("%+v", got)
	}
	page := p.metrics()
	families, names := everyMetric(t, page)
	told := documented(t)
	for _, name := range told {
		if !slices.Contains(names, name) {
			t.Errorf("docs/operations.md speaks of %s, which there is not", name)
		}
	}
	for _, name := range families {
		if !slices.Contains(told, name) {
			t.Errorf("docs/operations.md does not speak of %s", name)
		}
	}
	for _, want := range []string{"verbatim_scrape_errors 0", `verbatim_calls_total{tool="notes.add",status="approval_required",code="no_approver"} 1`,
		`verbatim_decisions_total{decision="require_approval",code="approval_required"} 1`, `verbatim_actions{state="pending_approval"} 1`,
		`verbatim_store_seconds_count{verb="suspend"} 1`, `verbatim_upstream_up{server="notes"} 1`} {
		if !strings.Contains(page, "\n"+want+"\n") {
			t.Errorf("%s is not in\n%s", want, page)
		}
	}
}
