package metrics

import (
	"context"
	"maps"
	"slices"
)

// Sample is one series as it is now.
type Sample struct {
	Family Family
	Values []string // of the labels
	Value  float64  // of a counter or gauge; the sum of a histogram
	Bounds []float64
	Counts []uint64 // by bucket, the last is +Inf; nil but for histograms
}

// Samples are all series, by name and labels. What states could not be read is
// left out.
func (r *Registry) Samples(ctx context.Context) (out []Sample) {
	families, said, _ := r.read(ctx)
	for _, f := range families {
		if now := said[f]; now != nil {
			f = now
		}
		f.mu.Lock()
		for _, key := range slices.Sorted(maps.Keys(f.series)) {
			s := f.series[key]
			out = append(out, Sample{Family{f.name, string(f.kind), f.help, f.labels}, s.values, s.sum, f.buckets, slices.Clone(s.counts)})
		}
		f.mu.Unlock()
	}
	return out
}
