package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// How the client waits.
const (
	pollSeconds  = 50
	longestQuiet = 45 * time.Second // a stream has a comment every 15 seconds
	mostStreams  = 6                // that break off without news, before it polls
)

// Wait returns an action once its state is none of the past ones, or never
// changes again. It follows the action's events, and polls where those do not
// come through. It ends with ctx.
func (c *Client) Wait(ctx context.Context, id string, past ...action.State) (Action, error) {
	w := &waiter{client: c, id: id, past: past}
	for broken := 0; broken < mostStreams; {
		news, err := w.stream(ctx)
		switch {
		case err == nil && w.over:
			return c.Action(ctx, id)
		case errors.Is(err, errNoStream):
			return w.poll(ctx)
		case err != nil && (ctx.Err() != nil || !errors.Is(err, errBroken)):
			return Action{}, err
		case news:
			broken = 0
		default:
			broken++
		}
		if err := c.pause(ctx, broken); err != nil {
			return Action{}, err
		}
	}
	return w.poll(ctx)
}

// pause rests before the next stream, longer after several that broke off.
func (c *Client) pause(ctx context.Context, broken int) error {
	rest := min(c.cfg.Rest<<broken, longestRest)
	wait := time.NewTimer(rest)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return nil
	}
}

// waiter waits for one action.
type waiter struct {
	client *Client
	id     string
	past   []action.State
	last   string // id of the last event
	over   bool   // the state is another
}

var (
	errNoStream = errors.New("there are no events here")
	errBroken   = errors.New("the events broke off")
)

// done: the wait is over in this state.
func (w *waiter) done(s action.State) bool { return s.Terminal() || !known(w.past, s) }

// stream follows the events until the wait is over or they end. news says
// whether any came.
func (w *waiter) stream(ctx context.Context) (news bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(longestQuiet, cancel) // nothing at all came
	defer quiet.Stop()
	r, err := w.client.listen(ctx, w.id, w.last)
	if err != nil {
		return false, err
	}
	if r == nil { // nothing can follow
		w.over = true
		return false, nil
	}
	defer r.Body.Close()
	s := newEvents(touched{r.Body, func() { quiet.Reset(longestQuiet) }})
	for {
		e, err := s.next()
		w.last = s.last
		if err != nil {
			return news, fmt.Errorf("%w: %w", errBroken, err)
		}
		news = true
		if e.name != "state" {
			continue
		}
		o, err := parse([]byte(e.data))
		if err != nil {
			return news, err
		}
		if state := o.state("state", true); *o.err != nil || w.done(state) {
			w.over = true
			return news, *o.err
		}
	}
}

// touched tells of everything that is read.
type touched struct {
	from interface{ Read([]byte) (int, error) }
	tell func()
}

func (t touched) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	if n > 0 {
		t.tell()
	}
	return n, err
}

// listen opens a stream behind an event; nil where nothing can follow. It
// fails with errNoStream where there are no streams, and with errBroken where
// another try may help.
func (c *Client) listen(ctx context.Context, id, last string) (*http.Response, error) {
	r, err := c.openStream(ctx, id, last)
	switch {
	case errors.Is(err, errToken):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	case r.StatusCode == http.StatusOK && mediaType(r.Header) == "text/event-stream":
		return r, nil
	}
	defer r.Body.Close()
	switch r.StatusCode {
	case http.StatusNoContent:
		return nil, nil
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		return nil, errBroken
	default: // a long poll says what is wrong, or works
		return nil, errNoStream
	}
}

func (c *Client) openStream(ctx context.Context, id, last string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.origin+actionPath(id)+"/events", nil)
	if err != nil {
		return nil, err
	}
	token, err := c.cfg.Token(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errToken, err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept", "text/event-stream")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	return c.http.Do(r)
}

// poll asks with long polls.
func (w *waiter) poll(ctx context.Context) (Action, error) {
	path := actionPath(w.id)
	for {
		found, err := w.client.Action(ctx, w.id)
		if err != nil || w.done(found.State) {
			return found, err
		}
		query := fmt.Sprintf("?wait=%d&state=%s", pollSeconds, url.QueryEscape(string(found.State)))
		began := time.Now()
		got, err := w.client.get(ctx, path+query, pollSeconds*time.Second+quick)
		if err != nil {
			return Action{}, err
		}
		if found, err = got.action(); err != nil || w.done(found.State) {
			return found, err
		}
		if time.Since(began) < time.Second { // the gateway ends, or does not hold requests
			if err := w.client.pause(ctx, 2); err != nil {
				return Action{}, err
			}
		}
	}
}
