package client

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

// maxEvent is the largest event in bytes.
const maxEvent = 1 << 20

var errEventSize = errors.New("an event is too large")

// event is one server-sent event.
type event struct {
	id, name, data string
}

// events reads a stream of them (WHATWG HTML §9.2.6), without the byte order
// mark that no gateway sends.
type events struct {
	r    *bufio.Reader
	last string // id of the last event that had one
}

func newEvents(r io.Reader) *events { return &events{r: bufio.NewReaderSize(r, 4096)} }

// next returns the next event that has data; io.EOF at the end of the stream,
// where an event that is not complete counts for nothing.
func (s *events) next() (event, error) {
	var e event
	var data []string
	size := 0
	for {
		line, err := s.line()
		if err != nil {
			return event{}, err
		}
		if size += len(line) + 1; size > maxEvent {
			return event{}, errEventSize
		}
		if line == "" {
			if data == nil {
				e, size = event{}, 0
				continue
			}
			e.id, e.data = s.last, strings.Join(data, "\n")
			return e, nil
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			e.name = value
		case "data":
			data = append(data, value)
		case "id":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > 0 {
				s.last = value
			}
		}
	}
}

// line reads up to a line end: CR, LF or both.
func (s *events) line() (string, error) {
	var line []byte
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			return "", err
		}
		switch c {
		case '\n':
			return string(line), nil
		case '\r':
			if next, err := s.r.Peek(1); err == nil && next[0] == '\n' {
				_, _ = s.r.Discard(1)
			}
			return string(line), nil
		}
		if line = append(line, c); len(line) > maxEvent {
			return "", errEventSize
		}
	}
}
