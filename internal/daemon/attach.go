package daemon

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/ids"
)

// upgradeName is the protocol that an attachment switches to: the raw MCP
// bytes of one client over stdio framing.
const upgradeName = "verbatim-wrap"

// attachmentHeader carries the id under which an attachment's notes are.
const attachmentHeader = "Verbatim-Attachment"

// Hello is what a client says before its MCP bytes. Nothing in it is an
// identity: whoever reaches the socket is the user.
type Hello struct {
	Server  string   `json:"server,omitempty"`  // name in the catalog; "" derives it from the command
	Agent   string   `json:"agent,omitempty"`   // "" means the configuration's
	Command string   `json:"command,omitempty"` // "" means the declared server of that name
	Args    []string `json:"args,omitempty"`
	Env     []string `json:"env,omitempty"` // the whole environment of the server
	Dir     string   `json:"dir,omitempty"`
	// WaitMS is how long a call is held while people decide, in milliseconds;
	// 0 means the configuration's.
	WaitMS int64 `json:"waitMs,omitempty"`
	// Resources and Prompts are patterns of what the client may use beside
	// tools. A declared server has those of the configuration.
	Resources []string `json:"resources,omitempty"`
	Prompts   []string `json:"prompts,omitempty"`
	// TrustReadHints catalogues tools that the server calls read-only as reads.
	TrustReadHints bool `json:"trustReadHints,omitempty"`
}

// Upstream is a started MCP server with the gateway before it.
type Upstream interface {
	// Serve speaks to the client until either side ends. Runs that have begun
	// are finished before it returns.
	Serve(ctx context.Context, client io.ReadWriteCloser) error
	// Stop ends the server. It is called once, after Serve or instead of it.
	Stop()
}

// attachments are the clients of this daemon.
type attachments struct {
	mu    sync.Mutex
	live  int
	ended bool              // no more are taken
	notes map[string]*Notes // also of those that have just gone
}

func newAttachments() *attachments { return &attachments{notes: map[string]*Notes{}} }

// add takes a client in; false if the daemon is ending.
func (a *attachments) add(id string, n *Notes) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return false
	}
	a.notes[id] = n
	a.live++
	return true
}

// notesKept is how long the notes of a client that has gone can be read: a
// server that ends at once has said why.
const notesKept = 5 * time.Second

func (a *attachments) remove(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notes[id].Close()
	a.live--
	time.AfterFunc(notesKept, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.notes, id)
	})
}

func (a *attachments) find(id string) (*Notes, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, ok := a.notes[id]
	return n, ok
}

func (a *attachments) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.live
}

// end takes nobody in any more and waits until all have gone or ctx ends.
func (a *attachments) end(ctx context.Context) error {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for a.count() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// attach starts the server of a client and then gives the connection to the
// gateway. What fails before that is a JSON refusal.
func (d *Daemon) attach(w http.ResponseWriter, r *http.Request) {
	var hello Hello
	if r.Header.Get("Upgrade") != upgradeName {
		writeRefusal(w, refuse(http.StatusUpgradeRequired, "attach needs Upgrade: "+upgradeName))
		return
	}
	if err := decodeBody(r, &hello); err != nil {
		writeRefusal(w, err)
		return
	}
	id, notes := ids.New("att"), NewNotes()
	if !d.attached.add(id, notes) {
		writeRefusal(w, refuse(http.StatusServiceUnavailable, "the daemon is ending; try again"))
		return
	}
	defer d.attached.remove(id)
	up, err := d.cfg.Attach(hello, notes)
	if err != nil {
		writeRefusal(w, refuse(http.StatusUnprocessableEntity, err.Error()))
		return
	}
	defer up.Stop()
	d.stir()
	d.pipe(w, id, up)
}

func (d *Daemon) pipe(w http.ResponseWriter, id string, up Upstream) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		writeRefusal(w, refuse(http.StatusInternalServerError, "this connection cannot be taken over"))
		return
	}
	conn, buffered, err := hijacker.Hijack()
	if err != nil {
		writeRefusal(w, err)
		return
	}
	defer conn.Close()
	_, err = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+upgradeName+
		"\r\n"+attachmentHeader+": "+id+"\r\n\r\n")
	if err == nil {
		err = up.Serve(d.serving, clientOf(conn, buffered.Reader))
	}
	if err != nil {
		d.log.Warn("an attachment broke", "attachment", id, "error", err)
	}
}

// clientOf is the connection itself where none of its bytes has been read
// yet: the gateway may look at it then before it waits.
func clientOf(conn net.Conn, buffered *bufio.Reader) io.ReadWriteCloser {
	if buffered.Buffered() == 0 {
		return conn
	}
	return &client{conn, buffered}
}

// client is a connection whose first bytes may have been read already.
type client struct {
	net.Conn
	in *bufio.Reader
}

func (c *client) Read(p []byte) (int, error) { return c.in.Read(p) }

// notes streams an attachment's notes while it lives.
func (d *Daemon) notes(w http.ResponseWriter, r *http.Request) {
	n, ok := d.attached.find(r.PathValue("id"))
	if !ok {
		writeRefusal(w, refuse(http.StatusNotFound, "there is no such attachment"))
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	_ = n.copyTo(r.Context(), flushed{w, flush}) // the reader may go at any time
}

type flushed struct {
	io.Writer
	control *http.ResponseController
}

func (f flushed) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	if err == nil {
		err = f.control.Flush()
	}
	return n, err
}
