package metrics

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
)

// MaxSeries bounds the series of one family.
const MaxSeries = 2000

// other is every label of what came after MaxSeries.
const other = "other"

// kind is the TYPE of a family.
type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
)

// family is all series of one name.
type family struct {
	name, help string
	kind       kind
	labels     []string
	buckets    []float64

	mu     sync.Mutex
	series map[string]*series
}

// series is one line, or the lines of one histogram.
type series struct {
	values []string
	sum    float64  // of a histogram; else the value
	counts []uint64 // by bucket, the last is +Inf; nil but for histograms
}

// Registry holds families. It is safe for concurrent use; families are added
// before it is served.
type Registry struct {
	mu       sync.Mutex
	families map[string]*family
	state    []State
}

// New returns an empty registry.
func New() *Registry { return &Registry{families: map[string]*family{}} }

// Counter only grows.
type Counter struct{ f *family }

// Histogram counts durations, in seconds, by bucket.
type Histogram struct{ f *family }

// Gauge is a value of the state; only a State sets it, at each scrape.
type Gauge struct{ f *family }

// Set is what a State says: one value of a gauge.
type Set func(g Gauge, value float64, labels ...string)

// State reads the present state and says it. What it does not say is not there.
type State func(ctx context.Context, set Set) error

// Counter adds a family; a name that is taken is a mistake of the program.
func (r *Registry) Counter(name, help string, labels ...string) Counter {
	return Counter{r.add(&family{name: name, help: help, kind: counter, labels: labels})}
}

// Histogram adds a family with the upper bounds of its buckets, in seconds.
func (r *Registry) Histogram(name, help string, buckets []float64, labels ...string) Histogram {
	return Histogram{r.add(&family{name: name, help: help, kind: histogram, labels: labels, buckets: buckets})}
}

// Gauge adds a family.
func (r *Registry) Gauge(name, help string, labels ...string) Gauge {
	return Gauge{r.add(&family{name: name, help: help, kind: gauge, labels: labels})}
}

// Ask has a state read at each scrape.
func (r *Registry) Ask(s State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = append(r.state, s)
}

func (r *Registry) add(f *family) *family {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.families[f.name]; taken {
		panic("metrics: two families are called " + f.name)
	}
	f.series = map[string]*series{}
	r.families[f.name] = f
	return f
}

// Family describes a family.
type Family struct {
	Name, Kind, Help string
	Labels           []string
}

// Families lists all families, by name.
func (r *Registry) Families() []Family {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Family
	for _, f := range r.families {
		out = append(out, Family{f.name, string(f.kind), f.help, slices.Clone(f.labels)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Add adds n, which is not negative, to one series.
func (c Counter) Add(n float64, labels ...string) {
	if n < 0 || math.IsNaN(n) {
		return
	}
	c.f.at(labels, func(s *series) { s.sum += n })
}

// Observe counts one duration.
func (h Histogram) Observe(seconds float64, labels ...string) {
	if math.IsNaN(seconds) {
		return
	}
	h.f.at(labels, func(s *series) {
		if s.counts == nil {
			s.counts = make([]uint64, len(h.f.buckets)+1)
		}
		i, _ := slices.BinarySearch(h.f.buckets, seconds)
		s.counts[i]++
		s.sum += seconds
	})
}

// at changes one series, which is made if there is room.
func (f *family) at(labels []string, change func(*series)) {
	if len(labels) != len(f.labels) {
		panic(fmt.Sprintf("metrics: %s has %d labels", f.name, len(f.labels)))
	}
	key := strings.Join(labels, "\xff") // no label of ours holds that byte: it is no UTF-8
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.series[key]
	if s == nil && len(f.series) >= MaxSeries-1 && len(f.labels) > 0 {
		labels = slices.Repeat([]string{other}, len(f.labels))
		key = strings.Join(labels, "\xff")
		s = f.series[key]
	}
	if s == nil {
		s = &series{values: slices.Clone(labels)}
		f.series[key] = s
	}
	change(s)
}
