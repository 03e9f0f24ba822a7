package verbatimtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
)

// The steps of a request at a Provider.
const (
	StepArrive = "arrive" // before anything has happened
	StepDone   = "done"   // it has happened; the reply has not left
)

// Provider is a pretend service that a tool calls. Its truth is one
// append-only file, which several processes may share: the order of its lines
// is the order of what happened, so that it needs no lock and survives kill
// -9. It keeps what its effect class promises and nothing more.
type Provider struct {
	path   string
	effect catalog.EffectClass

	mu   sync.Mutex
	step func(ctx context.Context, step string) error
	held []func() error
	hold bool
}

// NewProvider makes a provider on a file, which need not exist.
func NewProvider(path string, effect catalog.EffectClass) *Provider {
	return &Provider{path: path, effect: effect}
}

// OnStep has f called at each step of each request. It may wait, end the
// process, or return an error, which the caller then gets instead of a reply:
// execute.ErrLost for a lost request or a lost reply. nil ends that.
func (p *Provider) OnStep(f func(ctx context.Context, step string) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step = f
}

// Hold keeps requests on their way: their callers lose the connection, and
// what they asked for happens when Release is called.
func (p *Provider) Hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = true
}

// Release lets what was held arrive, in order.
func (p *Provider) Release() error {
	p.mu.Lock()
	held := p.held
	p.held, p.hold = nil, false
	p.mu.Unlock()
	var errs []error
	for _, arrive := range held {
		errs = append(errs, arrive())
	}
	return errors.Join(errs...)
}

// Handler is the tool that calls the provider. It can be asked what the
// effect class says: a queryable one for a look-up, keyed_cancel to cancel.
func (p *Provider) Handler() execute.Handler {
	switch p.effect {
	case catalog.Queryable:
		return queryable{p}
	case catalog.KeyedCancel:
		return cancellable{p}
	default:
		return execute.HandlerFunc(p.handle)
	}
}

type queryable struct{ *Provider }

func (q queryable) Handle(ctx context.Context, in execute.Input) (execute.Output, error) {
	return q.handle(ctx, in)
}

// Lookup says yes, or that it does not know the request.
func (q queryable) Lookup(_ context.Context, in execute.Input) (execute.Finding, error) {
	l, found, err := q.first(in.ProviderKey(), doApply)
	if err != nil || !found {
		return execute.Finding{}, err
	}
	return execute.Finding{Verdict: execute.Happened, Output: l.output()}, nil
}

type cancellable struct{ *Provider }

func (c cancellable) Handle(ctx context.Context, in execute.Input) (execute.Output, error) {
	return c.handle(ctx, in)
}

// Cancel refuses the key for ever, unless it has taken effect.
func (c cancellable) Cancel(_ context.Context, in execute.Input) (execute.Finding, error) {
	l, err := c.decide(line{Do: doCancel, Key: in.ProviderKey()})
	if err != nil {
		return execute.Finding{}, err
	}
	if l.Do == doCancel {
		return execute.Finding{Verdict: execute.Prevented}, nil
	}
	return execute.Finding{Verdict: execute.Happened, Output: l.output()}, nil
}

// What a line says.
const (
	doApply  = "apply"
	doCancel = "cancel"
)

// line is one entry of the file.
type line struct {
	Do      string `json:"do"`
	Key     string `json:"key"`
	Args    string `json:"args"`
	Receipt string `json:"receipt"`
}

func (l line) output() execute.Output {
	return execute.Output{Bytes: []byte(`{"receipt":"` + l.Receipt + `"}`)}
}

func (p *Provider) handle(ctx context.Context, in execute.Input) (execute.Output, error) {
	want := line{Do: doApply, Key: in.ProviderKey(), Args: string(in.JSON())}
	if p.onItsWay(want) {
		return execute.Output{}, execute.ErrLost
	}
	if err := p.at(ctx, StepArrive); err != nil {
		return execute.Output{}, err
	}
	did, err := p.decide(want)
	if err != nil {
		return execute.Output{}, fmt.Errorf("%w: %w", execute.ErrLost, err)
	}
	if err := p.at(ctx, StepDone); err != nil {
		return execute.Output{}, err
	}
	if did.Do == doCancel {
		return execute.Output{Bytes: []byte(`{"error":"this key was cancelled"}`), IsError: true}, nil
	}
	return did.output(), nil
}

func (p *Provider) onItsWay(l line) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hold {
		p.held = append(p.held, func() error { _, err := p.decide(l); return err })
	}
	return p.hold
}

func (p *Provider) at(ctx context.Context, step string) error {
	p.mu.Lock()
	f := p.step
	p.mu.Unlock()
	if f == nil {
		return nil
	}
	return f(ctx, step)
}

// decide appends a line and returns the one that holds: with keys the first
// of its key, else the line itself.
func (p *Provider) decide(l line) (line, error) {
	l.Receipt = rand.Text()
	b, err := json.Marshal(l)
	if err != nil {
		return line{}, err
	}
	f, err := os.OpenFile(p.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return line{}, err
	}
	if _, err := f.Write(append(b, '\n')); err != nil { // one write: other processes append too
		return line{}, errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil || !p.keyed() {
		return l, err
	}
	held, _, err := p.first(l.Key, "")
	return held, err
}

// keyed: a second request with a key is the first one again.
func (p *Provider) keyed() bool {
	return p.effect == catalog.Keyed || p.effect == catalog.KeyedCancel || p.effect == catalog.LocalTx
}

func (p *Provider) first(key, do string) (line, bool, error) {
	lines, err := p.lines()
	for _, l := range lines {
		if l.Key == key && (do == "" || do == l.Do) {
			return l, true, nil
		}
	}
	return line{}, false, err
}

// Effects counts what each provider key has brought about. What a natural
// provider is told twice counts once.
func (p *Provider) Effects() (map[string]int, error) {
	lines, err := p.lines()
	out, decided := map[string]int{}, map[string]bool{}
	for _, l := range lines {
		again := decided[l.Key] && (p.keyed() || p.effect == catalog.Natural)
		decided[l.Key] = true
		if l.Do == doApply && !again {
			out[l.Key]++
		}
	}
	return out, err
}

// Sent counts the requests that arrived with a key, repeats too.
func (p *Provider) Sent(key string) (int, error) {
	lines, err := p.lines()
	n := 0
	for _, l := range lines {
		if l.Key == key && l.Do == doApply {
			n++
		}
	}
	return n, err
}

// lines reads the file. A last line without an end is being written.
func (p *Provider) lines() ([]line, error) {
	for try := 0; ; try++ {
		b, err := os.ReadFile(p.path)
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if len(b) > 0 && b[len(b)-1] != '\n' && try < 100 {
			time.Sleep(time.Millisecond)
			continue
		}
		return parseLines(b)
	}
}

func parseLines(b []byte) ([]line, error) {
	var out []line
	for text := range bytes.Lines(b) {
		v, err := canon.Decode(bytes.TrimSuffix(text, []byte("\n")), canon.Options{})
		if err != nil {
			return out, fmt.Errorf("a line of the provider: %w", err)
		}
		text := func(name string) string { m, _ := v.Get(name); return strings.Clone(m.Text()) }
		out = append(out, line{Do: text("do"), Key: text("key"), Args: text("args"), Receipt: text("receipt")})
	}
	return out, nil
}
