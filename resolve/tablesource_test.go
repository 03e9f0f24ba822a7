package resolve_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

// elsewhere is a source that a test changes.
type elsewhere struct {
	mu      sync.Mutex
	rows    []resolve.Row
	version string
	err     error
	asked   int
}

func (e *elsewhere) Rows(context.Context) ([]resolve.Row, string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked++
	return e.rows, e.version, e.err
}

func (e *elsewhere) set(id string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rows, e.err = []resolve.Row{{Alias: "Acme", ID: id}}, err
}

func sourced(t *testing.T, s resolve.Source, refresh time.Duration) *resolve.Table {
	t.Helper()
	table, err := resolve.NewSourceTable(s, refresh, resolve.TableOptions{Fold: true})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestSourceIsAskedForEveryCallWithoutRefresh(t *testing.T) {
	t.Parallel()
	e := &elsewhere{}
	table := sourced(t, e, 0)
	if e.asked != 0 {
		t.Error("it was asked before a call")
	}
	versions := map[string]bool{}
	for _, id := range []string{"V1", "V2", "V1"} {
		e.set(id, nil)
		got, version, err := lookup(t, table, canon.StringValue("acme"))
		if err != nil || got != id {
			t.Errorf("%s: %q, %v", id, got, err)
		}
		versions[version] = true
	}
	if len(versions) != 2 {
		t.Errorf("versions %v", versions)
	}
}

func TestSourceThatFailsIsRefusedAndOldRowsAreNotUsed(t *testing.T) {
	t.Parallel()
	e := &elsewhere{version: "v7"}
	table := sourced(t, e, 0)
	e.set("V1", nil)
	if _, version, err := lookup(t, table, canon.StringValue("Acme")); err != nil || version != "v7" {
		t.Fatalf("%q, %v", version, err)
	}
	e.set("V1", canon.Refuse("/value", resolve.RuleAmbiguous, "what a source says of itself"))
	var vs canon.Violations
	if _, _, err := lookup(t, table, canon.StringValue("Acme")); err == nil || errors.As(err, &vs) {
		t.Errorf("got %v", err)
	}
	e.set("", nil) // a row without id
	if _, _, err := lookup(t, table, canon.StringValue("Acme")); err == nil {
		t.Error("a broken row was used")
	}
	e.set("V1", nil)
	if id, _, err := lookup(t, table, canon.StringValue("Acme")); err != nil || id != "V1" {
		t.Errorf("%q, %v", id, err)
	}
}

func TestSourceIsBelievedForItsRefresh(t *testing.T) {
	t.Parallel()
	e := &elsewhere{}
	e.set("V1", nil)
	table := sourced(t, e, resolve.MaxRefresh)
	for range 10 {
		if id, _, err := lookup(t, table, canon.StringValue("Acme")); err != nil || id != "V1" {
			t.Fatalf("%q, %v", id, err)
		}
		e.set("V2", errors.New("down"))
	}
	if e.asked != 1 {
		t.Errorf("asked %d times", e.asked)
	}
}

// stuck is a source that answers when it is told to.
type stuck struct{ asked, release chan struct{} }

func (s stuck) Rows(context.Context) ([]resolve.Row, string, error) {
	close(s.asked)
	<-s.release
	return []resolve.Row{{Alias: "Acme", ID: "V1"}}, "1", nil
}

func TestCallThatWaitsForAnothersQuestionEndsWithItsOwnContext(t *testing.T) {
	t.Parallel()
	s := stuck{make(chan struct{}), make(chan struct{})}
	table := sourced(t, s, time.Minute)
	in := map[string]canon.Value{"value": canon.StringValue("Acme")}
	first := make(chan error)
	go func() {
		_, err := table.Resolve(context.Background(), in)
		first <- err
	}()
	<-s.asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := table.Resolve(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(s.release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if _, err := table.Resolve(t.Context(), in); err != nil { // remembered, or close would panic
		t.Error(err)
	}
}

func TestSourceTableIsChecked(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func() (*resolve.Table, error){
		"no source": func() (*resolve.Table, error) { return resolve.NewSourceTable(nil, 0, resolve.TableOptions{}) },
		"negative refresh": func() (*resolve.Table, error) {
			return resolve.NewSourceTable(&elsewhere{}, -1, resolve.TableOptions{})
		},
		"long refresh": func() (*resolve.Table, error) {
			return resolve.NewSourceTable(&elsewhere{}, time.Hour, resolve.TableOptions{})
		},
	} {
		if _, err := make(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
