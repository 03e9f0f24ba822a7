package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

var (
	errNoAnswer = errors.New("the stream ended without the answer")
	errOther    = errors.New("the server answers another request")
	errKind     = errors.New("the server answers with something that is neither JSON nor an event stream")
	errSession  = errors.New("the server does not know the session any more")
)

// answer reads the response to a request until the answer with its id.
func (l *Line) answer(ctx context.Context, m *wire.Message, r *http.Response, t gate.Trip) (*wire.Message, error) {
	if r.StatusCode == http.StatusNotFound && r.Request.Header.Get(headerSession) != "" {
		l.stop() // whoever asks next makes a new session
		return nil, fmt.Errorf("%w: %w", execute.ErrNotRun, errSession)
	}
	kind, err := mediaType(r.Header.Get("Content-Type"))
	var a *wire.Message
	switch {
	case err == nil && kind == "text/event-stream" && r.StatusCode == http.StatusOK:
		a, err = l.events(ctx, r.Body, m.ID(), t)
	case err == nil && kind == "application/json":
		a, err = single(r, m.ID(), l.cfg.Limits)
	default:
		err = errKind
	}
	if err == nil {
		l.greeted(m, a, r)
		return a, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if r.StatusCode/100 != 2 {
		return nil, refusedWith(r.StatusCode)
	}
	return nil, fmt.Errorf("%w: %w", execute.ErrLost, err)
}

// refusedWith words a status without a JSON-RPC answer. These statuses say
// that the request was not taken; any other leaves it open, as do the redirects
// that may follow an effect (RFC 9110 §15.4).
func refusedWith(status int) error {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusNotAcceptable, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusTooManyRequests,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return fmt.Errorf("%w: the server answers with status %d", execute.ErrNotRun, status)
	}
	return fmt.Errorf("%w: the server answers with status %d", execute.ErrLost, status)
}

func mediaType(text string) (string, error) {
	if text == "application/json" || text == "text/event-stream" {
		return text, nil
	}
	kind, _, err := mime.ParseMediaType(text)
	return kind, err
}

// maxRoom bounds what a body gets before any of it is there.
const maxRoom = 64 << 10

// single reads a body that is one message.
func single(r *http.Response, id wire.ID, limits wire.Limits) (*wire.Message, error) {
	limit := int64(limits.MaxFrame)
	if limit <= 0 {
		limit = wire.DefaultMaxFrame
	}
	text := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), maxRoom)+bytes.MinRead))
	if _, err := text.ReadFrom(io.LimitReader(r.Body, limit+1)); err != nil {
		return nil, err
	}
	m, err := wire.Parse(text.Bytes(), limits)
	if err != nil {
		return nil, err
	}
	if !answers(m, id) {
		return nil, errOther
	}
	return m, nil
}

// answers reports whether m is the answer to the request id. An error without
// an id stands for one: the body belongs to one request.
func answers(m *wire.Message, id wire.ID) bool {
	switch m.Kind() {
	case wire.KindError:
		return m.ID().IsZero() || m.ID().Key() == id.Key()
	case wire.KindResult:
		return m.ID().Key() == id.Key()
	default:
		return false
	}
}

// events reads a stream until the answer; what comes before goes beside. A
// legacy server may break a stream off and take it up again where it was: that
// asks for the rest of an answer, and sends no request a second time.
func (l *Line) events(ctx context.Context, body io.Reader, id wire.ID, t gate.Trip) (*wire.Message, error) {
	last, pause := "", resumePause
	for {
		in := wire.NewEventReader(body, l.cfg.Limits)
		a, err := l.stream(in, id, t)
		if err == nil || ctx.Err() != nil {
			return a, err
		}
		if in.LastID() != "" {
			last = in.LastID()
		}
		if in.Retry() > 0 {
			pause = min(in.Retry(), lastPause)
		}
		if last == "" || l.isStateless() {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		response, err := l.get(ctx, last)
		if err != nil {
			return nil, errNoAnswer
		}
		defer response.Body.Close()
		body = response.Body
	}
}

// resumePause is how long to wait before a stream is taken up again where the
// server does not say.
const resumePause = time.Second

// isStateless: nobody has greeted the server as one of the legacy era.
func (l *Line) isStateless() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version == ""
}

// stream reads events until the answer or the end.
func (l *Line) stream(in *wire.EventReader, id wire.ID, t gate.Trip) (*wire.Message, error) {
	for {
		e, err := in.Read()
		var bad *wire.Error
		switch {
		case errors.Is(err, io.EOF):
			return nil, errNoAnswer
		case errors.As(err, &bad):
			// It may have been the answer; the rest of the stream shows.
			l.log().Warn("a frame of the server was refused", "error", bad)
		case err != nil:
			return nil, err
		case e.Message == nil:
		case answers(e.Message, id):
			return e.Message, nil
		case e.Message.Kind() == wire.KindRequest || e.Message.Kind() == wire.KindNotification:
			if t.Beside != nil {
				t.Beside(e.Message)
			}
		}
	}
}

// greeted takes the session from the answer to initialize.
func (l *Line) greeted(m, a *wire.Message, r *http.Response) {
	if m.Method() != "initialize" || a.Kind() != wire.KindResult {
		return
	}
	raw, _, err := a.Member("/result/protocolVersion")
	version, ok := wire.Text(raw)
	if err != nil || !ok || !plainToken(version) {
		return
	}
	session := r.Header.Get(headerSession)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.version != "" {
		return // once
	}
	l.version = version
	defer close(l.greetings)
	if plainToken(session) {
		l.session = session
	}
}

// plainToken: visible ASCII only, as MCP wants of session ids, and not long.
func plainToken(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e {
			return false
		}
	}
	return s != "" && len(s) <= 1024
}
