package endpoint

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// doors say whose tokens are accepted. They never change: Replace puts others
// in their place.
type doors struct {
	authority Authority
	resource  *Resource
	gone      chan struct{} // closed when others are in their place
}

func newDoors(a Authority, about *Resource) *doors {
	return &doors{authority: a, resource: about, gone: make(chan struct{})}
}

// Replace puts another authority in force, with the metadata that go with it;
// nil are none. The next request is checked by it, and streams that are open
// end if their token is not accepted any more. Requests under way finish.
func (e *Endpoint) Replace(a Authority, about *Resource) error {
	if a == nil {
		return errors.New("an endpoint without authority")
	}
	close(e.doors.Swap(newDoors(a, about)).gone)
	return nil
}

// lookAgain is how often the token of an open stream is checked.
const lookAgain = time.Minute

// whileGood returns a context that ends when the token of a request does not
// stand for its caller any more. A stream may be open for longer than that.
// What the caller is told of is that of its token as it is: a session learns
// that, and where there is none (nil) the context ends.
func (e *Endpoint) whileGood(r *http.Request, who Identity, s *hub.Session) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.Context())
	go func() {
		defer cancel()
		tick := time.NewTicker(lookAgain)
		defer tick.Stop()
		for {
			now := e.doors.Load()
			if !e.still(r.WithContext(ctx), who, s) {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-now.gone:
			case <-tick.C:
			}
		}
	}()
	return ctx, cancel
}

// still reports whether a token stands for the same caller, and tells the
// session what that may hear of now. That it cannot be
// found out ends no stream: what it says is no call, and the next one is
// checked again.
func (e *Endpoint) still(r *http.Request, who Identity, s *hub.Session) bool {
	now, err := e.identify(r)
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		e.cfg.Log.Info("a stream is ended, for its token is not accepted any more", "error", refused)
		return false
	case err != nil:
		return true
	}
	if now.Key != who.Key || !samePrincipal(now.Caller.Session, who.Caller.Session) {
		return false
	}
	if s == nil {
		return reflect.DeepEqual(now.Caller.Servers, who.Caller.Servers) && reflect.DeepEqual(now.Caller.Tools, who.Caller.Tools)
	}
	s.Renew(now.Caller)
	return true
}
