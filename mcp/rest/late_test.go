package rest_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/catalog/openapi"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/rest"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// A run listens for a while after its deadline, but what had not left by then
// never leaves.
func TestARunWhoseTimeIsOverIsNotSent(t *testing.T) {
	t.Parallel()
	s := newService(t, func(http.ResponseWriter, *http.Request) {})
	l := s.line(t, rest.Config{Credential: func(context.Context) (string, string, error) {
		time.Sleep(60 * time.Millisecond)
		return "Authorization", canary, nil
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := l.Run(ctx, message(t, "tools/call", `{"name":"get_note","arguments":{"id":"a"}}`), gate.Trip{}); !errors.Is(err, execute.ErrNotRun) {
		t.Errorf("%v, want %v", err, execute.ErrNotRun)
	}
	if got := s.seen(); len(got) > 0 {
		t.Errorf("these left: %v", got)
	}
}

const bodiless = `openapi: 3.1.0
paths:
  /notes:
    delete: {operationId: drop}
    post: {operationId: add}
    get: {operationId: look}
`

// A request is sent once, whatever package http thinks of it: it takes one with
// a key and without a body for one that may be sent again.
func TestARequestThatWasLostIsNotSentAgain(t *testing.T) {
	t.Parallel()
	found, _, err := openapi.Read([]byte(bodiless))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range found {
		for name, meta := range map[string]string{"with a key": `,"_meta":{"` + wire.MetaIdempotencyKey + `":"k"}`, "without": ""} {
			t.Run(o.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				var lose atomic.Bool // a cut line orders nothing between the handler and the test
				var keys atomic.Int32
				s := newService(t, func(_ http.ResponseWriter, r *http.Request) {
					keys.Add(int32(len(r.Header.Values("Idempotency-Key"))))
					if lose.Load() {
						panic(http.ErrAbortHandler)
					}
				})
				l, err := rest.New(rest.Config{Base: s.URL, Operations: found, Networks: loopback(), KeyHeader: "Idempotency-Key"})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(l.Close)
				m := message(t, "tools/call", `{"name":"`+o.Name+`","arguments":{}`+meta+`}`)
				if _, err := l.Run(t.Context(), m, gate.Trip{}); err != nil { // so that a connection is there
					t.Fatal(err)
				}
				lose.Store(true)
				if _, err := l.Run(t.Context(), m, gate.Trip{}); !errors.Is(err, execute.ErrLost) {
					t.Errorf("%v, want %v", err, execute.ErrLost)
				}
				want := int32(0)
				if meta != "" {
					want = 2
				}
				if got := s.seen(); len(got) != 2 || keys.Load() != want {
					t.Errorf("it received %q, %d keys", got, keys.Load())
				}
			})
		}
	}
}
