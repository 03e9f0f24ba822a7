package pgtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Wire is the network between clients and a server. It leads wherever it is
// told and loses what it is told to. Connections go through it by
// [Wire.Through].
type Wire struct {
	listener net.Listener
	lost     atomic.Int64
	trips    atomic.Int64
	executes atomic.Int64

	mu     sync.Mutex
	server string
	cut    bool
	flows  chan struct{} // closed while bytes move
	how    Loss
	left   int    // commits still to be lost
	split  func() // after some statements of the next batch
	behind int    // how many
	links  map[*link]bool
}

// Loss is what becomes of a COMMIT. The connection that carried it breaks.
type Loss int

// The losses.
const (
	LoseCommit Loss = iota // the server never gets it
	LoseAnswer             // the server does it, its answer is lost
	LoseAll                // as LoseAnswer, and the wire is cut then
)

// NewWire makes a wire to the address of a server and removes it when the
// test ends.
func NewWire(t testing.TB, server string) *Wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{listener: l, server: server, flows: make(chan struct{}), links: map[*link]bool{}}
	close(w.flows)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		w.Cut(true)
	})
	return w
}

// Through leads a connection string of words through the wire.
func (w *Wire) Through(dsn string) string {
	_, port, _ := net.SplitHostPort(w.listener.Addr().String())
	words := strings.Fields(dsn)
	for i, word := range words {
		if strings.HasPrefix(word, "port=") {
			words[i] = "port=" + port
		}
	}
	return strings.Join(words, " ")
}

// Lead leads whoever connects from now on to another server and breaks the
// connections that there are.
func (w *Wire) Lead(server string) {
	w.mu.Lock()
	w.server = server
	w.mu.Unlock()
	w.Break()
}

// Cut breaks all connections and lets nobody through until it is told off.
func (w *Wire) Cut(off bool) {
	w.mu.Lock()
	w.cut = off
	w.mu.Unlock()
	if off {
		w.Break()
	}
}

// Hold lets nothing through either way and breaks nothing: both ends take the
// other for silent. What was sent meanwhile arrives when the wire is let go,
// if the connection still stands.
func (w *Wire) Hold(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.flows:
		if on {
			w.flows = make(chan struct{})
		}
	default:
		if !on {
			close(w.flows)
		}
	}
}

// Lose loses the next n commits.
func (w *Wire) Lose(how Loss, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.how, w.left = how, n
}

// Lost is how many commits were lost.
func (w *Wire) Lost() int64 { return w.lost.Load() }

// Asked is how often clients waited for an answer, and how many statements
// they had executed, as far as each message came through in one piece.
func (w *Wire) Asked() (trips, statements int64) { return w.trips.Load(), w.executes.Load() }

func (w *Wire) count(b []byte) {
	for at := 0; at+5 <= len(b); at = behind(b, at) {
		switch b[at] {
		case 'S':
			w.trips.Add(1)
		case 'E':
			w.executes.Add(1)
		case 'Q':
			w.trips.Add(1)
			w.executes.Add(1)
		}
	}
}

// Split calls f when the first n statements of the next batch of more have
// been sent to the server, and sends the others when f returns.
func (w *Wire) Split(n int, f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.split, w.behind = f, n
}

// Break breaks all connections.
func (w *Wire) Break() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := range w.links {
		l.end()
	}
}

// link is one connection.
type link struct {
	client, server net.Conn
	over           chan struct{}
	once           sync.Once
	mute           atomic.Bool   // the server is not heard any more
	answered       chan struct{} // closed when it spoke in spite of that
}

func (l *link) end() {
	l.once.Do(func() {
		close(l.over)
		l.client.Close()
		if l.server != nil {
			l.server.Close()
		}
	})
}

// admit notes a new connection and says where it leads; "" is nowhere.
func (w *Wire) admit(l *link) (server string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		return ""
	}
	w.links[l] = true
	return w.server
}

// reach connects the link, unless it was broken meanwhile.
func (w *Wire) reach(l *link, server string) bool {
	c, err := net.Dial("tcp", server)
	if err != nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-l.over:
		c.Close()
		return false
	default:
		l.server = c
		return true
	}
}

func (w *Wire) carry(client net.Conn) {
	l := &link{client: client, over: make(chan struct{}), answered: make(chan struct{})}
	server := w.admit(l)
	defer func() {
		l.end()
		w.mu.Lock()
		delete(w.links, l)
		w.mu.Unlock()
	}()
	if server == "" || !w.flowing(l) || !w.reach(l, server) {
		return
	}
	go w.answers(l)
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil || !w.flowing(l) || !w.send(l, buffer[:n]) {
			return
		}
	}
}

// flowing waits while the wire is held; false says that the link is broken.
func (w *Wire) flowing(l *link) bool {
	w.mu.Lock()
	flows := w.flows
	w.mu.Unlock()
	select {
	case <-flows:
		return true
	case <-l.over:
		return false
	}
}

// send carries what the client says; false ends the link.
func (w *Wire) send(l *link, b []byte) bool {
	w.count(b)
	how, lose := w.losing(b)
	switch {
	case lose && how == LoseCommit:
		return false
	case lose:
		l.mute.Store(true)
	}
	first, rest, between := w.splitting(b)
	if between != nil {
		if _, err := l.server.Write(first); err != nil {
			return false
		}
		between()
	}
	if _, err := l.server.Write(rest); err != nil || !lose {
		return err == nil
	}
	select { // until it is done
	case <-l.answered:
	case <-l.over:
	}
	return false
}

func (w *Wire) losing(b []byte) (Loss, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left == 0 || !commits(b) {
		return 0, false
	}
	w.left--
	w.lost.Add(1)
	w.cut = w.cut || w.how == LoseAll
	return w.how, true
}

// commits reports whether messages ask for the end of a transaction: in words,
// or by the name that the driver gives the statement.
func commits(b []byte) bool {
	for at := 0; at+5 <= len(b); at = behind(b, at) {
		body := b[at+5 : min(len(b), behind(b, at))]
		if b[at] == 'Q' && bytes.Equal(body, []byte("COMMIT\x00")) || b[at] == 'B' && bytes.Contains(body, []byte(commitName())) {
			return true
		}
	}
	return false
}

// behind is where the message at a place ends.
func behind(b []byte, at int) int { return at + 1 + int(binary.BigEndian.Uint32(b[at+1:])) }

func commitName() string {
	digest := sha256.Sum256([]byte("COMMIT"))
	return "\x00stmtcache_" + hex.EncodeToString(digest[:24]) + "\x00"
}

// splitting cuts the messages of a batch behind one of its Executes.
func (w *Wire) splitting(b []byte) (first, rest []byte, between func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.split == nil {
		return nil, b, nil
	}
	executes, cut := 0, 0
	for at := 0; at+5 <= len(b); {
		end := behind(b, at)
		if b[at] == 'E' {
			if executes++; executes == w.behind {
				cut = end
			}
		}
		at = end
	}
	if executes <= w.behind {
		return nil, b, nil
	}
	between, w.split = w.split, nil
	return b[:cut], b[cut:], between
}

// answers carries what the server says until it is muted.
func (w *Wire) answers(l *link) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := l.server.Read(buffer)
		if l.mute.Load() {
			close(l.answered)
			return
		}
		if err != nil || !w.flowing(l) {
			break
		}
		if _, err := l.client.Write(buffer[:n]); err != nil {
			break
		}
	}
	l.end()
}
