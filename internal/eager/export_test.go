package eager

import "io"

// Looking returns what reads a stream and looks for something before the
// first read, and whether that found it; nil where it cannot look.
func Looking(in io.Reader) (read func([]byte) (int, error), found func([]byte) int) {
	e := NewReader(in)
	if e == nil {
		return nil, nil
	}
	e.Look(true)
	return e.Read, e.found
}
