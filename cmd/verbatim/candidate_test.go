package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/config"
)

// composed is a home with a tool, a policy and a candidate, in this process.
func composed(t *testing.T, candidate string) (*parts, *verbatim.Gate) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"catalog.yaml": "version: \"1\"\ntools:\n  pay:\n    impact: ordinary\n    reason: Test money.\n    schema: {type: object, properties: {amount: {type: integer}}}\n",
		"policy.cedar": `@id("all") permit (principal, action == Action::"pay", resource);`,
		"next.cedar":   candidate,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	home := config.Home(dir)
	cfg, err := config.Load(home, home.Config(), true)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Policy, cfg.Candidate = filepath.Join(dir, "policy.cedar"), filepath.Join(dir, "next.cedar")
	p, err := compose(home, cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	tools, err := loadCatalog(cfg.Catalog)
	if err != nil {
		t.Fatal(err)
	}
	pay, _ := tools.Tool("pay")
	set, err := verbatim.NewToolset(verbatim.Bound{Tool: pay, Handler: execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
		return execute.Output{Bytes: []byte(`{}`)}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	return p, p.gate.With(set)
}

func pay(t *testing.T, gate *verbatim.Gate, args string) string {
	t.Helper()
	s := verbatim.Session{Tenant: localTenant, Principal: "ann", Owner: "ann", Agent: "bot"}
	o, err := gate.Call(t.Context(), s, verbatim.Call{Tool: "pay", Arguments: []byte(args)})
	if err != nil || o.Status != verbatim.StatusOK {
		t.Fatalf("%+v, %v", o, err)
	}
	return o.ActionID
}

func TestPageVerifiesWhatTheGateHasRecorded(t *testing.T) {
	t.Parallel()
	p, gate := composed(t, `permit (principal, action == Action::"pay", resource);`)
	id := pay(t, gate, `{"amount":1}`)
	if _, err := p.verify(t.Context(), localTenant, id); err == nil {
		t.Fatal("what no checkpoint covers is verified")
	}
	if _, err := p.sequence.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	e, err := p.verify(t.Context(), localTenant, id)
	if err != nil || !e.ByLog || len(e.Steps) != 2 || e.Action != id {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := p.verify(t.Context(), "other", id); !errors.Is(err, action.ErrNotFound) {
		t.Errorf("another tenant's action: %v", err)
	}
}

func TestPageTellsWhatTheCandidateWouldChange(t *testing.T) {
	t.Parallel()
	p, gate := composed(t, `@id("small") permit (principal, action == Action::"pay", resource) when { context.args has amount && context.args.amount < 10 };`)
	pay(t, gate, `{"amount":1}`)
	id := pay(t, gate, `{"amount":100}`)
	p.beside.close() // so that both are kept
	d, err := p.diff(t.Context(), localTenant, time.Now().Add(-time.Hour))
	if err != nil || d.Problem != "" {
		t.Fatal(err, d.Problem)
	}
	for name, r := range map[string]struct{ calls, flips int }{"recorded": {d.Recorded.Counts.Calls, d.Recorded.Counts.Flips}, "beside": {d.Beside.Counts.Calls, d.Beside.Counts.Flips}} {
		if r.calls != 2 || r.flips != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	counted := map[string]float64{}
	for _, s := range p.meters.registry.Samples(t.Context()) {
		if s.Family.Name == "verbatim_candidate_calls" {
			counted[s.Values[0]] = s.Value
		}
	}
	if counted["changed"] != 1 || counted["same"] != 1 || counted["dropped"] != 0 || len(counted) != 7 {
		t.Errorf("counted %v", counted)
	}
	if len(d.Recorded.Changes) != 1 || d.Recorded.Changes[0].Action != id || d.Beside.Changes[0].Action != id {
		t.Errorf("%+v, %+v", d.Recorded.Changes, d.Beside.Changes)
	}
}

func TestCandidateThatDoesNotLoadIsSaidAndStopsNothing(t *testing.T) {
	t.Parallel()
	p, gate := composed(t, `permit (principal, action == Action::"nothing", resource);`)
	pay(t, gate, `{"amount":1}`)
	d, err := p.diff(t.Context(), localTenant, time.Now().Add(-time.Hour))
	if err != nil || d.Problem == "" || d.Recorded.Counts.Calls != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	// Mended, it is the candidate from then on.
	if err := os.WriteFile(p.cfg.Candidate, []byte(`permit (principal, action == Action::"pay", resource);`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.rules.reload(); err != nil {
		t.Fatal(err)
	}
	if d, err = p.diff(t.Context(), localTenant, time.Now().Add(-time.Hour)); err != nil || d.Problem != "" || d.Recorded.Counts.Calls != 1 {
		t.Errorf("mended: %+v, %v", d, err)
	}
}
