package wire

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"sync"
	"time"
)

// Event is one server-sent event (the stream of the Streamable HTTP
// transport, and of HTTP+SSE before it).
type Event struct {
	Type string // "message" where the stream names none
	ID   string // "" if the event has none; streams before 2026-07-28 could be resumed by it
	// Message is the message that the event carries; nil for types other than
	// "message", such as "endpoint" in revision 2024-11-05, and for an event
	// with empty data, which is there for its id.
	Message *Message
	// Data is the data as it was sent, its lines joined with a newline.
	Data []byte
}

// EventReader reads server-sent events (WHATWG HTML §9.2.6). It is for one
// goroutine.
type EventReader struct {
	in      *bufio.Reader
	limits  Limits
	started bool
	afterCR bool // the last line ended with a carriage return
	line    []byte
	event   Event
	hasData bool
	over    bool // the event is too large
	lastID  string
	retry   time.Duration
}

// LastID is the id of the last event that had one, for a server that takes a
// stream up again where it broke (revisions before 2026-07-28).
func (r *EventReader) LastID() string { return r.lastID }

// Retry is how long the server wants a reader to wait before that; 0 where it
// has not said.
func (r *EventReader) Retry() time.Duration { return r.retry }

// NewEventReader returns an EventReader of r.
func NewEventReader(r io.Reader, limits Limits) *EventReader {
	return &EventReader{in: bufio.NewReaderSize(r, 64<<10), limits: limits}
}

// Read returns the next event that carries data. An [*Error] is about one
// event, which was consumed, and Read may be called again; any other error is
// about the stream and final: [io.EOF] at its end. An event that the end cuts
// off is not delivered. The refusal of an event that is too large names no id:
// a stream belongs to one request. Memory is bounded by the limit while reading.
func (r *EventReader) Read() (Event, error) {
	for {
		if err := r.readLine(); err != nil {
			return Event{}, err
		}
		if len(r.line) > 0 {
			r.field()
			continue
		}
		event, hasData, over := r.event, r.hasData, r.over
		r.event, r.hasData, r.over = Event{}, false, false
		if over {
			return Event{}, refuse(CodeInvalidRequest, RuleSize, "", -1)
		}
		if hasData {
			return event.parsed(r.limits)
		}
	}
}

func (e Event) parsed(limits Limits) (Event, error) {
	if e.Type == "" {
		e.Type = "message"
	}
	if e.Type != "message" || len(e.Data) == 0 { // an event may be there for its id alone
		return e, nil
	}
	m, err := Parse(e.Data, limits)
	if err != nil {
		return Event{}, err
	}
	e.Message = m
	return e, nil
}

// readLine reads one line; it ends with a newline, a carriage return or both.
// Of a line that is too large only the beginning is kept.
func (r *EventReader) readLine() error {
	if !r.started {
		r.started = true
		if mark, err := r.in.Peek(len(byteOrderMark)); err == nil && string(mark) == byteOrderMark {
			_, _ = r.in.Discard(len(mark)) // cannot fail: peeked
		}
	}
	r.line = r.line[:0]
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		if c == '\n' && r.afterCR {
			r.afterCR = false
			continue
		}
		r.afterCR = c == '\r'
		switch {
		case c == '\n' || c == '\r':
			return nil
		case len(r.line) < r.limits.frame()+len("data: "):
			r.line = append(r.line, c)
		default:
			r.over = true
		}
	}
}

const byteOrderMark = "\ufeff"

// field takes one line into the event. Comments and unknown fields are
// dropped.
func (r *EventReader) field() {
	name, value, _ := bytes.Cut(r.line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		r.over = r.over || len(r.event.Data)+len(value) > r.limits.frame()
		if r.over {
			r.event.Data = nil
			return
		}
		if r.hasData {
			r.event.Data = append(r.event.Data, '\n')
		}
		r.event.Data = append(r.event.Data, value...)
		r.hasData = true
	case "event":
		r.event.Type = string(value)
	case "id":
		r.event.ID = string(value)
		r.lastID = r.event.ID
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			r.retry = time.Duration(ms) * time.Millisecond
		}
	}
}

// EventWriter writes messages as server-sent events. It is safe for
// concurrent use: each event is one Write to the stream.
type EventWriter struct {
	mu  sync.Mutex
	out lineWriter
}

// NewEventWriter returns an EventWriter to w. The caller flushes w after each
// message where it has to be flushed.
func NewEventWriter(w io.Writer) *EventWriter { return &EventWriter{out: lineWriter{out: w}} }

// Write writes one message as an event without type and id. It changes bytes
// as [Writer.Write] does, and fails with a [*WriteError].
func (w *EventWriter) Write(m *Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.write("data: ", m.frame, "\n")
}

// KeepAlive writes a comment, which readers pass over.
func (w *EventWriter) KeepAlive() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.write(":", nil, "\n")
}
