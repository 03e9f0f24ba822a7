package endpoint

import (
	"net/http"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// reply is the response to one request: a document, or a stream once there is
// something to say before the answer or the answer takes long.
type reply struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stream  bool          // the client takes streams
	broken  chan struct{} // closed when the client can no longer be written to

	queue queue

	mu     sync.Mutex
	quiet  *time.Timer       // until a comment keeps the stream alive; nil for a client without streams
	events *wire.EventWriter // nil until the stream has begun
	ended  bool
}

// queue is what is still to be written before the answer. Servers are read by
// one goroutine for all clients, so a client that does not read must not hold
// it up.
type queue struct {
	mu      sync.Mutex
	waiting []*wire.Message
	writing bool
	drained *sync.Cond
}

// maxWaiting bounds a queue; what comes then is lost to that client.
const maxWaiting = 256

// The times of a stream.
const (
	quietFor  = 15 * time.Second // then a comment keeps proxies from giving up
	writeTime = 30 * time.Second // a client that does not read for so long has gone
)

func newReply(w http.ResponseWriter, stream bool) *reply {
	r := &reply{w: w, control: http.NewResponseController(w), stream: stream, broken: make(chan struct{})}
	r.queue.drained = sync.NewCond(&r.queue.mu)
	if stream {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.quiet = time.AfterFunc(quietFor, r.keepAlive)
	}
	return r
}

// beside sends what comes before the answer, and does not wait for it. A
// client that takes no streams does without.
func (r *reply) beside(m *wire.Message) {
	q := &r.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if !r.stream || len(q.waiting) >= maxWaiting {
		return
	}
	q.waiting = append(q.waiting, m)
	if !q.writing {
		q.writing = true
		go r.drain()
	}
}

func (r *reply) drain() {
	q := &r.queue
	for {
		q.mu.Lock()
		if len(q.waiting) == 0 {
			q.writing = false
			q.drained.Broadcast()
			q.mu.Unlock()
			return
		}
		m := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.mu.Unlock()
		r.event(m)
	}
}

func (r *reply) event(m *wire.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.begin()
	r.write(func() error { return r.events.Write(m) })
}

// settled waits until all that came before is written or given up.
func (r *reply) settled() {
	q := &r.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.writing {
		q.drained.Wait()
	}
}

// start begins the stream.
func (r *reply) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin()
	r.write(r.events.KeepAlive)
}

func (r *reply) begin() {
	if r.events != nil {
		return
	}
	h := r.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	r.w.WriteHeader(http.StatusOK)
	r.events = wire.NewEventWriter(r.w)
}

// write writes and flushes; after a failure the stream is over.
func (r *reply) write(out func() error) {
	_ = r.control.SetWriteDeadline(time.Now().Add(writeTime)) // where that is not possible the server's own applies
	err := out()
	if err == nil {
		err = r.control.Flush()
	}
	if err != nil {
		r.ended = true
		close(r.broken)
	}
}

// finish sends the answer; nil is none. Errors of the stateless era have a
// status of their own (MCP 2026-07-28, "Sending Messages").
func (r *reply) finish(m *wire.Message, modern bool) {
	r.settled()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	switch {
	case r.events != nil && m != nil:
		r.write(func() error { return r.events.Write(m) })
	case r.events != nil:
	case m == nil:
		r.w.WriteHeader(http.StatusAccepted)
	default:
		_ = r.control.SetWriteDeadline(time.Now().Add(writeTime))
		say(r.w, status(m, modern), m)
	}
	r.ended = true
}

func status(m *wire.Message, modern bool) int {
	if !modern || m.Kind() != wire.KindError {
		return http.StatusOK
	}
	code, _, err := m.Member("/error/code")
	if err != nil {
		return http.StatusOK
	}
	switch string(code) {
	case "-32601":
		return http.StatusNotFound
	case "-32602", "-32020", "-32021", "-32022":
		return http.StatusBadRequest
	}
	return http.StatusOK
}

func (r *reply) keepAlive() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.begin()
	r.write(r.events.KeepAlive)
	r.quiet.Reset(quietFor)
}

// close ends the reply: nothing is written any more.
func (r *reply) close() {
	r.mu.Lock()
	r.ended = true
	if r.quiet != nil {
		r.quiet.Stop()
	}
	r.mu.Unlock()
	r.settled() // the response belongs to its handler
}
