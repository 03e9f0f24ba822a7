package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

const headerSession = "Mcp-Session-Id"

// refuse answers a request that holds no message to answer.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // whoever asked may have gone
}

// say answers with one message.
func say(w http.ResponseWriter, status int, m *wire.Message) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(m.Bytes()) // whoever asked may have gone
}

func fault(w http.ResponseWriter, status int, id wire.ID, code wire.Code, text string, data []byte) {
	m, err := wire.NewError(id, code, text, data)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "the answer could not be written")
		return
	}
	say(w, status, m)
}

// overloaded turns a request away that was not read, so that it has no id.
func overloaded(w http.ResponseWriter, status int, text string) {
	fault(w, status, wire.ID{}, wire.CodeOverloaded, text, fmt.Appendf(nil, `{"code":%q}`, verbatim.CodeOverloaded))
}

// post takes one message.
func (e *Endpoint) post(w http.ResponseWriter, r *http.Request, who Identity) {
	if !IsJSON(r.Header.Get("Content-Type")) {
		refuse(w, http.StatusUnsupportedMediaType, "the content type must be application/json")
		return
	}
	if busy := e.load.enter(who.Key); busy != (busyness{}) {
		busy.header(w)
		overloaded(w, busy.status, textBusy)
		return
	}
	defer e.load.leave(who.Key)
	m, ok := e.message(w, r)
	if !ok {
		return
	}
	if v := r.Header.Get(wire.HeaderVersion); m.Kind() == wire.KindRequest && m.ProtocolVersion() == "" && v >= wire.FirstStateless {
		fault(w, http.StatusBadRequest, m.ID(), wire.CodeInvalidParams, "_meta lacks the protocol version", nil)
		return
	}
	err := m.CheckHeaders(r.Header)
	if err == nil {
		var with *wire.Message
		if with, err = keyed(m, r.Header); err == nil {
			m = with
		}
	}
	if err != nil {
		mismatch(w, m, err)
		return
	}
	if m.ProtocolVersion() != "" {
		e.modern(w, r, who, m)
		return
	}
	e.legacy(w, r, who, m)
}

// IsJSON reports whether a content type is that of JSON.
func IsJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// bodyRoom is the room that a body gets before any of it is there: what it
// says that it is, if that is not much.
func bodyRoom(length int64) []byte {
	return make([]byte, 0, min(max(length, 0), 64<<10)+bytes.MinRead) // so that its end is seen without more
}

// message reads the body: one strictly parsed message.
func (e *Endpoint) message(w http.ResponseWriter, r *http.Request) (*wire.Message, bool) {
	read := bytes.NewBuffer(bodyRoom(r.ContentLength))
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(e.cfg.Limits.Body)) // where that is not possible the server's own applies
	_, err := read.ReadFrom(http.MaxBytesReader(w, r.Body, int64(e.cfg.Limits.Frame)))
	body := read.Bytes()
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		refuse(w, http.StatusRequestEntityTooLarge, "the message is larger than the limit; nothing was done")
		return nil, false
	}
	if err != nil { // the client has gone, or is too slow
		w.Header().Set("Connection", "close")
		refuse(w, http.StatusRequestTimeout, "the message did not come; nothing was done")
		return nil, false
	}
	_ = control.SetReadDeadline(time.Time{}) // the rest may take as long as it takes
	m, err := wire.Parse(body, e.frames)
	var bad *wire.Error
	if errors.As(err, &bad) {
		e.cfg.Log.Warn("a frame of a client was refused", "error", bad)
		say(w, http.StatusBadRequest, bad.Response())
		return nil, false
	}
	return m, err == nil
}

func mismatch(w http.ResponseWriter, m *wire.Message, err error) {
	var bad *wire.Error
	if !errors.As(err, &bad) {
		bad = &wire.Error{Code: wire.CodeHeaderMismatch, Rule: wire.RuleHeader, ID: m.ID()}
	}
	bad.ID = m.ID()
	say(w, http.StatusBadRequest, bad.Response())
}

// modern answers a request of the stateless era.
func (e *Endpoint) modern(w http.ResponseWriter, r *http.Request, who Identity, m *wire.Message) {
	if m.Kind() != wire.KindRequest {
		w.WriteHeader(http.StatusAccepted) // such notifications say nothing that outlives a request
		return
	}
	if v := m.ProtocolVersion(); v != wire.FirstStateless {
		data := fmt.Appendf(nil, `{"supported":[%q],"requested":%s}`, wire.FirstStateless, canon.StringValue(v).Canonical())
		fault(w, http.StatusBadRequest, m.ID(), wire.CodeUnsupportedVersion, "Unsupported protocol version", data)
		return
	}
	if m.Capabilities() == nil {
		fault(w, http.StatusBadRequest, m.ID(), wire.CodeInvalidParams, "_meta lacks the client's capabilities", nil)
		return
	}
	s := e.cfg.Hub.Once(who.Caller)
	defer s.Close()
	if m.Method() == "subscriptions/listen" {
		ctx, cancel := e.whileGood(r, who, s)
		defer cancel()
		r = r.WithContext(ctx)
	}
	if !s.Knows(m.Method()) {
		fault(w, http.StatusNotFound, m.ID(), wire.CodeMethodNotFound, "this method does not pass the gateway", nil)
		return
	}
	if m.Method() == "tools/call" {
		if err := m.CheckMirrorHeaders(s.Mirrors(r.Context(), m.Name()), r.Header); err != nil {
			mismatch(w, m, err)
			return
		}
	}
	e.exchange(w, r, s, m)
}

