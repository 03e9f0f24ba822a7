package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// events reads a stream to its end, one word an event or refusal.
func events(t *testing.T, r io.Reader, limits wire.Limits) (words []string) {
	t.Helper()
	in := wire.NewEventReader(r, limits)
	for {
		e, err := in.Read()
		var fault *wire.Error
		switch {
		case err == nil && e.Message != nil:
			words = append(words, fmt.Sprintf("%s %s %s", e.Type, e.ID, e.Message.Bytes()))
		case err == nil:
			words = append(words, fmt.Sprintf("%s %s (%s)", e.Type, e.ID, e.Data))
		case errors.As(err, &fault):
			words = append(words, string(fault.Rule))
		case err == io.EOF:
			return words
		default:
			t.Fatal(err)
		}
	}
}

func TestEventReader(t *testing.T) {
	t.Parallel()
	split := strings.Replace(ping, ",", ",\n", 1)
	long := strings.Repeat("x", 200)
	for _, tt := range []struct {
		name, stream string
		want         []string
	}{
		{"nothing", "", nil},
		{"one event", "data: " + ping + "\n\n", []string{"message  " + ping}},
		{"no space after the colon", "data:" + ping + "\n\n", []string{"message  " + ping}},
		{"type and id", "event: message\nid: 7\ndata: " + ping + "\n\n", []string{"message 7 " + ping}},
		{"an id is not carried over", "id: 7\ndata: " + ping + "\n\ndata: " + ping + "\n\n", []string{"message 7 " + ping, "message  " + ping}},
		{"carriage returns", "data: " + ping + "\r\rdata: " + ping + "\r\n\r\n", []string{"message  " + ping, "message  " + ping}},
		{"two data lines", "data: " + strings.Replace(split, "\n", "\ndata: ", 1) + "\n\n", []string{"message  " + split}},
		{"comments, unknown fields, keep-alives", ":\n\n: hi\nretry: 5\nx\ndata: " + ping + "\n\n:\n\n", []string{"message  " + ping}},
		{"byte order mark", "\ufeffdata: " + ping + "\n\n", []string{"message  " + ping}},
		{"another type is no message", "event: endpoint\ndata: /x?y\n\n", []string{"endpoint  (/x?y)"}},
		{"a type without data is no event", "event: endpoint\n\ndata: " + ping + "\n\n", []string{"message  " + ping}},
		{"cut off", "data: " + ping + "\n\ndata: " + ping + "\n", []string{"message  " + ping}},
		{"not JSON", "data: oops\n\ndata: " + ping + "\n\n", []string{"syntax", "message  " + ping}},
		{"empty data, for the id alone", "id: 4\ndata\n\ndata: " + ping + "\n\n", []string{"message 4 ()", "message  " + ping}},
		{"too large", "data: \"" + long + "\"\n\ndata: " + ping + "\n\n", []string{"size", "message  " + ping}},
		{"too large in pieces", strings.Repeat("data: \""+long[:100]+"\"\n", 3) + "\ndata: " + ping + "\n\n", []string{"size", "message  " + ping}},
		{"too large a comment", ": " + long + "\ndata: " + ping + "\n\ndata: " + ping + "\n\n", []string{"size", "message  " + ping}},
	} {
		for _, mode := range []struct {
			name string
			wrap func(io.Reader) io.Reader
		}{{"whole", func(r io.Reader) io.Reader { return r }}, {"byte by byte", iotest.OneByteReader}} {
			t.Run(tt.name+"/"+mode.name, func(t *testing.T) {
				t.Parallel()
				got := events(t, mode.wrap(strings.NewReader(tt.stream)), wire.Limits{MaxFrame: 120})
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestEventWriterIsReadBack(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := wire.NewEventWriter(&out)
	m := parse(t, "{\"jsonrpc\":\"2.0\",\r\n\"id\":1, \"result\":{\"a\":\"\\n\"}}")
	if err := errors.Join(w.KeepAlive(), w.Write(m), w.KeepAlive(), w.Write(m)); err != nil {
		t.Fatal(err)
	}
	line := `{"jsonrpc":"2.0","id":1, "result":{"a":"\n"}}`
	if want := strings.Repeat(":\n\ndata: "+line+"\n\n", 2); out.String() != want {
		t.Errorf("stream = %q, want %q", out.String(), want)
	}
	if diff := cmp.Diff([]string{"message  " + line, "message  " + line}, events(t, &out, wire.Limits{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var fault *wire.WriteError
	if err := wire.NewEventWriter(&chunks{fail: io.ErrClosedPipe, take: 3}).Write(m); !errors.As(err, &fault) || fault.Written != 3 {
		t.Errorf("Write = %v", err)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: " + ping + "\n\n"))
	f.Add([]byte("event: x\r\rid:1\ndata\ndata: {}\r\n\r\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		in := wire.NewEventReader(bytes.NewReader(stream), wire.Limits{MaxFrame: 200})
		for range len(stream) + 1 {
			e, err := in.Read()
			var fault *wire.Error
			if err == io.EOF {
				return
			}
			if err != nil && !errors.As(err, &fault) {
				t.Fatal(err)
			}
			if err == nil && (len(e.Data) > 201 || e.Message != nil && !bytes.Equal(e.Message.Bytes(), e.Data)) {
				t.Fatalf("event = %+v", e)
			}
		}
		t.Fatal("more events than bytes")
	})
}
