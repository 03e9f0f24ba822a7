package remote

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/eager"
)

// near sends small requests to a server on this machine over HTTP/1.1 without
// encryption, on the caller's own goroutine. Package http's Transport has two
// more for each connection, and waking them takes as long as such a server
// takes to answer. Messages are written and read by package http all the same.
//
// Nothing is sent twice: a connection that the server has closed is found
// before it is used, and what breaks later is an error.
type near struct {
	address string
	dialer  net.Dialer

	under atomic.Int64 // requests under way

	mu     sync.Mutex
	idle   []*nearConn // the one that was used last is the last
	swept  bool        // somebody will look after them
	closed bool
}

// The limits of near, which are those of the Transport where it has them.
const (
	// nearRequest is the largest body that is sent this way, in bytes: a socket
	// of this machine takes as much without a reader, so that a server that
	// answers without reading keeps nobody from its answer.
	nearRequest = 16 << 10
	maxHeaders  = 64 << 10
	maxIdle     = 64
	idleTime    = 90 * time.Second
	sweepEvery  = 15 * time.Second
	maxInterim  = 5 // answers of the kind 1xx before the real one
	nearRoom    = 4 << 10
)

var (
	errHeaders = errors.New("the server's headers are larger than the limit")
	errInterim = errors.New("the server does not come to its answer")
	errSecond  = errors.New("the server switches to another protocol")
	errLate    = errors.New("its time was over before it could leave")
	errValue   = errors.New("a header cannot be sent as it is")
)

// nearConn is one connection. It has one request at a time.
type nearConn struct {
	net.Conn
	in    *bufio.Reader
	out   *bufio.Writer
	eager *eager.Reader // nil where nothing can be looked for
	pace  eager.Pace
	room  int64 // how much may still be read of headers
	wrote bool  // something of the request has left
	since time.Time
}

// Read reads what the server sends, as far as headers may go.
func (c *nearConn) Read(p []byte) (n int, err error) {
	if c.room <= 0 {
		return 0, errHeaders
	}
	p = p[:min(int64(len(p)), c.room)]
	if c.eager != nil {
		n, err = c.eager.Read(p)
	} else {
		n, err = c.Conn.Read(p)
	}
	c.room -= int64(n)
	return n, err
}

// Write notes that something has left.
func (c *nearConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.wrote = c.wrote || n > 0
	return n, err
}

func (n *near) dial(ctx context.Context) (*nearConn, error) {
	raw, err := n.dialer.DialContext(ctx, "tcp", n.address)
	if err != nil {
		return nil, err
	}
	c := &nearConn{Conn: raw, eager: eager.NewReader(raw)}
	c.in, c.out = bufio.NewReaderSize(c, nearRoom), bufio.NewWriterSize(c, nearRoom)
	return c, nil
}

// take returns a connection that is as good as new.
func (n *near) take(ctx context.Context) (*nearConn, error) {
	for {
		n.mu.Lock()
		last := len(n.idle) - 1
		if last < 0 {
			n.mu.Unlock()
			return n.dial(ctx)
		}
		c := n.idle[last]
		n.idle[last], n.idle = nil, n.idle[:last]
		n.mu.Unlock()
		if time.Since(c.since) < idleTime && silent(c.Conn) {
			return c, nil
		}
		c.Close()
	}
}

// give takes a connection back that a request has left clean.
func (n *near) give(c *nearConn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c.since = time.Now()
	if n.closed || len(n.idle) >= maxIdle {
		c.Close()
		return
	}
	n.idle = append(n.idle, c)
	if !n.swept {
		n.swept = true
		time.AfterFunc(sweepEvery, n.sweep)
	}
}

// sweep closes what was not used for long, or was closed by the server, and
// comes again while something is left.
func (n *near) sweep() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.idle = slices.DeleteFunc(n.idle, func(c *nearConn) bool {
		if time.Since(c.since) < idleTime && silent(c.Conn) {
			return false
		}
		c.Close()
		return true
	})
	if n.swept = len(n.idle) > 0; n.swept {
		time.AfterFunc(sweepEvery, n.sweep)
	}
}

