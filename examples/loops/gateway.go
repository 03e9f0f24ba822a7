package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// gateway is where calls go.
type gateway struct{ url, token string }

const waitSeconds = 60 // that the gateway holds one request

var errSilent = errors.New("the gateway does not answer")

// noRedirects: a token goes to the gateway and nowhere else.
var noRedirects = &http.Client{Timeout: (waitSeconds + 30) * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// reply is an answer of the gateway: to steer by, and as it came.
type reply struct {
	status int
	body   canon.Value
	text   []byte
}

// ask sends until there is an answer. Everything here may be repeated: it
// reads, or it has a key.
func (g gateway) ask(ctx context.Context, method, path string, body []byte, key string) (reply, error) {
	for attempt := range 6 {
		status, text, err := g.once(ctx, method, path, body, key)
		if err == nil && status != 429 && status != 502 && status != 503 && status != 504 {
			v, err := canon.Decode(text, canon.Options{MaxBytes: 16 << 20})
			return reply{status, v, text}, err
		}
		select {
		case <-ctx.Done():
			return reply{}, ctx.Err()
		case <-time.After(200 * time.Millisecond << attempt):
		}
	}
	return reply{}, errSilent
}

func (g gateway) once(ctx context.Context, method, path string, body []byte, key string) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, g.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+g.token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := noRedirects.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 16<<20))
	return answer.StatusCode, text, err
}

// call stays with one call until it has an end. The model gets the answer as
// it came: no number of a tool's result is written anew.
func (g gateway) call(ctx context.Context, tool, arguments, key, callID string) (reply, error) {
	body := object(text("toolName", tool), text("arguments", arguments), text("callId", callID)).Canonical()
	for {
		answer, err := g.ask(ctx, http.MethodPost, "/v1/call", body, key)
		if err != nil {
			return reply{}, err
		}
		status := at(answer.body, "/outcome/status") // "" where the request itself was refused
		if status != "approval_required" && status != "in_progress" {
			return answer, nil
		}
		// For people, or for the tool; then the very same call again.
		if err := g.wait(ctx, at(answer.body, "/outcome/data/actionId"), at(answer.body, "/outcome/data/state")); err != nil {
			return reply{}, err
		}
	}
}

func (g gateway) wait(ctx context.Context, action, state string) error {
	path := fmt.Sprintf("/v1/actions/%s?wait=%d&state=%s", url.PathEscape(action), waitSeconds, state)
	for {
		seen, err := g.ask(ctx, http.MethodGet, path, nil, "")
		if err != nil {
			return err
		}
		if seen.status != http.StatusOK {
			return fmt.Errorf("the action cannot be read: %d", seen.status)
		}
		if at(seen.body, "/state") != state {
			return nil
		}
	}
}
