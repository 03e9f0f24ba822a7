package execute

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/permit"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// MaxOutput is the largest answer of a tool that is kept, in bytes.
const MaxOutput = 10 << 20

// Codes that a run can end with.
const (
	CodeOK          = "ok"
	CodeToolError   = "tool_error"        // the tool said that it failed
	CodeNotRun      = "tool_not_run"      // proof that nothing happened
	CodeTimeout     = "outcome_uncertain" // no answer in time
	CodeUnclear     = "outcome_uncertain" // an answer that proves nothing
	CodeReadTimeout = "tool_timeout"      // a read that gave no answer
	CodeTooLarge    = "tool_result_too_large"
)

// What an executor compared.
const (
	CompareEqual     = "equal"     // what it received is what was decided on
	CompareUnchecked = "unchecked" // it did not say
)

// Options are the catalog's facts about the tool.
type Options struct {
	Timeout time.Duration // of the run; must be positive
	// SendBy, if not zero, is the last moment at which the tool may be called:
	// a process that was stopped meanwhile must not act on a row that others
	// have given up (reliability 1.2, send_deadline).
	SendBy time.Time
	// ErrorsUnclear: the tool's own error report proves nothing.
	ErrorsUnclear bool
	// Beside is what the caller has to do while the tool works; it must be good
	// for any number of calls, at once. The handler may have it done
	// ([Input.Meanwhile]); elsewhere it gets a goroutine. May be nil.
	Beside func()
	// Late is called at most once, from another goroutine, when the tool
	// answers after its run was called uncertain. May be nil.
	Late func(Ended)
}

// Ended is how a run ended.
type Ended struct {
	State  action.State // Succeeded, Failed or Uncertain
	Result action.Result
}

// NotRun is the end of a run that [Run] refused to start.
func NotRun(why error) Ended {
	return ended(action.Failed, action.EvidenceProved, CodeNotRun, why.Error())
}

type answer struct {
	out Output
	err error
}

// Run starts the tool with the permit's bytes and waits until it answers, the
// timeout passes or ctx ends. It fails only with [ErrPermit], before the
// tool could start; every other end is an [Ended].
func Run(ctx context.Context, p permit.Permit, h Handler, opt Options) (Ended, error) {
	r, err := Start(ctx, p, h, opt)
	if err != nil {
		return Ended{}, err
	}
	end, _ := r.Wait(nil)
	return end, nil
}

// Started is a tool at work. One goroutine waits for it.
type Started struct {
	ctx     context.Context
	cancel  context.CancelFunc
	answers chan answer
	kind    permit.Kind
	opt     Options
}

// Start is [Run] without the wait. Somebody must call Wait until it says that
// the run has ended.
func Start(ctx context.Context, p permit.Permit, h Handler, opt Options) (*Started, error) {
	if !p.Valid() || p.Kind() == permit.Question || h == nil || opt.Timeout <= 0 {
		return nil, ErrPermit
	}
	args, err := snapshot.Thaw(p.Args())
	if err != nil {
		return nil, fmt.Errorf("%w: frozen bytes are not canonical", ErrPermit)
	}
	in := Input{permit: p, args: args, meanwhile: opt.Beside}
	ctx, cancel := context.WithTimeout(ctx, opt.Timeout)
	r := &Started{ctx, cancel, make(chan answer, 1), p.Kind(), opt}
	if o, ok := h.(Obedient); ok && p.Kind() == permit.Read && o.Obeys(in) {
		r.answers <- call(ctx, h, in, opt.SendBy)
		return r, nil
	}
	if opt.Beside != nil {
		go opt.Beside()
	}
	go func() {
		a := answer{err: errPanic}
		defer func() { r.answers <- a }() // also where the tool ends its goroutine
		a = call(ctx, h, in, opt.SendBy)
	}()
	return r, nil
}

// Wait returns how the run ended, or false once gone is closed: the run goes
// on then, and is waited for again. A nil gone never is.
func (r *Started) Wait(gone <-chan struct{}) (Ended, bool) {
	select {
	case a := <-r.answers:
		defer r.cancel()
		return heard(r.ctx, r.kind, a, r.opt), true
	case <-r.ctx.Done():
		select {
		case a := <-r.answers: // it came in time, and was not looked at before
			defer r.cancel()
			return heard(r.ctx, r.kind, a, r.opt), true
		default:
		}
		go waitLate(r.cancel, r.answers, r.kind, r.opt)
		return unanswered(r.kind), true
	case <-gone:
		return Ended{}, false
	}
}

