package sqlite

import (
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
)

// copier copies the WAL into the database on a connection of its own, beside
// the commits. What it does not copy stays in the WAL, and the writer copies
// it before it writes that from the start.
type copier struct {
	due    chan struct{} // has room for one
	done   chan struct{}
	copied atomic.Bool // since the writer has looked
}

func (c *copier) start(s *Store) {
	c.due, c.done = make(chan struct{}, 1), make(chan struct{})
	go c.loop(s)
}

// tell has the WAL copied, unless it is being copied.
func (c *copier) tell() {
	select {
	case c.due <- struct{}{}:
	default:
	}
}

func (c *copier) loop(s *Store) {
	defer close(c.done)
	var own *conn
	for range c.due {
		if own == nil {
			own = s.copying()
		}
		if own != nil {
			_, _, err := own.db.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE) // what fails stays in the WAL
			c.copied.Store(err == nil)
		}
	}
	if own != nil {
		_ = own.close() // the writing connection is there still, and closes the WAL
	}
}

// copying opens a connection that knows the WAL: one that has never read sees
// nothing to copy.
func (s *Store) copying() *conn {
	c, err := s.connect(s.opt.VFS)
	if err != nil {
		return nil
	}
	if err := c.db.Exec("PRAGMA schema_version"); err != nil {
		_ = c.close()
		return nil
	}
	return c
}

// stop returns when nothing is copied any more. Nobody writes by then.
func (c *copier) stop() {
	if c.due != nil {
		close(c.due)
		<-c.done
	}
}
