package gate

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/brief"
	"github.com/seed-de4804fb/verbatim/internal/eager"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// Line speaks to one server. Implementations are safe for concurrent use.
type Line interface {
	// Ask sends a request under an id of the line's own and waits for its
	// answer. It fails with execute.ErrNotRun if nothing has reached the server,
	// and with execute.ErrLost or the context's error if no answer can or did
	// come.
	Ask(ctx context.Context, m *wire.Message, t Trip) (*wire.Message, error)
	// Run is Ask for the run of a tool: after a deadline it goes on listening
	// for a while, because an answer settles what was called uncertain
	// meanwhile; after a cancellation it does not.
	Run(ctx context.Context, m *wire.Message, t Trip) (*wire.Message, error)
	// Prompt reports whether Ask, now and with a frame of that many bytes,
	// returns soon after its context ends, whatever the server does.
	Prompt(size int) bool
}

// Trip is what a request has with it on its way to a server.
type Trip struct {
	// Sent is told the id just before the frame leaves, so that a cancellation
	// that follows on its heels finds it; it may be nil.
	Sent func(wire.ID)
	// Left is called once the frame has left, or while it leaves, and the rest
	// is waiting; it may be nil.
	Left func()
	// Beside gets what the server sends in the course of this request, where
	// the transport tells; it may be nil. It must not block for long.
	Beside func(*wire.Message)
}

// Stream is a Line to a server over two streams: requests with ids of its
// own, answers matched by id, everything else handed to whoever listens.
type Stream struct {
	out  *wire.Writer
	in   *wire.Reader
	log  *slog.Logger
	gone chan struct{} // closed when the server's stream has ended
	seat *seat
	// other gets what is no answer; set before anybody reads.
	other func(*wire.Message)
	// deadline interrupts who reads; nil where the stream cannot do that.
	deadline func(time.Time) error
	eager    *eager.Reader // what in reads; nil where it cannot be looked at
	pace     eager.Pace
	// replies are answers of ours to what the server asks. They are written
	// beside reading: a server that asks and does not read must not stop us.
	replies chan *wire.Message

	room    int64        // what fits on its way to the server though it reads nothing
	order   sync.Mutex   // what is counted as written is written in that order
	written atomic.Int64 // bytes that went to the server, or are about to
	read    atomic.Int64 // of these, what it has read: up to the last request that it answered

	mu      sync.Mutex
	waiting map[string]*asker
}

// asker waits for one answer.
type asker struct {
	answer chan *wire.Message
	end    int64 // of its request, in bytes written
	// Guarded by the seat: whether it waits for another goroutine to read, and
	// whether that is over.
	waits, served bool
}

var _ Line = (*Stream)(nil)

// NewStream returns a Stream that reads a server's output and writes its
// input. Somebody must call Listen.
func NewStream(in io.Reader, out io.Writer, log *slog.Logger) *Stream {
	u := &Stream{out: wire.NewWriter(brief.NewWriter(out)), log: log, seat: newSeat(), room: roomOf(out),
		gone: make(chan struct{}), replies: make(chan *wire.Message, maxReplies), waiting: map[string]*asker{}}
	if d, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Time{}) == nil {
		u.deadline = d.SetReadDeadline
		if u.eager = eager.NewReader(in); u.eager != nil {
			in = u.eager
		}
	}
	u.in = wire.NewReader(in, wire.Limits{})
	return u
}

// maxReplies bounds the answers that a server has not read yet.
const maxReplies = 64

// Reply answers what the server asked. It does not wait: of a server that does
// not read its answers some are dropped.
func (u *Stream) Reply(m *wire.Message) {
	select {
	case u.replies <- m:
	default:
		u.log.Debug("an answer to the server was dropped: it does not read")
	}
}

// reply writes answers until the server's stream has ended.
func (u *Stream) reply() {
	for {
		select {
		case m := <-u.replies:
			if err := u.Tell(m); err != nil {
				u.log.Debug("the server could not be answered", "error", err)
			}
		case <-u.gone:
			return
		}
	}
}

