package brief_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/brief"
)

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// A reader that is slower than its pipe gets every byte once, in order.
func TestAllIsWrittenInOrderThoughThereIsNoRoom(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	out := brief.NewWriter(w)
	var want bytes.Buffer
	texts := make([]string, 300)
	for i := range texts {
		texts[i] = strings.Repeat(string(rune('a'+i%26)), 1+i*i%90_000) // longer than a pipe, too
		want.WriteString(texts[i])
	}
	got := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(r)
		got <- all
	}()
	for i, text := range texts {
		if n, err := io.WriteString(out, text); n != len(text) || err != nil {
			t.Fatalf("text %d: %d of %d bytes, %v", i, n, len(text), err)
		}
	}
	w.Close()
	if all := <-got; !bytes.Equal(all, want.Bytes()) {
		t.Errorf("%d bytes, want %d, or others", len(all), want.Len())
	}
}

// What is written is counted to the byte: only nothing proves that nothing
// has left.
func TestErrorsAreThoseOfTheStream(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	out := brief.NewWriter(w)
	r.Close()
	if n, err := out.Write([]byte("x")); n != 0 || !strings.Contains(err.Error(), "broken pipe") && !errors.Is(err, os.ErrClosed) {
		t.Errorf("without a reader: %d, %v", n, err)
	}
	w.Close()
	if n, err := out.Write([]byte("x")); n != 0 || !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: %d, %v", n, err)
	}
}

func TestAWriteEndsWithItsTime(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	if w.SetWriteDeadline(time.Time{}) != nil {
		t.Skip("pipes have no deadlines here")
	}
	out := brief.NewWriter(w)
	if err := w.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	n, err := 0, error(nil)
	for err == nil { // until the pipe is full
		var more int
		more, err = out.Write(make([]byte, 50_000))
		n += more
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("error %v", err)
	}
	w.Close()
	if all, err := io.ReadAll(r); len(all) != n || err != nil {
		t.Errorf("%d bytes are there, %d were counted, %v", len(all), n, err)
	}
}

// What may block is written as it always was.
func TestOnlyStreamsThatDoNotBlockAreWrittenBriefly(t *testing.T) {
	t.Parallel()
	f, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, w := range []io.Writer{new(bytes.Buffer), f} {
		if brief.NewWriter(w) != w {
			t.Errorf("%T may block", w)
		}
	}
}
