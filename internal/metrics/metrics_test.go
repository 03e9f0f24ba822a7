package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/metrics"
)

func text(t *testing.T, r *metrics.Registry) string {
	t.Helper()
	b, _ := r.Text(context.Background())
	return string(b)
}

func TestPageIsInTheTextFormat(t *testing.T) {
	t.Parallel()
	r := metrics.New()
	c := r.Counter("a_total", "Line one\nand \\ two.", "tool")
	h := r.Histogram("b_seconds", "B.", []float64{0.5, 1})
	g := r.Gauge("c", "C.", "state")
	r.Counter("d_total", "D.")
	r.Ask(func(_ context.Context, set metrics.Set) error {
		set(g, 2, "x")
		return nil
	})
	c.Add(1, "say \"hi\"\n\\")
	c.Add(2, "say \"hi\"\n\\")
	c.Add(-1, "never")
	for _, v := range []float64{0.5, 0.75, 7} {
		h.Observe(v)
	}
	want := `# HELP a_total Line one\nand \\ two.
# TYPE a_total counter
a_total{tool="say \"hi\"\n\\"} 3
# HELP b_seconds B.
# TYPE b_seconds histogram
b_seconds_bucket{le="0.5"} 1
b_seconds_bucket{le="1"} 2
b_seconds_bucket{le="+Inf"} 3
b_seconds_sum 8.25
b_seconds_count 3
# HELP c C.
# TYPE c gauge
c{state="x"} 2
# HELP d_total D.
# TYPE d_total counter
d_total 0
# HELP verbatim_scrape_errors States that could not be read in this scrape.
# TYPE verbatim_scrape_errors gauge
verbatim_scrape_errors 0
`
	if diff := cmp.Diff(want, text(t, r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStateThatCannotBeReadIsLeftOutAndCounted(t *testing.T) {
	t.Parallel()
	r := metrics.New()
	good, bad := r.Gauge("good", "."), r.Gauge("bad", ".")
	r.Ask(func(_ context.Context, set metrics.Set) error { set(bad, 1); return errors.New("the store is away") })
	r.Ask(func(_ context.Context, set metrics.Set) error { set(good, 1); return nil })
	got := text(t, r)
	if !strings.Contains(got, "\ngood 1\n") || strings.Contains(got, "\nbad 1\n") || !strings.Contains(got, "\nverbatim_scrape_errors 1\n") {
		t.Errorf("page:\n%s", got)
	}
	if strings.Contains(got, "away") {
		t.Error("the text of an error is on the page")
	}
}

func TestStateIsForgottenBetweenScrapes(t *testing.T) {
	t.Parallel()
	r := metrics.New()
	g := r.Gauge("g", ".", "name")
	names := []string{"first"}
	r.Ask(func(_ context.Context, set metrics.Set) error {
		for _, n := range names {
			set(g, 1, n)
		}
		return nil
	})
	text(t, r)
	names = []string{"second"}
	if got := text(t, r); strings.Contains(got, "first") || !strings.Contains(got, `g{name="second"} 1`) {
		t.Errorf("page:\n%s", got)
	}
}

func TestFamilyDoesNotGrowWithoutBound(t *testing.T) {
	t.Parallel()
	r := metrics.New()
	c := r.Counter("c_total", ".", "tool")
	for i := range 3 * metrics.MaxSeries {
		c.Add(1, fmt.Sprint("tool-", i))
	}
	got := text(t, r)
	if n := strings.Count(got, "\nc_total{"); n != metrics.MaxSeries {
		t.Errorf("%d series, want %d", n, metrics.MaxSeries)
	}
	if want := fmt.Sprintf("c_total{tool=\"other\"} %d\n", 2*metrics.MaxSeries+1); !strings.Contains(got, want) {
		t.Errorf("what came late is not counted as other: want %s", want)
	}
}

func TestNoLabelBreaksTheLines(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`^(# (HELP|TYPE) .*|[a-z_]+(\{[a-z]+="([^"\\\n]|\\[\\n"])*"\})? [0-9.e+-]+)$`)
	rapid.Check(t, func(t *rapid.T) {
		r := metrics.New()
		c := r.Counter("c_total", ".", "tool")
		for _, label := range rapid.SliceOf(rapid.String()).Draw(t, "labels") {
			c.Add(1, label)
		}
		b, _ := r.Text(context.Background())
		for _, l := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
			if !line.MatchString(l) {
				t.Fatalf("line %q", l)
			}
		}
	})
}

func TestCountsFromManyGoroutinesAreAllThere(t *testing.T) {
	t.Parallel()
	r := metrics.New()
	c, h := r.Counter("c_total", ".", "x"), r.Histogram("h", ".", []float64{1})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 500 {
				c.Add(1, fmt.Sprint(i%3))
				h.Observe(float64(i % 3))
				if i%100 == 0 {
					r.Text(context.Background())
				}
			}
		})
	}
	wg.Wait()
	if got := text(t, r); !strings.Contains(got, "h_count 4000\n") || !strings.Contains(got, `c_total{x="0"} 1336`) {
		t.Errorf("page:\n%s", got)
	}
}

