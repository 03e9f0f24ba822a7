package daemon

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// maxNotes is how many bytes of notes are kept for a client that does not
// read them; the oldest go first.
const maxNotes = 64 << 10

// Notes is text for the people at the client's end: what the server wrote to
// its standard error, and what the daemon has to say. It never mixes with
// frames. It is safe for concurrent use and never blocks the writer.
type Notes struct {
	mu     sync.Mutex
	text   []byte
	more   chan struct{} // closed when text comes or the notes end
	closed bool
}

// NewNotes returns empty notes.
func NewNotes() *Notes { return &Notes{more: make(chan struct{})} }

// Write adds text.
func (n *Notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return len(p), nil
	}
	n.text = append(n.text, p...)
	if over := len(n.text) - maxNotes; over > 0 {
		n.text = append(n.text[:0], n.text[over:]...)
	}
	n.wake()
	return len(p), nil
}

// Say adds one line of the daemon's own.
func (n *Notes) Say(format string, args ...any) {
	fmt.Fprintf(n, "verbatim: "+format+"\n", args...)
}

// Close ends the notes; what was written can still be read.
func (n *Notes) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.closed {
		n.closed = true
		n.wake()
	}
}

func (n *Notes) wake() {
	close(n.more)
	n.more = make(chan struct{})
}

// copyTo writes the notes to w as they come, until they end or ctx does.
func (n *Notes) copyTo(ctx context.Context, w io.Writer) error {
	for {
		n.mu.Lock()
		text, closed, more := n.text, n.closed, n.more
		n.text = nil
		n.mu.Unlock()
		if len(text) > 0 {
			if _, err := w.Write(text); err != nil {
				return err
			}
			continue
		}
		if closed {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
