package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/api"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// apiEntries are the routes of the decision API.
var apiEntries = []string{"GET /v1/openapi.json", "GET /v1/tools", "POST /v1/explain", "POST /v1/call", "POST /v1/authorize", "POST /v1/actions/{id}/outcome", "GET /v1/actions", "GET /v1/actions/{id}",
	"POST /v1/actions/{id}/dismiss", "GET /v1/actions/{id}/result", "GET /v1/actions/{id}/votes", "GET /v1/actions/{id}/records",
	"GET /v1/actions/{id}/receipts", "GET /v1/actions/{id}/evidence", "GET /v1/proposals", "GET /v1/actions/{id}/events"}

func TestNoRouteOfTheAPIRunsAToolWithoutAnApproval(t *testing.T) {
	t.Parallel()
	var found []string
	for _, r := range api.Routes() {
		found = append(found, r.Method+" "+r.Path)
	}
	sameEntries(t, found, append([]string(nil), apiEntries...))
	for _, route := range append(api.Routes(), api.Route{Method: http.MethodPost, Path: "/v1/execute"}) {
		t.Run(strings.ReplaceAll(route.Method+route.Path, "/", "_"), func(t *testing.T) {
			t.Parallel()
			r, s := newArena(t), &payServer{}
			h, err := hub.New(hub.Config{Gate: r.Gate, Binder: allUncataloged{}, Servers: []hub.Server{{Name: "files", Dial: s.dial}}})
			if err != nil {
				t.Fatal(err)
			}
			a, err := api.New(api.Config{Calls: h, Actions: r.Gate})
			if err != nil {
				t.Fatal(err)
			}
			e, err := endpoint.New(endpoint.Config{Hub: h, Beside: a, Hosts: []string{"example.com"}, Authority: anyToken{hub.Caller{Session: r.Session()}}})
			if err != nil {
				t.Fatal(err)
			}
			waiting := r.pending()
			for _, method := range []string{route.Method, http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
				askAPI(e, method, strings.ReplaceAll(route.Path, "{id}", waiting.ID), waiting)
			}
			h.Close(context.Background())
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, c := range s.calls {
				if m, err := wire.Parse([]byte(c), wire.Limits{}); err != nil || m.Method() == "tools/call" {
					t.Errorf("a call reached the server: %s", c)
				}
			}
			want := action.PendingApproval
			if strings.HasSuffix(route.Path, "/dismiss") {
				want = action.Revoked // its own principal withdraws it
			}
			if after, err := r.Gate.Action(t.Context(), "acme", waiting.ID); err != nil || after.State != want || len(r.seen()) > 0 {
				t.Errorf("the action that waits is %s, %v ran, %v", after.State, r.seen(), err)
			}
		})
	}
}

// askAPI proposes what needs a person, as it is and in the name of the action
// that waits.
func askAPI(e http.Handler, method, path string, waiting action.Action) {
	for _, body := range []string{`{}`, `{"toolName":"files.pay","arguments":"{\"n\":1}"}`,
		`{"toolName":"files.pay","arguments":"{\"n\":1}","approval":"` + waiting.ID + `"}`,
		`{"toolName":"files.pay","arguments":"{\"n\":1}","supersedes":"` + waiting.ID + `","waitSeconds":0}`} {
		for _, key := range []string{"", "k"} {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer x")
			if key != "" {
				r.Header.Set("Idempotency-Key", key)
			}
			e.ServeHTTP(httptest.NewRecorder(), r)
			cancel()
		}
	}
}
