package postgres_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// How a proxy treats the next COMMIT.
const (
	pass       = 0
	dropBefore = 1 // the server never gets it
	dropAfter  = 2 // the server does it, its answer is lost
	dropBoth   = 3 // as dropAfter, and nobody connects any more until told so
)

// proxy stands between a store and its server and loses what it is told to.
type proxy struct {
	listener net.Listener
	server   atomic.Value // string: its address
	next     atomic.Int32
	cut      atomic.Bool // nobody gets through
	lost     atomic.Int32
	links    sync.Map
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &proxy{listener: l}
	p.server.Store(server)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.link(c)
		}
	}()
	t.Cleanup(func() { l.Close(); p.drop() })
	return p
}

// through leads a connection string through the proxy.
func (p *proxy) through(dsn string) string {
	_, port, _ := net.SplitHostPort(p.listener.Addr().String())
	words := strings.Fields(dsn)
	for i, w := range words {
		if strings.HasPrefix(w, "port=") {
			words[i] = "port=" + port
		}
	}
	return strings.Join(words, " ")
}

// redirect leads whoever comes from now on to another server.
func (p *proxy) redirect(server string) {
	p.server.Store(server)
	p.drop()
}

func (p *proxy) drop() {
	p.links.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true })
}

func (p *proxy) link(client net.Conn) {
	defer client.Close()
	if p.cut.Load() {
		return
	}
	server, err := net.Dial("tcp", p.server.Load().(string))
	if err != nil {
		return
	}
	defer server.Close()
	p.links.Store(client, true)
	p.links.Store(server, true)
	defer func() { p.links.Delete(client); p.links.Delete(server) }()
	mute := make(chan struct{})
	go p.answers(server, client, mute)
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		if bytes.Contains(buffer[:n], []byte("COMMIT\x00")) {
			if how := p.next.Swap(pass); how != pass {
				p.lost.Add(1)
				p.cut.Store(how == dropBoth)
				if how == dropBefore {
					return
				}
				close(mute)
				if _, err := server.Write(buffer[:n]); err != nil {
					return
				}
				_, _ = io.ReadAtLeast(server, make([]byte, 64), 1) // it is done
				return
			}
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// answers carries what the server says until it is muted.
func (p *proxy) answers(server, client net.Conn, mute chan struct{}) {
	defer client.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		select {
		case <-mute:
			return
		default:
		}
		if err != nil {
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