// errGone says that the server's stream has ended.
var errGone = errors.New("the server has gone")

// Ask sends a request and waits for its answer; see [Line].
func (u *Stream) Ask(ctx context.Context, m *wire.Message, t Trip) (*wire.Message, error) {
	return u.exchange(ctx, m, t, 0)
}

// Run asks for the run of a tool; see [Line].
func (u *Stream) Run(ctx context.Context, m *wire.Message, t Trip) (*wire.Message, error) {
	return u.exchange(ctx, m, t, LateFor)
}

// Tell sends what wants no answer.
func (u *Stream) Tell(m *wire.Message) error { return u.write(context.Background(), m, nil) }

// write sends one frame and notes where it ends. What had to wait for its turn
// until its time was over is not sent: others have given it up by then.
func (u *Stream) write(ctx context.Context, m *wire.Message, from *asker) error {
	u.order.Lock()
	defer u.order.Unlock()
	if ctx.Err() != nil {
		return notRun(ctx.Err())
	}
	end := u.written.Add(int64(len(m.Bytes())) + 1)
	if from != nil {
		u.mu.Lock()
		from.end = end
		u.mu.Unlock()
	}
	return u.out.Write(m)
}

// pipeRoom is what a pipe of any system takes without a reader, in bytes
// (POSIX: _POSIX_PIPE_BUF is less, and no system has less than a page).
const pipeRoom = 4096

// Prompt says whether a message has room: a write to a pipe cannot be called off, so it must find room even
// if the server reads nothing any more.
func (u *Stream) Prompt(size int) bool {
	return u.written.Load()-u.read.Load()+int64(size) <= u.room
}

// Gone is closed when the server's stream has ended.
func (u *Stream) Gone() <-chan struct{} { return u.gone }

// LateFor is how long an answer is listened for after the time of a run.
const LateFor = 15 * time.Minute

func (u *Stream) exchange(ctx context.Context, m *wire.Message, t Trip, late time.Duration) (*wire.Message, error) {
	id, a := u.register()
	defer u.forget(id)
	answer := a.answer
	m, err := m.WithID(id)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", execute.ErrNotRun, err)
	}
	select {
	case <-u.gone:
		return nil, fmt.Errorf("%w: %w", execute.ErrNotRun, errGone)
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", execute.ErrNotRun, ctx.Err())
	default:
	}
	if t.Sent != nil {
		t.Sent(id)
	}
	if err := u.write(ctx, m, a); err != nil {
		return nil, writeError(err)
	}
	if t.Left != nil {
		t.Left()
	}
	if u.seat.sit(a, late == 0 && u.deadline != nil) {
		return u.readFor(ctx, answer)
	}
	defer u.seat.served(a)
	select {
	case a, ok := <-answer:
		return answered(a, ok)
	case <-u.gone:
		return u.lastAnswer(answer)
	case <-ctx.Done():
		if late > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return u.lateAnswer(ctx, answer, late)
		}
		select {
		case a, ok := <-answer: // it came just before
			return answered(a, ok)
		default:
			return nil, ctx.Err()
		}
	}
}

// readFor reads the server until an answer has come, and hands on whatever
// else comes. The seat is taken.
func (u *Stream) readFor(ctx context.Context, answer <-chan *wire.Message) (*wire.Message, error) {
	stop := context.AfterFunc(ctx, func() { _ = u.deadline(time.Unix(1, 0)) }) // it could be set before
	defer stop()
	begun := u.look()
	var err error
	for {
		select {
		case a, ok := <-answer: // at first, too: somebody else may have read it meanwhile
			u.looked(begun)
			u.leaveSeat(err)
			return answered(a, ok)
		default:
		}
		if err != nil {
			u.leaveSeat(err)
			return u.lastAnswer(answer)
		}
		if ctx.Err() != nil {
			u.looked(begun)
			u.seat.rise()
			return nil, ctx.Err()
		}
		err = u.next()
	}
}

func (u *Stream) leaveSeat(err error) {
	if err != nil {
		u.seat.end(err)
		return
	}
	u.seat.rise()
}

