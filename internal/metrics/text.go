package metrics

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Text is the page: every family with its series, in order of their names.
// failed counts the states that could not be read.
func (r *Registry) Text(ctx context.Context) (text []byte, failed int) {
	families, said, failed := r.read(ctx)
	var b bytes.Buffer
	for _, f := range families {
		if now := said[f]; now != nil {
			f = now
		}
		f.write(&b)
	}
	fmt.Fprintf(&b, "# HELP %s States that could not be read in this scrape.\n# TYPE %s gauge\n%s %d\n", scrapeErrors, scrapeErrors, scrapeErrors, failed)
	return b.Bytes(), failed
}

// read asks every state. said has what they said, by family.
func (r *Registry) read(ctx context.Context) (families []*family, said map[*family]*family, failed int) {
	r.mu.Lock()
	families = slices.SortedFunc(maps.Values(r.families), func(a, b *family) int { return strings.Compare(a.name, b.name) })
	states := slices.Clone(r.state)
	r.mu.Unlock()
	said = map[*family]*family{}
	for _, state := range states {
		if err := asked(ctx, state, said); err != nil {
			failed++
		}
	}
	return families, said, failed
}

const scrapeErrors = "verbatim_scrape_errors"

// asked asks one state. What it said before it failed does not count.
func asked(ctx context.Context, state State, into map[*family]*family) error {
	mine := map[*family]*family{}
	err := state(ctx, func(g Gauge, value float64, labels ...string) {
		f := mine[g.f]
		if f == nil {
			f = &family{name: g.f.name, help: g.f.help, kind: gauge, labels: g.f.labels, series: map[string]*series{}}
			mine[g.f] = f
		}
		f.at(labels, func(s *series) { s.sum = value })
	})
	if err == nil {
		maps.Copy(into, mine)
	}
	return err
}

func (f *family) write(b *bytes.Buffer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", f.name, escape(f.help, false), f.name, f.kind)
	if len(f.series) == 0 && len(f.labels) == 0 && f.kind == counter { // so that a rate is there from the start
		fmt.Fprintf(b, "%s 0\n", f.name)
	}
	for _, key := range slices.Sorted(maps.Keys(f.series)) {
		s := f.series[key]
		if f.kind != histogram {
			fmt.Fprintf(b, "%s%s %s\n", f.name, f.braces(s.values, ""), number(s.sum))
			continue
		}
		total := uint64(0)
		for i, n := range s.counts {
			total += n
			bound := "+Inf"
			if i < len(f.buckets) {
				bound = number(f.buckets[i])
			}
			fmt.Fprintf(b, "%s_bucket%s %d\n", f.name, f.braces(s.values, bound), total)
		}
		fmt.Fprintf(b, "%s_sum%s %s\n%s_count%s %d\n", f.name, f.braces(s.values, ""), number(s.sum), f.name, f.braces(s.values, ""), total)
	}
}

// braces are the labels of a line; le is the bound of a bucket, or "".
func (f *family) braces(values []string, le string) string {
	var parts []string
	for i, name := range f.labels {
		parts = append(parts, name+`="`+escape(values[i], true)+`"`)
	}
	if le != "" {
		parts = append(parts, `le="`+le+`"`)
	}
	if len(parts) == 0 {
		return ""
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// escape is what the format asks of label values, and of help without quotes.
// Text that is no UTF-8 would spoil the page.
func escape(text string, quotes bool) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(text)
	if quotes {
		text = strings.ReplaceAll(text, `"`, `\"`)
	}
	return text
}
