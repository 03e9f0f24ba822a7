package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// maxBody is the largest answer of a service in bytes. It stands twice in the
// result, and once more in escapes.
const maxBody = 2 << 20

var (
	errTooLarge = errors.New("the answer of the service is too large")
	errBroken   = errors.New("the answer of the service broke off")
)

// send makes one HTTP request, and calls begin just before it leaves. Its errors
// say whether the service can have it.
func (l *Line) send(ctx context.Context, r request, begin func() bool) (*http.Response, error) {
	var left atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		left.Store(true)
		begin() // where the time ends in this very moment it may leave all the same, and nobody knows
	}})
	out, credential, err := l.dressed(traced, r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", execute.ErrNotRun, err)
	}
	reply, err := l.by.RoundTrip(out)
	switch {
	case err == nil:
		if reply.StatusCode == http.StatusUnauthorized && l.cfg.Refused != nil {
			l.cfg.Refused(credential)
		}
		return reply, nil
	case !left.Load():
		return nil, fmt.Errorf("%w: %w", execute.ErrNotRun, unaddressed(err))
	case ctx.Err() != nil:
		return nil, ctx.Err()
	default:
		return nil, fmt.Errorf("%w: %w", execute.ErrLost, unaddressed(err))
	}
}

// dressed is the request with every header.
func (l *Line) dressed(ctx context.Context, r request) (out *http.Request, credential string, err error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	if out, err = http.NewRequestWithContext(ctx, r.method, l.base+r.target, body); err != nil {
		return nil, "", errBase
	}
	if l.base+r.target != out.URL.String() || out.URL.Host == "" {
		return nil, "", errSegment // it would be read in another way
	}
	out.GetBody = nil // nothing is sent twice
	for _, h := range r.header {
		out.Header.Set(h[0], h[1])
	}
	out.Header.Set("Accept", "application/json, */*;q=0.1")
	out.Header.Set("User-Agent", "verbatim")
	if r.body != nil {
		out.Header.Set("Content-Type", r.kind)
	}
	if l.cfg.Credential == nil {
		return out, "", nil
	}
	name, value, err := l.cfg.Credential(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("the credential for the service: %w", err)
	}
	out.Header.Set(name, value) // after what arguments say
	return out, value, nil
}

// unaddressed takes the address out of an error of package http.
func unaddressed(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		return outer.Err
	}
	return err
}

// verdict is what a status says about a run.
type verdict int

const (
	took     verdict = iota // it took effect
	reported                // the service's own word that it failed
	turned                  // the request was turned away before anything was done
	unclear                 // nobody knows
)

// judge reads a status (RFC 9110 §15).
func judge(status int) verdict {
	switch status {
	case http.StatusUnauthorized, http.StatusMethodNotAllowed, http.StatusLengthRequired, http.StatusPreconditionFailed,
		http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusUnsupportedMediaType, http.StatusExpectationFailed,
		http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusUpgradeRequired, http.StatusPreconditionRequired,
		http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge:
		return turned
	case http.StatusRequestTimeout:
		return unclear
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return reported
	}
	switch status / 100 {
	case 2:
		return took
	case 4:
		return reported
	default: // redirects that may follow an effect, and all that a server is at fault for
		return unclear
	}
}

// answer makes a tool result of a response.
func answer(ctx context.Context, id wire.ID, m *wire.Message, r *http.Response) (*wire.Message, error) {
	v := judge(r.StatusCode)
	switch v {
	case turned:
		return nil, fmt.Errorf("%w: the service answers with status %d", execute.ErrNotRun, r.StatusCode)
	case unclear:
		return nil, fmt.Errorf("%w: the service answers with status %d", execute.ErrLost, r.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%w: %w", execute.ErrLost, errBroken)
	case len(body) > maxBody:
		return nil, fmt.Errorf("%w: %w", execute.ErrLost, errTooLarge)
	}
	out, err := result(id, m, r, body, v == reported)
	if err != nil { // the frame would be too large
		return nil, fmt.Errorf("%w: %w", execute.ErrLost, errTooLarge)
	}
	return out, nil
}

// result tells of status and body. A body that is JSON stands there as it is.
func result(id wire.ID, m *wire.Message, r *http.Response, body []byte, failed bool) (*wire.Message, error) {
	out := wire.ToolResult{Text: readable(r.StatusCode, body), IsError: failed, Structured: fmt.Appendf(nil, `{"status":%d}`, r.StatusCode)}
	if m.ProtocolVersion() != "" {
		out.ResultType = "complete"
	}
	if isJSON(r.Header.Get("Content-Type")) && json.Valid(body) && utf8.Valid(body) {
		whole := out
		whole.Structured = fmt.Appendf(nil, `{"status":%d,"body":%s}`, r.StatusCode, body)
		if a, err := wire.NewToolResult(id, whole); err == nil {
			return a, nil
		} // nested too deep for a frame: the text says it
	}
	return wire.NewToolResult(id, out)
}

// readable is what a model reads of a body.
func readable(status int, body []byte) string {
	switch {
	case len(body) == 0:
		return fmt.Sprintf("The service answered with status %d and no body.", status)
	case !utf8.Valid(body):
		return fmt.Sprintf("The service answered with status %d and %d bytes that are no text.", status, len(body))
	default:
		return string(body)
	}
}

func isJSON(text string) bool {
	kind, _, err := mime.ParseMediaType(text)
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}
