package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// The limits of a stream of events.
const (
	MaxStream   = 5 * time.Minute  // then it ends, and the client comes again
	heartbeat   = 15 * time.Second // so that whoever stands between keeps it open
	slowestRead = 10 * time.Second // of one event by its client
	// lookAnyway is after how many looks at the action its records are read even
	// though it seems the same.
	lookAnyway = 20
	reconnect  = "retry: 1000\n\n" // milliseconds
)

var errLastEvent = errors.New("Last-Event-ID must be the id of one event, a positive integer")

// events streams what the log gets of an action (WHATWG HTML, server-sent
// events): each record with its number as id, and how the action stands after
// them. The stream ends when the action never changes again. With
// Last-Event-ID it goes on behind that record; where nothing can follow, the
// answer is 204, so that the client comes no more.
func (a *API) events(w http.ResponseWriter, r *request) {
	last, err := lastEvent(r.Header)
	if err != nil {
		a.badRequest(w, http.StatusBadRequest, err)
		return
	}
	leave, ok := a.waiting.enter(r.caller.Session)
	if !ok {
		a.tooMany(w)
		return
	}
	defer leave()
	f := &follower{api: a, request: r, last: last}
	news, err := f.news()
	switch {
	case err != nil:
		a.noAction(w, err)
	case len(news) == 0 && last > 0 && f.seen.State.Terminal():
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusNoContent)
	default:
		s := openStream(w)
		defer s.close()
		if s.send(reconnect) {
			f.follow(s, news)
		}
	}
}

// tooMany refuses somebody who has all places of their principal taken.
func (a *API) tooMany(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	a.Refuse(w, http.StatusTooManyRequests, "too many requests of this principal are waiting")
}

// lastEvent reads Last-Event-ID; 0 where there is none.
func lastEvent(h http.Header) (int64, error) {
	values := h.Values("Last-Event-ID")
	if len(values) == 0 {
		return 0, nil
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil || len(values) != 1 || n < 1 || strconv.FormatInt(n, 10) != values[0] {
		return 0, errLastEvent
	}
	return n, nil
}

// follower tells one client of one action.
type follower struct {
	api     *API
	request *request
	seen    action.Action // as it stood before the records were read
	last    int64         // number of the last record that was told
	looks   int
}

// news returns the records that are new, oldest first. The action is read
// before them, so that a final state is never told without its record.
func (f *follower) news() ([]audit.Record, error) {
	found, err := f.api.own(f.request, f.request.id)
	if err != nil {
		return nil, err
	}
	same := found.State == f.seen.State && found.Fence == f.seen.Fence && found.UpdatedAt.Equal(f.seen.UpdatedAt)
	f.seen, f.looks = found, f.looks+1
	if same && f.looks%lookAnyway != 0 {
		return nil, nil
	}
	var out []audit.Record
	for before := int64(0); ; {
		page, err := f.api.cfg.Actions.Records(f.request.Context(), audit.Filter{Tenant: found.Tenant, Action: found.ID, Limit: MaxPage, Before: before})
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			if r.Seq > f.last {
				out = append(out, r)
			}
			before = r.Seq
		}
		if len(page) < MaxPage || before <= f.last {
			break
		}
	}
	slices.Reverse(out)
	if len(out) > 0 {
		f.last = out[len(out)-1].Seq
	}
	return out, nil
}

// follow tells until the action is final, time is up, or somebody goes.
func (f *follower) follow(s *stream, news []audit.Record) {
	end, beat := time.NewTimer(f.api.cfg.Stream), time.NewTicker(heartbeat)
	defer end.Stop()
	defer beat.Stop()
	again := time.NewTicker(f.api.cfg.Pause)
	defer again.Stop()
	told := action.State("")
	for {
		if !s.records(news) || f.seen.State != told && !s.state(f.seen) {
			return
		}
		told = f.seen.State
		if told.Terminal() || !f.rest(s, end.C, beat.C, again.C) {
			return
		}
		var err error
		if news, err = f.news(); err != nil {
			if !errors.Is(err, action.ErrNotFound) && !errors.Is(err, context.Canceled) {
				f.api.cfg.Log.Error("a stream of events broke off", "error", err)
			}
			return
		}
	}
}

// rest waits until it is time for another look; false where there is none.
func (f *follower) rest(s *stream, end, beat, again <-chan time.Time) bool {
	for {
		select {
		case <-f.request.Context().Done():
			return false
		case <-f.api.cfg.Calls.Done():
			return false
		case <-end:
			return false
		case <-beat:
			if !s.send(": still here\n\n") {
				return false
			}
		case <-again:
			return true
		}
	}
}

// stream is an open answer of events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func openStream(w http.ResponseWriter) *stream {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no") // proxies pass events on as they come
	w.WriteHeader(http.StatusOK)
	return &stream{w, http.NewResponseController(w)}
}

// send writes one event; false where the client has gone or does not read.
func (s *stream) send(text string) bool {
	_ = s.control.SetWriteDeadline(time.Now().Add(slowestRead)) // a recorder has none
	_, err := s.w.Write([]byte(text))
	return err == nil && s.control.Flush() == nil
}

// close leaves the connection as it was, for the next request on it.
func (s *stream) close() { _ = s.control.SetWriteDeadline(time.Time{}) }

func (s *stream) records(news []audit.Record) bool {
	for _, r := range news {
		text, err := json.Marshal(recordOf(r))
		if err != nil || !s.send(fmt.Sprintf("id: %d\nevent: record\ndata: %s\n\n", r.Seq, text)) {
			return false
		}
	}
	return true
}

// state tells how the action stands, without what the tool answered.
func (s *stream) state(a action.Action) bool {
	text, err := json.Marshal(brief(a))
	return err == nil && s.send(fmt.Sprintf("event: state\ndata: %s\n\n", text))
}
