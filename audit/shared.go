package audit

import (
	"bytes"
	"encoding/binary"

	"github.com/seed-de4804fb/verbatim/canon"
)

// What is shared at most: the texts of one row, and their bytes.
const (
	maxShared      = 32
	maxSharedBytes = 4 << 10
	minShared      = 3 // what is no longer than a reference stays where it is
)

// Words are values that records which are kept together share: each is kept
// once, beside the forms that refer to it. They are of one row, from Empty to
// Bytes, and written by one goroutine.
type Words struct {
	all  []byte // each as it would stand in a form
	ends []int
}

// Bytes are the words as they are kept; nil where there are none. They are good
// until the next one is added.
func (w *Words) Bytes() []byte {
	if len(w.ends) == 0 {
		return nil
	}
	return w.all
}

// Empty forgets all words. The memory is kept.
func (w *Words) Empty() { w.all, w.ends = w.all[:0], w.ends[:0] }

// place is that of a value among the words, which it joins while there is room.
func (w *Words) place(value []byte) (place byte, ok bool) {
	from := 0
	for i, to := range w.ends {
		if bytes.Equal(w.all[from:to], value) {
			return byte(i), true
		}
		from = to
	}
	if len(w.ends) == maxShared || len(w.all)+len(value) > maxSharedBytes {
		return 0, false
	}
	w.all = append(w.all, value...)
	w.ends = append(w.ends, len(w.all))
	return byte(len(w.ends) - 1), true
}

// shares says of which members the value is one that other records of the same
// moment have too, by their places among the names.
var shares = func() (out [wordRoom]bool) {
	for _, name := range []string{"agent", "at", "by", "tenant", "tool", "policyVersion", "leaseUntil", "definition", "owner", "model",
		"task", "grant", "resolvers", "rules"} {
		place, _ := names.find(name)
		out[place] = true
	}
	return out
}()

// share puts a reference in the place of a value that begins at from, if its
// member is one that is shared.
func (w *leafWriter) share(name, from int) {
	if w.words == nil || w.short == nil || w.long || !shares[name] || len(w.short)-from < minShared {
		return
	}
	if place, ok := w.words.place(w.short[from:]); ok {
		w.short = append(w.short[:from], valueShared, place)
	}
}

// wordAt is the word at a place, as it would stand in a form.
func wordAt(words []byte, place int) (value []byte, ok bool) {
	for ; ; place-- {
		n := sizeOf(words)
		if n <= 0 || n > len(words) {
			return nil, false
		}
		if place == 0 {
			return words[:n], true
		}
		words = words[n:]
	}
}

// sizeOf is how long a value is that stands in front; 0 where there is none,
// or one that cannot be shared.
func sizeOf(b []byte) int {
	switch {
	case len(b) == 0:
		return 0
	case b[0] < valueLong:
		return 1 + int(b[0])
	case b[0] == valueLong && len(b) >= 3:
		return 3 + int(binary.BigEndian.Uint16(b[1:]))
	case b[0] == valueDigest:
		return 1 + len(canon.Digest{})
	case b[0] == valueMoment:
		return 1 + 8
	default:
		return 0
	}
}