func TestCountingASeriesThatExistsAllocatesLittle(t *testing.T) {
	r := metrics.New()
	calls := metrics.NewCalls(r)
	o := verbatim.Observation{Tool: "bank.pay", Decision: "allow", DecisionCode: verbatim.CodeOK, Took: time.Millisecond,
		Steps:   []verbatim.Step{{Name: verbatim.StepPropose}, {Name: verbatim.StepDecide}, {Name: verbatim.StepRun}},
		Outcome: verbatim.Outcome{Status: verbatim.StatusOK, Code: verbatim.CodeOK}}
	calls.Observe(o)
	if n := testing.AllocsPerRun(100, func() { calls.Observe(o) }); n > 8 {
		t.Errorf("%v allocations for one call", n)
	}
}

func TestUnstoredCallIsCountedAsFailed(t *testing.T) {
	t.Parallel()
	r := metrics.New()
	metrics.NewCalls(r).Observe(verbatim.Observation{Tool: "pay", Unstored: true, Outcome: verbatim.Outcome{State: action.Executing}})
	got := text(t, r)
	for _, want := range []string{`verbatim_calls_total{tool="pay",status="failed",code="record_failed"} 1`, "verbatim_unstored_calls_total 1\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestDoorLetsInWhomItShould(t *testing.T) {
	t.Parallel()
	const token = "a-token-of-twenty-four-or-more"
	tests := []struct {
		name         string
		door         metrics.Door
		method, path string
		host, bearer string
		want         int
	}{
		{"on loopback by address", metrics.Door{Loopback: true}, "GET", "/metrics", "127.0.0.1:7435", "", 200},
		{"on loopback by name", metrics.Door{Loopback: true}, "GET", "/metrics", "localhost:7435", "", 200},
		{"on loopback, IPv6", metrics.Door{Loopback: true}, "GET", "/metrics", "[::1]:7435", "", 200},
		{"a name that a web page led here", metrics.Door{Loopback: true}, "GET", "/metrics", "evil.example:7435", "", 421},
		{"with the token", metrics.Door{Token: token}, "GET", "/metrics", "scrape.example", "Bearer " + token, 200},
		{"without the token", metrics.Door{Token: token}, "GET", "/metrics", "scrape.example", "", 401},
		{"with part of the token", metrics.Door{Token: token}, "GET", "/metrics", "scrape.example", "Bearer a-token", 401},
		{"with another scheme", metrics.Door{Token: token}, "GET", "/metrics", "scrape.example", "Basic " + token, 401},
		{"a change", metrics.Door{}, "POST", "/metrics", "localhost", "", 405},
		{"another path", metrics.Door{}, "GET", "/", "localhost", "", 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := metrics.New()
			r.Counter("a_total", "A.")
			req := httptest.NewRequest(tt.method, tt.path, nil)
			req.Host = tt.host
			if tt.bearer != "" {
				req.Header.Set("Authorization", tt.bearer)
			}
			w := httptest.NewRecorder()
			r.Handler(tt.door).ServeHTTP(w, req)
			if w.Code != tt.want {
				t.Errorf("status %d, want %d", w.Code, tt.want)
			}
			body, err := io.ReadAll(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(body), "a_total"); got != (tt.want == http.StatusOK) {
				t.Errorf("metrics shown: %v", got)
			}
		})
	}
}