// heard judges an answer that came before the time was seen to be over.
func heard(ctx context.Context, kind permit.Kind, a answer, opt Options) Ended {
	if ctx.Err() != nil && errors.Is(a.err, ctx.Err()) && !errors.Is(a.err, ErrNotRun) {
		return unanswered(kind) // it only says that its time was over
	}
	return classify(kind, a, opt)
}

// call asks the tool. A panic, or a tool that ends its goroutine, is an
// unclear end: nobody knows how far it came.
func call(ctx context.Context, h Handler, in Input, sendBy time.Time) (a answer) {
	a = answer{err: errPanic}
	defer func() { _ = recover() }() // the panic value may hold an argument
	if passed(sendBy) {
		return answer{err: errLateStart}
	}
	out, err := h.Handle(ctx, in)
	return answer{out, err}
}

var errLateStart = fmt.Errorf("%w: its time was over before it began", ErrNotRun)

// passed asks both clocks: the steady one stands still while a machine
// sleeps, the other may be set.
func passed(t time.Time) bool {
	now := time.Now()
	return !t.IsZero() && (!now.Before(t) || !now.Round(0).Before(t.Round(0)))
}

var errPanic = errors.New("the tool panicked")

func waitLate(cancel context.CancelFunc, answers <-chan answer, kind permit.Kind, opt Options) {
	defer cancel()
	a := <-answers
	if opt.Late != nil {
		opt.Late(classify(kind, a, opt))
	}
}

func unanswered(kind permit.Kind) Ended {
	if kind != permit.Mutation {
		return ended(action.Failed, "", CodeReadTimeout, "no answer in time")
	}
	return ended(action.Uncertain, "", CodeTimeout, "no answer in time")
}

func classify(kind permit.Kind, a answer, opt Options) Ended {
	mutation := kind == permit.Mutation
	switch {
	case errors.Is(a.err, ErrNotRun):
		return ended(action.Failed, action.EvidenceProved, CodeNotRun, "nothing was sent")
	case a.err != nil && mutation && unclear(a.err, opt):
		return ended(action.Uncertain, "", CodeUnclear, "the error proves nothing")
	case a.err != nil && unclear(a.err, opt):
		return ended(action.Failed, "", CodeToolError, "the tool did not come to an answer")
	case a.err != nil:
		return ended(action.Failed, action.EvidenceReported, CodeToolError, "the tool returned an error")
	case len(a.out.Bytes) > MaxOutput:
		return tooLarge(mutation)
	case mutation && !a.out.IsError && a.out.differs():
		return with(ended(action.Uncertain, "", CodeUnclear, "the executor ran what it should have refused"), a.out)
	case a.out.IsError && mutation && opt.ErrorsUnclear:
		return with(ended(action.Uncertain, "", CodeUnclear, "the tool's error report proves nothing"), a.out)
	case a.out.IsError && kind == permit.Read: // nothing changed: it is an answer like any other
		return with(ended(action.Succeeded, "", CodeOK, ""), a.out)
	case a.out.IsError:
		return with(ended(action.Failed, action.EvidenceReported, CodeToolError, "the tool reported an error"), a.out)
	default:
		return with(ended(action.Succeeded, "", CodeOK, ""), a.out)
	}
}

// tooLarge: a mutation that answered did run; only its answer is lost.
func tooLarge(mutation bool) Ended {
	if mutation {
		return ended(action.Uncertain, "", CodeTooLarge, "the answer is too large to keep")
	}
	return ended(action.Failed, action.EvidenceReported, CodeTooLarge, "the answer is too large")
}

// unclear: an error that says nothing about the effect, such as a connection
// that broke while the answer was awaited.
func unclear(err error, opt Options) bool {
	return opt.ErrorsUnclear || errors.Is(err, errPanic) || errors.Is(err, ErrLost) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || broken(err)
}

// broken: the transport failed, not the tool. A dial that failed is left to
// the tool's word, because nothing was sent.
func broken(err error) bool {
	var timeout interface{ Timeout() bool }
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &op) && op.Op != "dial" ||
		errors.As(err, &timeout) && timeout.Timeout()
}

func ended(s action.State, evidence, code, detail string) Ended {
	return Ended{s, action.Result{Evidence: evidence, Code: code, Detail: detail, Comparison: CompareEqual}}
}

func with(e Ended, out Output) Ended {
	e.Result.Output, e.Result.IsError = out.Bytes, out.IsError
	if out.Compared != "" {
		e.Result.Comparison = out.Compared
	}
	return e
}

// differs: the executor said that it received something else.
func (o Output) differs() bool {
	return o.Compared != "" && o.Compared != CompareEqual && o.Compared != CompareUnchecked
}
