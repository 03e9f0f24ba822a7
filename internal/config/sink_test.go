package config_test

import (
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-de4804fb/verbatim/internal/config"
)

func TestSinksAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := config.Load("/home/x", write(t, dir, `sinks:
  lines: {file: events.jsonl}
  more: {file: {path: /var/log/v.jsonl, maxBytes: 65536, keep: 2}, runs: true, from: start}
  hook: {webhook: {url: "https://siem.example/in", secret: {file: s}, ca: ca.pem, key: k1, networks: ["10.1.0.0/16"]}, from: next}
`), false)
	if err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(dir, "ca.pem")
	want := map[string]config.Sink{
		"lines": {File: &config.FileSink{Path: filepath.Join(dir, "events.jsonl")}},
		"more":  {File: &config.FileSink{Path: "/var/log/v.jsonl", MaxBytes: 65536, Keep: 2}, Runs: true, FromStart: true},
		"hook": {Webhook: &config.WebhookSink{URL: "https://siem.example/in", Secret: config.Secret{File: filepath.Join(dir, "s")}, Key: "k1", CA: &ca,
			Networks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}},
	}
	if diff := cmp.Diff(want, c.Sinks, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSinkThatWouldNotDoIsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"a: {}", "exactly one of file, webhook and otlp"},
		{"a: {otlp: true}", "telemetry.otlp"},
		{"a: {file: x, webhook: {url: \"https://h\", secret: {env: S}}}", "exactly one of file, webhook and otlp"},
		{"A: {file: x}", "a name has"},
		{"a: {file: x}\n  b: {file: x}", "two sinks write to one file"},
		{"a: {file: {keep: 2}}", "path: is needed"},
		{"a: {file: {path: x, maxBytes: 10}}", "must be a number from"},
		{"a: {file: x, from: end}", "must be start or next"},
		{"a: {file: x, runs: 1}", "must be true or false"},
		{"a: {webhook: {url: \"https://h\"}}", "needs url and secret"},
		{"a: {webhook: {url: \"https://h\", secret: {env: S, file: s}}}", "exactly one of env, file and command"},
		{"a: {webhook: {url: \"https://h\", secret: {env: S}, networks: [\"0.0.0.0/0\"]}}", "not every address"},
		{"a: {webhook: {url: \"https://h\", secret: {env: S}, key: \"a\\\"b\"}}", "key: has 1 to 40"},
	} {
		_, err := config.Load("/home/x", write(t, t.TempDir(), "sinks:\n  "+tt.text+"\n"), false)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q in it", tt.text, err, tt.want)
		}
	}
}
