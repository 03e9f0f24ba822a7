package remote

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// The pauses between attempts to open a stream.
const (
	firstPause = 200 * time.Millisecond
	lastPause  = 30 * time.Second
)

// Listen holds the stream on which a legacy server sends what belongs to no
// request, from its greeting until the line ends. It returns when the server
// has none. Servers of the stateless era have other means.
func (l *Line) Listen(other func(*wire.Message)) {
	select {
	case <-l.greetings:
	case <-l.end.Done():
		return
	}
	pause := firstPause
	for l.end.Err() == nil {
		began := time.Now()
		if !l.listenOnce(other) {
			return
		}
		if time.Since(began) > lastPause {
			pause = firstPause
		}
		select {
		case <-l.end.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// listenOnce reports whether it is worth trying again.
func (l *Line) listenOnce(other func(*wire.Message)) (again bool) {
	ctx, cancel := context.WithCancel(l.end)
	defer cancel()
	response, err := l.get(ctx, "")
	var status statusError
	if errors.As(err, &status) {
		return status/100 == 5
	}
	if err != nil {
		return true
	}
	defer response.Body.Close()
	in := wire.NewEventReader(response.Body, l.cfg.Limits)
	for {
		e, err := in.Read()
		var bad *wire.Error
		if errors.As(err, &bad) {
			l.log().Warn("a frame of the server was refused", "error", bad)
			continue
		}
		if err != nil {
			return true
		}
		if e.Message != nil && e.Message.Method() != "" {
			other(e.Message)
		}
	}
}

// statusError is a response that is no event stream.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("the server answers with status %d", int(s)) }

// get opens a stream: the server's own, or the rest of one after the event
// last. The caller closes the body.
func (l *Line) get(ctx context.Context, last string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.cfg.URL, nil)
	if err != nil {
		return nil, errAddress
	}
	request.Header.Set("Accept", "text/event-stream")
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	if _, err := l.own(ctx, request.Header); err != nil {
		return nil, err
	}
	response, err := l.http.RoundTrip(request)
	if err != nil {
		return nil, plain(err)
	}
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode != http.StatusOK || err != nil || kind != "text/event-stream" {
		response.Body.Close()
		return nil, statusError(response.StatusCode)
	}
	return response, nil
}