// close ends what waits for a request, now and later.
func (n *near) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.idle {
		c.Close()
	}
	n.idle, n.closed = nil, true
}

// send makes one request and returns the answer, whose body must be closed.
// sent says whether the server may have something of the request.
func (n *near) send(request *http.Request, leaving leave) (response *http.Response, sent bool, err error) {
	if !writable(request.Header) {
		return nil, false, errValue
	}
	ctx := request.Context()
	c, err := n.take(ctx)
	if err != nil {
		return nil, false, err
	}
	if leaving.late() { // connecting took too long
		n.give(c)
		return nil, false, errLate
	}
	n.under.Add(1)
	c.wrote = false
	if _, bounded := ctx.Deadline(); !bounded { // else its end is soon enough, and costs no second timer
		if err = c.SetDeadline(time.Now().Add(headerTime)); err != nil {
			n.drop(c, func() bool { return true })
			return nil, false, bare(err)
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	if err = request.Write(c.out); err == nil {
		err = c.out.Flush()
	}
	if err != nil {
		n.drop(c, stop)
		return nil, c.wrote, bare(err)
	}
	if leaving.left != nil {
		leaving.left()
	}
	if response, err = n.read(ctx, c, request); err != nil {
		n.drop(c, stop)
		return nil, true, bare(err)
	}
	response.Body = &nearBody{in: response.Body, of: n, conn: c, stop: stop, once: response.Close}
	return response, true, nil
}

// read reads the head of the answer.
func (n *near) read(ctx context.Context, c *nearConn, request *http.Request) (*http.Response, error) {
	c.room = maxHeaders
	defer func() { c.room = math.MaxInt64 }()
	if c.eager != nil {
		c.eager.Look(c.pace.Quick() && n.under.Load() == 1)
		defer c.eager.Look(false)
	}
	begun := time.Now()
	for range maxInterim + 1 {
		response, err := http.ReadResponse(c.in, request)
		switch {
		case err != nil:
			return nil, err
		case response.StatusCode == http.StatusSwitchingProtocols:
			return nil, errSecond
		case response.StatusCode >= 200:
			c.pace.Took(time.Since(begun))
			if err := c.patient(ctx); err != nil {
				return nil, err
			}
			return response, nil
		}
	}
	return nil, errInterim
}

// patient ends the time for the headers. The body may take as long as its
// request.
func (c *nearConn) patient(ctx context.Context) error {
	if _, bounded := ctx.Deadline(); bounded {
		return nil
	}
	err := c.SetDeadline(time.Time{})
	if err == nil { // the end of the context could have come first
		err = ctx.Err()
	}
	return err
}

// drop ends a connection that cannot be used again.
func (n *near) drop(c *nearConn, stop func() bool) {
	stop()
	c.Close()
	n.under.Add(-1)
}

// nearBody is the body of an answer. Read to its end, it gives its connection
// back.
type nearBody struct {
	in   io.Reader
	of   *near
	conn *nearConn
	stop func() bool
	once bool // the server closes the connection
	done bool
}

func (b *nearBody) Read(p []byte) (int, error) {
	if b.done {
		return 0, io.EOF
	}
	n, err := b.in.Read(p)
	if errors.Is(err, io.EOF) {
		b.end(!b.once && b.conn.in.Buffered() == 0) // more than the answer was never asked for
	}
	return n, bare(err)
}

// end lets go of the connection.
func (b *nearBody) end(clean bool) {
	if b.done {
		return
	}
	b.done = true
	if !b.stop() || !clean {
		b.of.drop(b.conn, b.stop)
		return
	}
	b.of.under.Add(-1)
	b.of.give(b.conn)
}

// Close ends an answer of which nobody wants the rest.
func (b *nearBody) Close() error {
	b.end(false)
	return nil
}

// bare takes the addresses out of an error of a connection that was there.
func bare(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// writable reports whether headers can be sent as they are: package http
// would put spaces where a value has line ends (RFC 9110 §5.5).
func writable(h http.Header) bool {
	for name, values := range h {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) }) {
			return false
		}
		for _, v := range values {
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return false
			}
		}
	}
	return true
}
