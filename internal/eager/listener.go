package eager

import (
	"net"
	"sync/atomic"
	"time"
)

// Listener gives connections of an HTTP/1.1 server that look for the next
// request of a client that has been quick, while no other request is under way.
type Listener struct {
	net.Listener
	busy atomic.Int64 // requests under way
}

// Listen wraps a listener.
func Listen(l net.Listener) *Listener { return &Listener{Listener: l} }

// Accept waits for a connection.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	in := NewReader(c)
	if in == nil {
		return c, nil
	}
	return &conn{Conn: c, in: in, of: l}, nil
}

// conn is one connection. Whoever serves it reads by one goroutine at a time.
type conn struct {
	net.Conn
	in      *Reader
	pace    Pace
	of      *Listener
	serving atomic.Bool // it has brought something that is being answered
}

// Read reads what the client sends. A read of one byte only asks whether the
// client is still there (net/http does so while it answers): the answer comes
// when it comes.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) < 2 {
		return c.Conn.Read(p)
	}
	c.rest()
	c.in.Look(c.pace.Quick() && c.of.busy.Load() == 0)
	begun := time.Now()
	n, err := c.in.Read(p)
	c.in.Look(false)
	c.pace.Took(time.Since(begun))
	if n > 0 && !c.serving.Swap(true) {
		c.of.busy.Add(1)
	}
	return n, err
}

// rest notes that nothing of this connection is being answered.
func (c *conn) rest() {
	if c.serving.Swap(false) {
		c.of.busy.Add(-1)
	}
}

// Close ends the connection.
func (c *conn) Close() error {
	c.rest()
	return c.Conn.Close()
}

// CloseWrite ends what the server says. A server does that before it closes a
// connection of which it has not read all, or its last words are lost.
func (c *conn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return nil
	}
	return half.CloseWrite()
}
