package remote_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/remote"
)

// TestARunWhoseTimeIsOverIsNotSent: a run listens for a while after its
// deadline, but what had not left by then never leaves. Here the credential
// takes longer than the run may.
func TestARunWhoseTimeIsOverIsNotSent(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"on the short way": 1, "by package http": 32 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var came atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				came.Add(1)
				answer(w, http.StatusOK, "application/json", document(idOf(r)))
			}))
			t.Cleanup(s.Close)
			slow := make(chan time.Duration, 2)
			l, err := remote.New(remote.Config{URL: s.URL, Credential: func(context.Context) (string, string, error) {
				time.Sleep(<-slow)
				return "Authorization", secret, nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(l.Close)
			m, err := call(t).WithArguments([]byte(`{"x":"` + strings.Repeat("a", size) + `"}`))
			if err != nil {
				t.Fatal(err)
			}
			slow <- 0
			if _, err := l.Run(t.Context(), m, gate.Trip{}); err != nil { // so that a connection is there
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			slow <- 60 * time.Millisecond
			if _, err := l.Run(ctx, m, gate.Trip{}); !errors.Is(err, execute.ErrNotRun) {
				t.Errorf("%v, want %v", err, execute.ErrNotRun)
			}
			if n := came.Load(); n != 1 {
				t.Errorf("%d requests came, want 1", n)
			}
		})
	}
}
