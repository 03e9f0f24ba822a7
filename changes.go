package verbatim

import "sync"

// changes wakes calls of this process that wait for one action. It is only a
// hint: the store is the truth.
type changes struct {
	mu    sync.Mutex
	waits map[string]chan struct{}
}

func newChanges() *changes { return &changes{waits: map[string]chan struct{}{}} }

// watch returns a channel that is closed at the next change of the action.
func (c *changes) watch(id string) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch, ok := c.waits[id]
	if !ok {
		ch = make(chan struct{})
		c.waits[id] = ch
	}
	return ch
}

// tell wakes whoever watches the action.
func (c *changes) tell(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch, ok := c.waits[id]; ok {
		close(ch)
		delete(c.waits, id)
	}
}
