package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Reader reads newline-delimited frames (the MCP stdio transport). It is for
// one goroutine.
type Reader struct {
	in     *bufio.Reader
	limits Limits
	ended  error
	begun  []byte  // of a line whose reading was interrupted
	large  *finder // of a frame that is being thrown away
}

// readAhead is how much is read at once, in bytes. Most frames are smaller, and
// each stream of a gateway has a buffer of this size for as long as it lives.
const readAhead = 16 << 10

// NewReader returns a Reader of r.
func NewReader(r io.Reader, limits Limits) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, readAhead), limits: limits}
}

// Read returns the next message. Blank lines are passed over. An [*Error] is
// about one frame: it was consumed up to its newline, and Read may be called
// again. Memory is bounded by the limit while reading; the rest of a frame
// that is too large is thrown away as it arrives.
//
// [os.ErrDeadlineExceeded] loses nothing: Read may be called again. Any other
// error is about the stream and final: [io.EOF] at its end. A last
// frame without a newline is delivered if it is whole; if it is not, an
// [*Error] with [RuleTruncated] comes before io.EOF.
func (r *Reader) Read() (*Message, error) {
	for {
		frame, err := r.line()
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(frame)) == 0 {
			continue
		}
		m, err := Parse(frame, r.limits)
		var fault *Error
		if r.ended != nil && errors.As(err, &fault) && fault.Rule == RuleSyntax && fault.Offset == len(frame) {
			return nil, answerable(refuse(CodeParse, RuleTruncated, "", len(frame)))
		}
		return m, err
	}
}

// line returns the next line without its line end.
func (r *Reader) line() ([]byte, error) {
	if r.ended != nil {
		return nil, r.ended
	}
	if r.large != nil {
		return nil, r.skip(nil, bufio.ErrBufferFull)
	}
	line := r.begun
	r.begun = nil
	for {
		piece, err := r.in.ReadSlice('\n')
		if len(line)+len(piece) > r.limits.frame()+len("\r\n") {
			r.large = &finder{}
			r.large.feed(line)
			return nil, r.skip(piece, err)
		}
		line = append(line, piece...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == nil {
			return trimEnd(line), nil
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			r.begun = line
			return nil, err
		}
		r.ended = err
		if errors.Is(err, io.EOF) && len(line) > 0 {
			return line, nil
		}
		return nil, err
	}
}

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}

// skip throws the rest of a large frame away and reports it with its id.
func (r *Reader) skip(piece []byte, err error) error {
	r.large.feed(piece)
	for errors.Is(err, bufio.ErrBufferFull) {
		piece, err = r.in.ReadSlice('\n')
		r.large.feed(piece)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	f := r.large
	r.large, r.ended = nil, err
	return f.refusal(RuleSize)
}

// Buffered is how many bytes have come that no Read has returned yet.
func (r *Reader) Buffered() int { return r.in.Buffered() }

// Writer writes newline-delimited frames. It is safe for concurrent use: each
// message is one Write to the stream.
type Writer struct {
	mu  sync.Mutex
	out lineWriter
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{out: lineWriter{out: w}} }

// Write writes one frame and its newline. Raw newlines, which can stand only
// between tokens, are left out; no other byte is changed. It fails with a
// [*WriteError].
func (w *Writer) Write(m *Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.write("", m.frame, "")
}

// WriteError says that a frame did not leave whole. After it the stream holds
// half a frame or is closed, so every later Write fails as well.
type WriteError struct {
	// Written is how many bytes of this frame were handed to the stream. Only
	// 0 proves that the receiver has nothing of it.
	Written int
	Err     error
}

// Error says how much was written.
func (e *WriteError) Error() string {
	return fmt.Sprintf("wire: frame not written, %d bytes left: %v", e.Written, e.Err)
}

// Unwrap returns the error of the stream.
func (e *WriteError) Unwrap() error { return e.Err }

// lineWriter writes frames as lines, each in one Write.
type lineWriter struct {
	out    io.Writer
	buf    []byte
	broken error
}

// maxKept is the largest buffer that is kept between frames.
const maxKept = 64 << 10

func (w *lineWriter) write(before string, frame []byte, after string) error {
	if w.broken != nil {
		return &WriteError{Err: w.broken}
	}
	w.buf = appendLine(append(w.buf[:0], before...), frame)
	w.buf = append(w.buf, after...)
	n, err := w.out.Write(w.buf)
	if err == nil && n < len(w.buf) {
		err = io.ErrShortWrite
	}
	if cap(w.buf) > maxKept {
		w.buf = nil
	}
	if err != nil {
		w.broken = err
		return &WriteError{Written: n, Err: err}
	}
	return nil
}

// appendLine appends the frame as one line. Strings hold no raw control
// characters (RFC 8259 §7), so what is left out is white space.
func appendLine(dst, frame []byte) []byte {
	if bytes.IndexByte(frame, '\n') < 0 && bytes.IndexByte(frame, '\r') < 0 {
		return append(append(dst, frame...), '\n')
	}
	for {
		i := bytes.IndexAny(frame, "\r\n")
		if i < 0 {
			return append(append(dst, frame...), '\n')
		}
		dst = append(dst, frame[:i]...)
		frame = frame[i+1:]
	}
}
