package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// Line is a connection to one server in one era. It is safe for concurrent use.
type Line struct {
	cfg  Config
	url  *url.URL        // of cfg
	http *http.Transport // alone: it follows no redirects and keeps no cookies
	near *near           // for small requests to this machine; else nil
	next atomic.Int64

	end  context.Context // until Close or the loss of the session
	stop context.CancelFunc

	greetings chan struct{} // closed when a legacy server has been greeted
	replying  chan struct{} // a place for each answer of ours under way

	mu      sync.Mutex
	session string // Mcp-Session-Id; "" before initialize and where there is none
	version string // that a legacy server agreed to
	mirrors func(tool string) []wire.Mirror
}

var _ gate.Line = (*Line)(nil)

// Mirrors says which arguments of a tool are repeated in headers.
func (l *Line) Mirrors(of func(tool string) []wire.Mirror) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mirrors = of
}

// Ask sends a request and waits for its answer; see [gate.Line].
func (l *Line) Ask(ctx context.Context, m *wire.Message, t gate.Trip) (*wire.Message, error) {
	return l.exchange(ctx, m, t, nil)
}

// Run asks for the run of a tool; see [gate.Line].
func (l *Line) Run(ctx context.Context, m *wire.Message, t gate.Trip) (*wire.Message, error) {
	late, begin, cancel := gate.Late(ctx)
	defer cancel()
	return l.exchange(late, m, t, begin)
}

// Prompt is true: a request over HTTP can be called off at any time.
func (l *Line) Prompt(int) bool { return true }

// Gone is closed when the line is of no use any more.
func (l *Line) Gone() <-chan struct{} { return l.end.Done() }

// exchange posts one request and reads until its answer. begin, if not nil, is
// asked just before it leaves.
func (l *Line) exchange(ctx context.Context, m *wire.Message, t gate.Trip, begin func() bool) (*wire.Message, error) {
	id := wire.NumberID(l.next.Add(1))
	m, err := m.WithID(id)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", execute.ErrNotRun, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.end, cancel)()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", execute.ErrNotRun, ctx.Err())
	}
	if t.Sent != nil {
		t.Sent(id)
	}
	response, err := l.post(ctx, m, leave{begin, t.Left})
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return l.answer(ctx, m, response, t)
}

// leave is what happens when a request leaves. Either may be nil.
type leave struct {
	begin func() bool // is asked before: whether there is still time
	left  func()      // is called once it has left, or while it leaves
}

func (l leave) late() bool { return l.begin != nil && !l.begin() }

// post sends one frame. Its errors say whether the server can have it.
func (l *Line) post(ctx context.Context, m *wire.Message, leaving leave) (*http.Response, error) {
	request := (&http.Request{Method: http.MethodPost, URL: l.url, Host: l.url.Host, Header: make(http.Header, 8), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(m.Bytes())), ContentLength: int64(len(m.Bytes()))}).WithContext(ctx) // without GetBody: nothing is sent twice
	credential, err := l.dress(ctx, request, m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", execute.ErrNotRun, err)
	}
	response, sent, err := l.send(request, leaving)
	if err == nil {
		if response.StatusCode == http.StatusUnauthorized && l.cfg.Refused != nil {
			l.cfg.Refused(credential)
		}
		return response, nil
	}
	cause := plain(err)
	if !sent {
		return nil, fmt.Errorf("%w: %w", execute.ErrNotRun, cause)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("%w: %w", execute.ErrLost, cause)
}

// send makes a request. sent says whether the server may have something of it.
func (l *Line) send(request *http.Request, leaving leave) (response *http.Response, sent bool, err error) {
	if l.near != nil && request.ContentLength <= nearRequest {
		return l.near.send(request, leaving)
	}
	if leaving.left != nil {
		go leaving.left() // this client tells of nothing until the answer is there
	}
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		connected.Store(true)
		leaving.late() // where the time ends in this very moment it may leave all the same, and nobody knows
	}})
	response, err = l.http.RoundTrip(request.WithContext(traced))
	return response, connected.Load(), err
}

// dress writes every header of a request, and returns the credential.
func (l *Line) dress(ctx context.Context, request *http.Request, m *wire.Message) (credential string, err error) {
	h := request.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	if credential, err = l.own(ctx, h); err != nil {
		return "", err
	}
	if m == nil || m.Kind() != wire.KindRequest || m.ProtocolVersion() == "" {
		return credential, nil
	}
	list, err := m.Headers()
	if err != nil {
		return "", err
	}
	l.mu.Lock()
	mirrors := l.mirrors
	l.mu.Unlock()
	if m.Method() == "tools/call" && mirrors != nil {
		more, err := m.MirrorHeaders(mirrors(m.Name()))
		if err != nil {
			return "", err
		}
		list = append(list, more...)
	}
	for _, x := range list {
		h.Set(x.Name, x.Value)
	}
	return credential, nil
}

// own writes the headers that do not depend on the body.
func (l *Line) own(ctx context.Context, h http.Header) (credential string, err error) {
	if l.cfg.Credential != nil {
		name, value, err := l.cfg.Credential(ctx)
		if err != nil {
			return "", fmt.Errorf("the credential for the server: %w", err)
		}
		h.Set(name, value)
		credential = value
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != "" {
		h.Set(headerSession, l.session)
	}
	if l.version != "" {
		h.Set(wire.HeaderVersion, l.version)
	}
	return credential, nil
}

const headerSession = "Mcp-Session-Id"

// Tell sends what wants no answer: a notification, or an answer of a client.
func (l *Line) Tell(m *wire.Message) error {
	ctx, cancel := context.WithTimeout(l.end, tellTime)
	defer cancel()
	response, err := l.post(ctx, m, leave{})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // only so that the connection can be used again
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the server answers a notification with status %d", response.StatusCode)
	}
	return nil
}

// maxReplies bounds the answers to a server that it has not taken yet.
const maxReplies = 16

// Reply answers a request of the server. It does not wait.
func (l *Line) Reply(m *wire.Message) {
	select {
	case l.replying <- struct{}{}:
	default:
		l.log().Debug("an answer to the server was dropped: it does not take them")
		return
	}
	go func() {
		defer func() { <-l.replying }()
		if err := l.Tell(m); err != nil {
			l.log().Debug("the server could not be answered", "error", err)
		}
	}()
}

// Close ends the line and, in the legacy era, the session.
func (l *Line) Close() {
	l.mu.Lock()
	session := l.session
	l.mu.Unlock()
	if session != "" && l.end.Err() == nil {
		l.farewell()
	}
	l.stop()
	l.http.CloseIdleConnections()
	if l.near != nil {
		l.near.close()
	}
}

func (l *Line) farewell() {
	ctx, cancel := context.WithTimeout(l.end, closeTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodDelete, l.cfg.URL, nil)
	if err != nil {
		return
	}
	if _, err := l.own(ctx, request.Header); err != nil {
		return
	}
	if response, err := l.http.RoundTrip(request); err == nil {
		response.Body.Close()
	}
}

// plain takes the address out of an error of package http, which may hold a
// secret in its path.
func plain(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		return outer.Err
	}
	return err
}

func (l *Line) log() *slog.Logger { return l.cfg.Log }
