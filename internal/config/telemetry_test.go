package config_test

import (
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-de4804fb/verbatim/internal/config"
)

func TestCollectorIsReadAndIsNoneUnlessAskedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	for text, want := range map[string]*config.OTLP{
		"agent: a\n": nil,
		"telemetry: {otlp: {url: \"https://c.example\"}}\n": {URL: "https://c.example", Traces: true, Metrics: true, Sample: 1, Interval: config.DefaultInterval},
		"telemetry: {otlp: {url: \"http://10.0.0.1:4318\", networks: [\"10.0.0.0/8\"], header: X-Key, secret: {file: s}, ca: ca.pem, traces: false, metrics: true, sample: 0.25, interval: 5s}}\n": {
			URL: "http://10.0.0.1:4318", Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Header: "X-Key", Secret: config.Secret{File: filepath.Join(dir, "s")},
			CA: &ca, Metrics: true, Sample: 0.25, Interval: 5 * time.Second},
	} {
		c, err := config.Load("/home/x", write(t, dir, text), false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, c.OTLP, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
			t.Errorf("%s(-want +got):\n%s", text, diff)
		}
	}
}

func TestCollectorThatWouldNotDoIsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"{}", "otlp: is needed"},
		{"{otlp: {}}", "url: is needed"},
		{"{otlp: {url: \"https://c\", header: A}}", "header and secret come together"},
		{"{otlp: {url: \"https://c\", secret: {env: A}}}", "header and secret come together"},
		{"{otlp: {url: \"https://c\", sample: 0}}", "above 0"},
		{"{otlp: {url: \"https://c\", sample: 1.5}}", "above 0"},
		{"{otlp: {url: \"https://c\", sample: NaN}}", "above 0"},
		{"{otlp: {url: \"https://c\", interval: 1ms}}", "must be a duration"},
		{"{otlp: {url: \"https://c\", networks: [\"::/0\"]}}", "not every address"},
		{"{otlp: {url: \"https://c\", payloads: true}}", "there is no such field"},
	} {
		_, err := config.Load("/home/x", write(t, t.TempDir(), "telemetry: "+tt.text+"\n"), false)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q in it", tt.text, err, tt.want)
		}
	}
}
