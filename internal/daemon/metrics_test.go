package daemon_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/internal/metrics"
)

func TestMetricsAreServedAtAnAddressOfTheirOwn(t *testing.T) {
	t.Parallel()
	registry := metrics.New()
	r := start(t, func(c *daemon.Config) {
		c.Metrics = &daemon.Metrics{Listen: "127.0.0.1:0", Registry: registry}
	})
	metrics.WatchBook(registry, r.gate.Store, "acme")
	r.pending(`{"amount":5,"to":"a"}`)
	state := r.client.State
	page := fetch(t, state.Metrics+"/metrics", http.StatusOK)
	for _, want := range []string{`verbatim_actions{state="pending_approval"} 1`, `verbatim_actions{state="uncertain"} 0`,
		"verbatim_scrape_errors 0", "verbatim_attached_clients 0", "verbatim_draining 0", "verbatim_build_info{"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not in\n%s", want, page)
		}
	}
	if got := fetch(t, state.Page+"/metrics", http.StatusOK); strings.Contains(got, "verbatim_") {
		t.Error("the page serves metrics")
	}
}

func fetch(t *testing.T, url string, want int) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != want {
		t.Fatalf("%s: %d, %v", url, res.StatusCode, err)
	}
	return string(body)
}
