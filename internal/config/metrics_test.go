package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/config"
)

func TestMetricsAreOffUnlessAskedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string]*config.Metrics{
		"agent: a\n":    nil,
		"metrics: {}\n": {Listen: config.DefaultMetrics},
		"metrics: {listen: \"0.0.0.0:1\", cert: c, key: k, token: {file: t}}\n": {Listen: "0.0.0.0:1", Cert: filepath.Join(dir, "c"),
			Key: filepath.Join(dir, "k"), Token: config.Secret{File: filepath.Join(dir, "t")}},
	} {
		c, err := config.Load("/home/x", write(t, dir, text), false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, c.Metrics); diff != "" {
			t.Errorf("%s(-want +got):\n%s", text, diff)
		}
	}
}

func TestMetricsForTheNetworkNeedACertificateAndAToken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"{listen: \"0.0.0.0:1\"}", "metrics name tools"},
		{"{listen: \"0.0.0.0:1\", cert: c, key: k}", "metrics name tools"},
		{"{listen: \"0.0.0.0:1\", token: {env: X}}", "metrics name tools"},
		{"{cert: c}", "come together"},
		{"{listen: localhost}", "must be an address with a port"},
		{"{token: {}}", "exactly one of env, file and command"},
		{"{path: /m}", "there is no such field"},
	} {
		_, err := config.Load("/home/x", write(t, t.TempDir(), "metrics: "+tt.text+"\n"), false)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q in it", tt.text, err, tt.want)
		}
	}
}
