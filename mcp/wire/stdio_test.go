package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// transcript reads a stream to its end, one word a message or refusal.
func transcript(r io.Reader, limits wire.Limits) (words []string, end error) {
	in := wire.NewReader(r, limits)
	for {
		m, err := in.Read()
		var fault *wire.Error
		switch {
		case err == nil:
			words = append(words, m.Kind().String()+" "+string(m.ID().Raw()))
		case errors.As(err, &fault):
			words = append(words, string(fault.Rule)+" "+string(fault.ID.Raw()))
		default:
			return words, err
		}
	}
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestReaderFrames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	for _, tt := range []struct {
		name, stream string
		want         []string
	}{
		{"nothing", "", nil},
		{"two frames", ping + "\n" + ping + "\n", []string{"request 1", "request 1"}},
		{"blank lines and CRLF", "\n \r\n" + ping + "\r\n\n", []string{"request 1"}},
		{"no newline at the end", ping, []string{"request 1"}},
		{"cut off", ping + "\n" + ping[:30], []string{"request 1", "truncated "}},
		{"cut off inside a literal", ping + "\n" + `{"a":tru`, []string{"request 1", "truncated "}},
		{"garbage at the end is not cut off", "oops", []string{"syntax "}},
		{"two frames on one line", ping + ping + "\n" + ping + "\n", []string{"syntax ", "request 1"}},
		{"a pretty-printed frame is many lines", "{\n}\n" + ping + "\n", []string{"syntax ", "syntax ", "request 1"}},
		{"too large, id first", `{"id":7,"x":"` + long + `"}` + "\n" + ping + "\n", []string{"size 7", "request 1"}},
		{"too large, id last", `{"result":{"id":9,"x":["` + long + `"]},"jsonrpc":"2.0","id":"a,}\""}` + "\n" + ping + "\n", []string{`size "a,}\""`, "request 1"}},
		{"too large, id twice", `{"id":7,"x":"` + long + `","id":8}` + "\n" + ping + "\n", []string{"size ", "request 1"}},
		{"too large, id in two cases", `{"id":7,"x":"` + long + `","ID":8}` + "\n", []string{"size "}},
		{"too large, id by escape", `{"x":"` + long + `","\u0069d":8}` + "\n", []string{"size 8"}},
		{"too large, id is no id", `{"x":"` + long + `","id":{"a":1}}` + "\n", []string{"size "}},
		{"too large, id is null", `{"x":"` + long + `","id":null}` + "\n", []string{"size "}},
		{"too large, id only below", `{"x":{"id":3,"y":"` + long + `"}}` + "\n", []string{"size "}},
		{"too large, batch", `[{"id":3,"y":"` + long + `"}]` + "\n", []string{"size "}},
		{"too large, two values", `{"id":3,"y":"` + long + `"}{}` + "\n", []string{"size "}},
		{"too large and cut off", `{"id":3,"y":"` + long, []string{"size "}},
		{"too large, id inside a string", `{"y":"\",\"id\":3,` + long + `"}` + "\n", []string{"size "}},
		{"too large garbage", long + "\n" + ping + "\n", []string{"size ", "request 1"}},
	} {
		for _, mode := range []struct {
			name string
			wrap func(io.Reader) io.Reader
		}{{"whole", func(r io.Reader) io.Reader { return r }}, {"byte by byte", iotest.OneByteReader}} {
			t.Run(tt.name+"/"+mode.name, func(t *testing.T) {
				t.Parallel()
				got, end := transcript(mode.wrap(strings.NewReader(tt.stream)), wire.Limits{MaxFrame: 120})
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if end != io.EOF {
					t.Errorf("end = %v, want EOF", end)
				}
			})
		}
	}
}

func TestReaderPassesStreamErrorsOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	in := wire.NewReader(io.MultiReader(strings.NewReader(ping+"\n"+ping), iotest.ErrReader(broken)), wire.Limits{})
	if _, err := in.Read(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if m, err := in.Read(); !errors.Is(err, broken) {
			t.Errorf("Read = %v, %v, want the error of the stream, again and again", m, err)
		}
	}
}

