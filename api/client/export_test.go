package client

import "io"

// Splice is splice.
func Splice(text []byte, path ...string) (rest, raw []byte, found bool) { return splice(text, path...) }

// Events reads all events of a stream, as name, id and data.
func Events(r io.Reader) (out [][3]string, err error) {
	s := newEvents(r)
	for {
		e, err := s.next()
		if err != nil {
			return out, err
		}
		out = append(out, [3]string{e.name, e.id, e.data})
	}
}