// next reads one message and hands it on. Its error ends the stream.
func (u *Stream) next() error {
	m, err := u.in.Read()
	var bad *wire.Error
	switch {
	case err == nil && (m.Kind() == wire.KindResult || m.Kind() == wire.KindError):
		if !u.take(m) {
			u.log.Warn("an answer to nothing was dropped")
		}
	case err == nil:
		u.other(m)
	case errors.As(err, &bad):
		u.log.Warn("a frame of the server was refused", "error", bad)
		u.refuse(bad)
	case u.deadline != nil && errors.Is(err, os.ErrDeadlineExceeded):
		return u.deadline(time.Time{}) // somebody's time is over; whoever it is looks himself
	default:
		return err
	}
	return nil
}

func (u *Stream) lateAnswer(ctx context.Context, answer <-chan *wire.Message, late time.Duration) (*wire.Message, error) {
	end := time.NewTimer(late)
	defer end.Stop()
	select {
	case a, ok := <-answer:
		return answered(a, ok)
	case <-u.gone:
		return u.lastAnswer(answer)
	case <-end.C:
		return nil, ctx.Err()
	}
}

// lastAnswer: an answer may have come just before the stream ended.
func (u *Stream) lastAnswer(answer <-chan *wire.Message) (*wire.Message, error) {
	select {
	case a, ok := <-answer:
		return answered(a, ok)
	default:
		return nil, fmt.Errorf("%w: %w", execute.ErrLost, errGone)
	}
}

var errUnreadable = errors.New("the server's answer cannot be read")

// answered: a closed channel stands for an answer that could not be read.
func answered(a *wire.Message, ok bool) (*wire.Message, error) {
	if !ok {
		return nil, fmt.Errorf("%w: %w", execute.ErrLost, errUnreadable)
	}
	return a, nil
}

func writeError(err error) error {
	var w *wire.WriteError
	if errors.Is(err, execute.ErrNotRun) {
		return err
	}
	if errors.As(err, &w) && w.Written == 0 {
		return fmt.Errorf("%w: %w", execute.ErrNotRun, err)
	}
	return fmt.Errorf("%w: %w", execute.ErrLost, err)
}

func (u *Stream) register() (wire.ID, *asker) {
	u.mu.Lock()
	defer u.mu.Unlock()
	a := &asker{answer: make(chan *wire.Message, 1)}
	for {
		id := wire.NumberID(unguessable())
		if u.waiting[id.Key()] == nil {
			u.waiting[id.Key()] = a
			return id, a
		}
	}
}

// unguessable is a random integer that every JSON reader keeps exact: a server
// that has not read a request cannot answer it.
func unguessable() int64 {
	var b [8]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return int64(binary.LittleEndian.Uint64(b[:])>>11) + 1
}

func (u *Stream) forget(id wire.ID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.waiting, id.Key())
}

// take hands an answer to whoever asked. ok is false for an answer to
// nothing: it came too late or was never asked for, and goes nowhere.
func (u *Stream) take(m *wire.Message) (ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	a, ok := u.waiting[m.ID().Key()]
	if ok {
		u.read.Store(max(u.read.Load(), a.end)) // it reads in order
		u.seat.served(a)
		a.answer <- m
		delete(u.waiting, m.ID().Key())
	}
	return ok
}

// Listen reads the server until its stream ends. other gets what is no
// answer to a request of ours.
func (u *Stream) Listen(other func(*wire.Message)) error {
	defer close(u.gone)
	go u.reply()
	u.other = other
	for u.seat.listen() {
		u.leaveSeat(u.next())
	}
	return u.seat.err
}

// refuse ends the request whose answer could not be read: the asker learns
// that nothing can be known.
func (u *Stream) refuse(bad *wire.Error) {
	if bad.ID.IsZero() {
		return
	}
	if bad.Answerable {
		u.Reply(bad.Response())
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if a, ok := u.waiting[bad.ID.Key()]; ok {
		u.seat.served(a)
		close(a.answer)
		delete(u.waiting, bad.ID.Key())
	}
}