// endless is a stream of n equal bytes that never holds a newline.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= n
	return n, nil
}

// G36: a limit that is applied after all was buffered bounds nothing.
func TestG36LimitHoldsWhileReading(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	stream := io.MultiReader(&endless{left: 48 << 20}, strings.NewReader("\n"+ping+"\n"))
	got, _ := transcript(stream, wire.Limits{MaxFrame: 1 << 20})
	runtime.ReadMemStats(&after)
	if diff := cmp.Diff([]string{"size ", "request 1"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("%d bytes were allocated for a frame that is refused at 1 MiB", used)
	}
}

// G21: an upstream that logs to its standard output loses lines, not the
// session.
func TestG21UndecodableLineKeepsTheStream(t *testing.T) {
	t.Parallel()
	got, end := transcript(strings.NewReader("starting up...\n"+ping+"\n\xff\xfe\n"+ping+"\n"), wire.Limits{})
	if diff := cmp.Diff([]string{"syntax ", "request 1", "utf8 ", "request 1"}, got); diff != "" || end != io.EOF {
		t.Errorf("end %v (-want +got):\n%s", end, diff)
	}
}

// chunks records each Write.
type chunks struct {
	list []string
	fail error
	take int
}

func (c *chunks) Write(p []byte) (int, error) {
	if c.fail != nil {
		return c.take, c.fail
	}
	c.list = append(c.list, string(p))
	return len(p), nil
}

func TestWriterIsOneWriteAndOneLinePerFrame(t *testing.T) {
	t.Parallel()
	out := &chunks{}
	w := wire.NewWriter(out)
	const workers, each = 8, 50
	var done sync.WaitGroup
	for i := range workers {
		done.Go(func() {
			for j := range each {
				m := parse(t, fmt.Sprintf("{\n\t\"jsonrpc\": \"2.0\",\r\n\t\"id\": %d,\n\t\"method\": \"a\\nb\"\n}\n", i*each+j))
				if err := w.Write(m); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	seen := make(map[string]bool)
	for _, line := range out.list {
		if strings.Count(line, "\n") != 1 || strings.Contains(line, "\r") || !strings.HasSuffix(line, "\n") {
			t.Fatalf("not one line: %q", line)
		}
		m := parse(t, line)
		if want := fmt.Sprintf("{\t\"jsonrpc\": \"2.0\",\t\"id\": %s,\t\"method\": \"a\\nb\"}\n", m.ID().Raw()); line != want {
			t.Fatalf("line = %q, want %q", line, want)
		}
		seen[m.ID().Key()] = true
	}
	if len(seen) != workers*each {
		t.Errorf("%d frames were written, want %d", len(seen), workers*each)
	}
}

func TestWriterTellsHowMuchLeft(t *testing.T) {
	t.Parallel()
	for _, taken := range []int{0, 5} {
		out := &chunks{fail: io.ErrClosedPipe, take: taken}
		w := wire.NewWriter(out)
		err := w.Write(parse(t, ping))
		var fault *wire.WriteError
		if !errors.As(err, &fault) || fault.Written != taken || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Write = %v, want %d bytes written", err, taken)
		}
		out.fail = nil
		if err := w.Write(parse(t, ping)); !errors.As(err, &fault) || fault.Written != 0 || len(out.list) != 0 {
			t.Errorf("a frame followed half a frame: %v", err)
		}
	}
	short := wire.NewWriter(shortWriter{})
	if err := short.Write(parse(t, ping)); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("Write = %v, want a short write", err)
	}
}

type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) - 1, nil }

func TestWriterDropsItsLargeBuffer(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := wire.NewWriter(&out)
	large := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", 1<<20) + `"}`
	for range 2 {
		if err := w.Write(parse(t, large)); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != large+"\n"+large+"\n" {
		t.Error("large frames were changed")
	}
}
