package daemon_test

import (
	"bytes"
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// TestADaemonForgetsWhatIsPastItsTime: at once after its start, with the keys
// of the days.
func TestADaemonForgetsWhatIsPastItsTime(t *testing.T) {
	t.Parallel()
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{5}, 32))
	if err != nil {
		t.Fatal(err)
	}
	var later atomic.Int64
	now := func() time.Time { return verbatimtest.Start.Add(time.Duration(later.Load())) }
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "store.db"), sqlite.Options{Sealer: sealer, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	bound, err := verbatim.Untyped(catalog.Spec{Name: "note", Impact: catalog.Ordinary, Reason: "a note", Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"}}}`)},
		execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: []byte(`{}`)}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := verbatim.NewToolset(bound)
	if err != nil {
		t.Fatal(err)
	}
	deny := policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: policy.Deny, Reason: "test"}, nil
	})
	destroyed := make(chan []keys.Shelf, 8)
	gate, err := verbatim.New(verbatim.Config{Store: store, Tools: tools, Policy: deny, Denials: policy.ToolResult,
		Approvers:  []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}},
		ForgetKeys: func(before []keys.Shelf, _ bool, _ ...keys.Place) error { destroyed <- before; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	out, err := gate.Call(t.Context(), verbatim.Session{Tenant: "acme", Principal: "maria", Owner: "maria", Agent: "helper"},
		verbatim.Call{Tool: "note", Arguments: []byte(`{"text":"a"}`)})
	if err != nil || out.ActionID == "" {
		t.Fatalf("%+v, %v", out, err)
	}
	later.Store(int64(72 * time.Hour))
	start(t, func(c *daemon.Config) {
		c.Gate, c.Retention = gate, action.Retention{action.ClassMutation: 24 * time.Hour}
	})
	select {
	case before := <-destroyed:
		if len(before) != 1 || before[0] != (keys.Shelf{Class: byte(action.ClassMutation), Day: keys.DayOf(now().Add(-24 * time.Hour))}) {
			t.Errorf("%+v", before)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("nothing was forgotten")
	}
	row, err := gate.Action(t.Context(), "acme", out.ActionID)
	if err != nil || row.ErasedAt.IsZero() || row.Payload.Args != "" {
		t.Errorf("%+v, %v", row, err)
	}
}
