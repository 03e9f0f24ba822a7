package eager_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/eager"
)

func TestPaceIsQuickAfterQuickAnswers(t *testing.T) {
	t.Parallel()
	var p eager.Pace
	const slow = time.Millisecond
	for i, step := range []struct {
		took  time.Duration
		quick bool // afterwards
	}{
		{0, false}, {0, true}, // two in a row
		{eager.LookFor, true},
		{slow, false}, {0, false}, // looked for in vain: a rest of eight
		{0, false}, {0, false}, {0, false}, {0, false}, {0, false}, {0, false}, {0, true},
		{slow, false}, // sixteen
	} {
		if p.Took(step.took); p.Quick() != step.quick {
			t.Fatalf("after answer %d: quick is %v", i, p.Quick())
		}
	}
}

// A server that is always looked for in vain is looked for ever more rarely,
// and one that answers at once is looked for each time again, soon.
func TestPaceLearns(t *testing.T) {
	t.Parallel()
	var p eager.Pace
	looks := func(answers int, looked, otherwise time.Duration) (n int) {
		for range answers {
			if p.Quick() {
				n++
				p.Took(looked)
				continue
			}
			p.Took(otherwise)
		}
		return n
	}
	if n := looks(10_000, time.Millisecond, 0); n < 8 || n > 20 {
		t.Errorf("of 10,000 answers %d were looked for in vain", n)
	}
	if n := looks(10_000, 0, 0); n < 8_900 {
		t.Errorf("of 10,000 quick answers %d were looked for", n)
	}
	if n := looks(100, time.Millisecond, 0); n > 5 {
		t.Errorf("of the next 100 answers %d were looked for in vain", n)
	}
	if n := looks(1_000, 0, time.Second); n > 0 {
		t.Errorf("%d answers of a slow server were looked for", n)
	}
}

func lookingAt(t *testing.T) (read func([]byte) (int, error), found func([]byte) int, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	read, found = eager.Looking(r)
	if read == nil {
		if runtime.NumCPU() > 1 && runtime.GOMAXPROCS(0) > 1 {
			t.Fatal("a pipe cannot be looked at")
		}
		return r.Read, func([]byte) int { return 0 }, w
	}
	return read, found, w
}

func TestLookingFindsWhatIsThereAndWaitsForTheRest(t *testing.T) {
	t.Parallel()
	read, _, w := lookingAt(t)
	p := make([]byte, 4)
	for _, text := range []string{"one\n", "two\n"} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if n, err := read(p); err != nil || string(p[:n]) != text {
			t.Fatalf("%q, %v", p[:n], err)
		}
	}
	got := make(chan []byte)
	go func() {
		n, _ := read(p)
		got <- bytes.Clone(p[:n])
	}()
	time.Sleep(4 * eager.LookFor)
	if _, err := io.WriteString(w, "end\n"); err != nil {
		t.Fatal(err)
	}
	if text := <-got; string(text) != "end\n" {
		t.Errorf("%q", text)
	}
	w.Close()
	if n, err := read(p); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%d, %v after the end", n, err)
	}
}

// Looking gives up by itself: it has neither an end of its own nor an error.
func TestLookingGivesUp(t *testing.T) {
	t.Parallel()
	_, found, w := lookingAt(t)
	p := make([]byte, 4)
	if n := found(p); n != 0 {
		t.Errorf("%d bytes were found where nothing is", n)
	}
	w.Close()
	if n := found(p); n != 0 {
		t.Errorf("%d bytes were found after the end", n)
	}
}

func TestLookingIsForStreamsThatCanBeTried(t *testing.T) {
	t.Parallel()
	if read, _ := eager.Looking(new(bytes.Buffer)); read != nil {
		t.Error("what is no descriptor is looked at")
	}
}
