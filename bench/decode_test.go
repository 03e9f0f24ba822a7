package bench

import (
	"bytes"
	"crypto/sha256"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"testing"

	"github.com/cyberphone/json-canonicalization/go/src/webpki.org/jsoncanonicalizer"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/decode"
)

// arguments are the rules under which calls are read.
var arguments = canon.Options{Exact: true, FoldTwins: true}

const (
	oursText = "verbatim, text to text"
	oursTree = "verbatim, through the tree"
	asJCS    = "gowebpki/jcs"
	asText   = "jsontext"
)

// ways are the subjects that make raw canonical.
func ways(raw []byte) []subject {
	var d canon.Decoder
	var ours, theirs []byte
	var tree []byte
	form, _ := d.Canonicalize(nil, raw, arguments)
	copied := make([]byte, len(raw))
	return []subject{
		{oursText, func() (err error) { ours, err = d.Canonicalize(ours[:0], raw, arguments); return err }},
		{"verbatim, already canonical", func() (err error) { ours, err = d.Canonicalize(ours[:0], form, arguments); return err }},
		{"verbatim, digits of doubles", func() (err error) { ours, err = d.Canonicalize(ours[:0], raw, canon.Options{}); return err }},
		{oursTree, func() error {
			v, err := decode.Arguments(raw, decode.Options{})
			tree = v.AppendTo(tree[:0])
			return err
		}},
		{"verbatim, the tree alone", func() error { _, err := decode.Arguments(raw, decode.Options{}); return err }},
		{asText, func() error {
			theirs = append(theirs[:0], raw...)
			v := jsontext.Value(theirs)
			err := v.Canonicalize()
			theirs = v
			return err
		}},
		{asJCS, func() error { _, err := jcs.Transform(raw); return err }},
		{"cyberphone", func() error { _, err := jsoncanonicalizer.Transform(raw); return err }},
		{"encoding/json, there and back", func() error {
			var v any
			if err := stdjson.Unmarshal(raw, &v); err != nil {
				return err
			}
			_, err := stdjson.Marshal(v)
			return err
		}},
		{"sha256", func() error { sha256.Sum256(raw); return nil }},
		{"copy", func() error { copy(copied, raw); return nil }},
	}
}

// TestDecode prints how long it takes to read a text strictly and write it
// canonically.
func TestDecode(t *testing.T) {
	bars := map[string][2]float64{"213 B": {10, 3}, "3.7 KB": {10, 3}, "1 MB": {8, 2.5}}
	for _, call := range calls() {
		agree(t, call.raw)
		figures := measure(t, ways(call.raw))
		table(fmt.Sprintf("strict text to canonical text, %s (%d bytes)", call.name, len(call.raw)), oursText, figures)
		faster(figures, oursText, asJCS, bars[call.name][0])
		faster(figures, oursText, asText, bars[call.name][1])
		leaner(figures, oursText, 0)
	}
	hostile(t)
}

// agree checks that what is timed gives one answer.
func agree(t *testing.T, raw []byte) {
	t.Helper()
	var d canon.Decoder
	want, err := jcs.Transform(raw)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Canonicalize(nil, raw, arguments)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("verbatim and jcs differ, or: %v", err)
	}
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Canonicalize(); err != nil || !bytes.Equal(v, want) {
		t.Fatalf("jsontext and jcs differ, or: %v", err)
	}
}

// hostile prints what the worst texts cost beside an ordinary one as large.
func hostile(t *testing.T) {
	const size = canon.DefaultMaxBytes
	plain := largeCall(size - 4000)
	var d canon.Decoder
	var buf []byte
	text := func(raw []byte) func() error {
		return func() (err error) { buf, err = d.Canonicalize(buf[:0], raw, arguments); return err }
	}
	tree := func(raw []byte) func() error {
		return func() error { _, err := canon.Decode(raw, arguments); return err }
	}
	subjects := []subject{{"plain, text", text(plain)}, {"plain, tree", tree(plain)}}
	inputs := worst(size)
	for _, in := range inputs {
		subjects = append(subjects, subject{in.name + ", text", text(in.raw)}, subject{in.name + ", tree", tree(in.raw)})
	}
	for _, s := range subjects {
		if err := s.run(); err != nil {
			var refused canon.Violations
			if errors.As(err, &refused) {
				t.Errorf("%s is refused: %v", s.name, err)
			}
		}
	}
	if t.Failed() {
		return
	}
	figures := measure(t, subjects)
	table("worst texts of 1 MiB", "plain, text", figures)
	slowest, largest := 0.0, 0.0
	for i, in := range inputs {
		slowest = max(slowest, figures[2+2*i].ratio(figures[0]), figures[3+2*i].ratio(figures[1]))
		largest = max(largest, peak(fresh(in.raw))/size, peak(tree(in.raw))/size)
	}
	bar(slowest <= 5, "the slowest takes %.1fx the time of a plain text the same way, bar 5x", slowest)
	bar(largest <= 16, "the heap grows by at most %.1f MiB, bar 16 MiB", largest)
}

// fresh makes a text canonical with a new Decoder.
func fresh(raw []byte) func() error {
	return func() error {
		var d canon.Decoder
		out, err := d.Canonicalize(nil, raw, arguments)
		runtime.KeepAlive(out)
		return err
	}
}

// peak returns by how many bytes the heap grows at most while f runs. It
// samples, with a collector that hardly waits, and takes the least of three.
func peak(f func() error) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	least := math.Inf(1)
	for range 3 {
		runtime.GC()
		base := heap()
		highest, done := base, make(chan struct{})
		var wait sync.WaitGroup
		wait.Go(func() {
			for {
				highest = max(highest, heap())
				select {
				case <-done:
					return
				default:
				}
			}
		})
		_ = f()
		close(done)
		wait.Wait()
		least = min(least, highest-base)
	}
	return least
}

// heap returns the bytes of all objects that are not swept.
func heap() float64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64())
}
