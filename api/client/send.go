package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// errand is one request, with what may be done about it.
type errand struct {
	method, path string
	body         []byte // nil for GET
	key          string // idempotency key; "" if none
	safe         bool   // repeating cannot start anything
	timeout      time.Duration
}

// answer is what came back, whole.
type answer struct {
	status int
	kind   string // media type
	header http.Header
	text   []byte
}

// errToken: the request was not sent, for want of a token.
var errToken = errors.New("there is no token")

// do sends a request until there is an answer, as often as that is safe.
func (c *Client) do(ctx context.Context, e errand) (answer, error) {
	rest := c.cfg.Rest
	for try := 1; ; try++ {
		got, err := c.once(ctx, e)
		if try == c.cfg.Tries || !e.mayRepeat(got, err) || ctx.Err() != nil {
			if err != nil && !e.safe && e.key == "" && !neverLeft(err) {
				err = fmt.Errorf("%w: %w", ErrUnclear, err)
			}
			return got, err
		}
		wait := time.NewTimer(max(rest, asked(got)))
		select {
		case <-ctx.Done():
			wait.Stop()
			return answer{}, ctx.Err()
		case <-wait.C:
		}
		rest = min(2*rest, longestRest)
	}
}

// mayRepeat: the request may be sent again, and it may help.
func (e errand) mayRepeat(got answer, err error) bool {
	again := e.safe || e.key != ""
	switch {
	case errors.Is(err, ErrAnswer), errors.Is(err, errToken):
		return false
	case err != nil:
		return again || neverLeft(err)
	case got.status == http.StatusTooManyRequests:
		return true // nothing was done
	case got.status == http.StatusServiceUnavailable, got.status == http.StatusBadGateway, got.status == http.StatusGatewayTimeout:
		return again
	default:
		return false
	}
}

// neverLeft: there was no connection or no token, so no byte of the request
// left.
func neverLeft(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, errToken)
}

// asked is how long the gateway wants the client to wait.
func asked(got answer) time.Duration {
	seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, longestRest)
}

// once sends a request one time and reads its whole answer.
func (c *Client) once(ctx context.Context, e errand) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	r, err := c.open(ctx, e, "application/json, application/problem+json")
	if err != nil {
		return answer{}, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer+1))
	if err != nil {
		return answer{}, err
	}
	if len(text) > maxAnswer {
		return answer{}, fmt.Errorf("%w: it is larger than %d bytes", ErrAnswer, maxAnswer)
	}
	return answer{r.StatusCode, mediaType(r.Header), r.Header, text}, nil
}

// open sends a request and returns the answer with its body unread.
func (c *Client) open(ctx context.Context, e errand, accept string) (*http.Response, error) {
	var body io.Reader
	if e.body != nil {
		body = bytes.NewReader(e.body)
	}
	r, err := http.NewRequestWithContext(ctx, e.method, c.origin+e.path, body)
	if err != nil {
		return nil, err
	}
	token, err := c.cfg.Token(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errToken, err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept", accept)
	if e.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if e.key != "" {
		r.Header.Set("Idempotency-Key", `"`+e.key+`"`)
		r.GetBody = nil // whether to send again is decided here
	}
	return c.http.Do(r)
}

func mediaType(h http.Header) string {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}