// legacy takes a message of a session, or begins one.
func (e *Endpoint) legacy(w http.ResponseWriter, r *http.Request, who Identity, m *wire.Message) {
	if m.Method() == "initialize" && m.Kind() == wire.KindRequest && len(r.Header.Values(headerSession)) == 0 {
		e.begin(w, r, who, m)
		return
	}
	s, ok := e.session(w, r, who, m.ID())
	if !ok {
		return
	}
	defer s.use()()
	switch m.Kind() {
	case wire.KindRequest:
		e.exchange(w, r, s.As(who.Caller), m)
	case wire.KindNotification:
		s.Notify(m)
		w.WriteHeader(http.StatusAccepted)
	default:
		s.Answer(m)
		w.WriteHeader(http.StatusAccepted)
	}
}

func (e *Endpoint) begin(w http.ResponseWriter, r *http.Request, who Identity, m *wire.Message) {
	s, ok := e.sessions.add(who, e.cfg.Hub.Legacy)
	if !ok {
		w.Header().Set("Retry-After", "1")
		overloaded(w, http.StatusTooManyRequests, "too many sessions are busy; nothing was done")
		return
	}
	defer s.use()()
	w.Header().Set(headerSession, s.id)
	e.exchange(w, r, s.Session, m)
	if s.Version() == "" { // it was not greeted
		e.sessions.remove(s)
	}
}

// session finds the session that a request names. id is that of the request,
// if any.
func (e *Endpoint) session(w http.ResponseWriter, r *http.Request, who Identity, id wire.ID) (*session, bool) {
	values := r.Header.Values(headerSession)
	if len(values) != 1 || values[0] == "" {
		fault(w, http.StatusBadRequest, id, wire.CodeInvalidRequest, "the request names no session: begin with initialize, or name a protocol version in _meta", nil)
		return nil, false
	}
	s, ok := e.sessions.find(who, values[0])
	if !ok {
		fault(w, http.StatusNotFound, id, wire.CodeInvalidRequest, "there is no such session", nil)
		return nil, false
	}
	if v := r.Header.Get(wire.HeaderVersion); v != "" && s.Version() != "" && v != s.Version() {
		fault(w, http.StatusBadRequest, id, wire.CodeInvalidRequest, "the session has another protocol version", nil)
		return nil, false
	}
	return s, true
}

// exchange answers one request, on a stream if there is something to say
// before the answer.
func (e *Endpoint) exchange(w http.ResponseWriter, r *http.Request, s *hub.Session, m *wire.Message) {
	streams := accepts(r, "text/event-stream")
	out := newReply(w, streams)
	defer out.close()
	var beside func(*wire.Message)
	if streams {
		beside = out.beside
	}
	answer := s.Request(r.Context(), m, beside)
	out.finish(answer, m.ProtocolVersion() != "")
}

func accepts(r *http.Request, kind string) bool {
	all := r.Header.Get("Accept")
	if values := r.Header.Values("Accept"); len(values) > 1 {
		all = strings.Join(values, ",")
	}
	if strings.Contains(all, kind) || strings.Contains(all, "*/*") {
		return true
	}
	family, _, _ := strings.Cut(kind, "/")
	return strings.Contains(all, family+"/*")
}

// get holds a session's stream for what belongs to no request.
func (e *Endpoint) get(w http.ResponseWriter, r *http.Request, who Identity) {
	if !accepts(r, "text/event-stream") {
		refuse(w, http.StatusNotAcceptable, "the stream is text/event-stream")
		return
	}
	if len(r.Header.Values(headerSession)) == 0 {
		w.Header().Set("Allow", "POST")
		refuse(w, http.StatusMethodNotAllowed, "a stream belongs to a session; without one, use subscriptions/listen")
		return
	}
	s, ok := e.session(w, r, who, wire.ID{})
	if !ok {
		return
	}
	if r.Header.Get("Last-Event-ID") != "" {
		refuse(w, http.StatusBadRequest, "streams cannot be taken up again")
		return
	}
	if !s.hold() {
		refuse(w, http.StatusConflict, "the session has its stream")
		return
	}
	defer s.release()
	defer s.use()()
	out := newReply(w, true)
	defer out.close()
	good, cancel := e.whileGood(r, who, s.Session)
	defer cancel()
	out.start()
	s.Outlet(out.beside)
	defer s.Outlet(nil)
	select {
	case <-good.Done():
	case <-s.Done():
	case <-out.broken:
	}
}

// delete ends a session.
func (e *Endpoint) delete(w http.ResponseWriter, r *http.Request, who Identity) {
	if len(r.Header.Values(headerSession)) == 0 {
		w.Header().Set("Allow", "POST")
		refuse(w, http.StatusMethodNotAllowed, "there is no session to end")
		return
	}
	s, ok := e.session(w, r, who, wire.ID{})
	if !ok {
		return
	}
	e.sessions.remove(s)
	w.WriteHeader(http.StatusNoContent)
}
