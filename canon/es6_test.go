package canon_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
)

// es6Static reads the doubles that begin the published sequence from the page
// that describes it.
func es6Static(t *testing.T) []float64 {
	t.Helper()
	page := string(read(t, filepath.Join(suite(t, "jcs"), "testdata", "README.md")))
	_, list, _ := strings.Cut(page, "BigUint64Array([")
	list, _, _ = strings.Cut(list, "])")
	var out []float64
	for _, m := range regexp.MustCompile(`0x([0-9a-f]{16})n`).FindAllStringSubmatch(list, -1) {
		u, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, math.Float64frombits(u))
	}
	if len(out) != 168 {
		t.Fatalf("found %d doubles, want 168", len(out))
	}
	return out
}

// es6Doubles yields what follows them: the smallest normal doubles, then
// a chain of SHA-256 blocks without end.
func es6Doubles(yield func(float64) bool) {
	for i := range uint64(2000) {
		if !yield(math.Float64frombits(0x0010000000000000 + i)) {
			return
		}
	}
	var block [sha256.Size]byte
	for {
		block = sha256.Sum256(block[:])
		for i := 0; i < len(block); i += 8 {
			f := math.Float64frombits(binary.LittleEndian.Uint64(block[i:]))
			if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
				continue
			}
			if !yield(f) {
				return
			}
		}
	}
}

var es6Lines = flag.Int("es6", 1_000_000, "how many lines of the published sequence of numbers to print: a power of ten up to 100 million")

// TestNumbersPrintAsECMAScriptDoes compares the hashes published for the first
// lines of the sequence.
func TestNumbersPrintAsECMAScriptDoes(t *testing.T) {
	t.Parallel()
	want := map[int]string{
		1_000:     "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687",
		10_000:    "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892",
		100_000:   "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7",
		1_000_000: "49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16",

		10_000_000:  "b9f8a44a91d46813b21b9602e72f112613c91408db0b8341fb94603d9db135e0",
		100_000_000: "0f7dda6b0837dde083c5d6b896f7d62340c8a2415b0c7121d83145e08a755272",
	}
	last := *es6Lines
	if testing.Short() {
		last = min(last, 100_000)
	}
	sum, lines := sha256.New(), 0
	var line []byte
	write := func(f float64) bool {
		line = strconv.AppendUint(line[:0], math.Float64bits(f), 16)
		line = append(line, ',')
		if f == 0 { // the published lines print -0 as 0; it is refused here
			line = append(line, '0')
		} else {
			v, err := canon.FloatValue(f)
			if err != nil {
				t.Fatalf("%x: %v", math.Float64bits(f), err)
			}
			line = append(line, v.NumberText()...)
		}
		sum.Write(append(line, '\n'))
		if lines++; want[lines] != "" && hex.EncodeToString(sum.Sum(nil)) != want[lines] {
			t.Fatalf("the first %d lines differ from the published ones", lines)
		}
		return lines < last
	}
	for _, f := range es6Static(t) {
		write(f)
	}
	es6Doubles(write)
	if lines != last {
		t.Fatalf("wrote %d lines, want %d", lines, last)
	}
}

// TestNumbersReadBackAsTheDoubleThatWasPrinted closes the circle: decoding the
// printed text changes nothing, in the exact domain too unless it is an
// integer that JSON readers round.
func TestNumbersReadBackAsTheDoubleThatWasPrinted(t *testing.T) {
	t.Parallel()
	n := 0
	for f := range es6Doubles {
		if n++; n > 50_000 {
			return
		}
		v, err := canon.FloatValue(f)
		if err != nil {
			t.Fatal(err)
		}
		exact := math.Abs(f) <= canon.MaxSafeInteger
		got, err := canon.ParseNumber(v.NumberText(), exact)
		if err != nil {
			t.Fatalf("%s: %v", v.NumberText(), err)
		}
		if got.NumberText() != v.NumberText() || got.Float64() != f {
			t.Fatalf("%s read back as %s", v.NumberText(), got.NumberText())
		}
	}
}
