package snapshot

import "sync"

// buffer is memory to write a text in before it is copied or hashed.
type buffer struct {
	text []byte
}

// maxKept is the size beyond which a buffer is left to the collector: one
// large call must not hold memory for good.
const maxKept = 64 << 10

var buffers = sync.Pool{New: func() any { return &buffer{text: make([]byte, 0, 1<<10)} }}

// borrow returns an empty buffer that is the caller's until it is given back.
func borrow() *buffer { return buffers.Get().(*buffer) }

func (b *buffer) giveBack() {
	if cap(b.text) > maxKept {
		return
	}
	b.text = b.text[:0]
	buffers.Put(b)
}
