package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// TestFullDiskRefusesAndLosesNothing fills a store that may not grow: every
// verb that was acknowledged is there, every other left nothing, and reading
// goes on.
func TestFullDiskRefusesAndLosesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Open(path, sqlite.Options{Sealer: fixedSealer(t), MaxPages: 120})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	kept := 0
	for ; err == nil; kept++ {
		a := allowed(t, s, fmt.Sprintf("act_%d", kept))
		_, err = s.Begin(t.Context(), action.Start{Action: a, Lease: time.Hour})
	}
	kept-- // the last one failed
	if !errors.Is(err, sqlite3.FULL) {
		t.Fatalf("error %v, want one of a full disk", err)
	}
	for i := range kept + 1 {
		_, err := s.Action(t.Context(), "acme", fmt.Sprintf("act_%d", i))
		if want := i < kept; (err == nil) != want {
			t.Fatalf("row %d of %d: %v", i, kept, err)
		}
	}
	// A result that does not fit is refused as well; the row stays executing.
	big := action.Ending{ID: "act_0", Fence: 1, State: action.Succeeded, Result: action.Result{Output: make([]byte, 1<<20)}}
	if row, err := s.Finish(t.Context(), big); !errors.Is(err, sqlite3.FULL) || row.ID != "" {
		t.Fatalf("finish: %v", err)
	}
	if row, err := s.Action(t.Context(), "acme", "act_0"); err != nil || row.State != action.Executing {
		t.Fatalf("%s, %v", row.State, err)
	}
}

// TestOneLargeVerbDoesNotSinkTheOthers queues verbs that fit beside one that
// does not, so that they share a commit.
func TestOneLargeVerbDoesNotSinkTheOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Open(path, sqlite.Options{Sealer: fixedSealer(t), MaxPages: 300})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 20 {
		begin(t, s, fmt.Sprintf("act_%d", i))
	}
	errs := make([]error, 20)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			e := action.Ending{ID: fmt.Sprintf("act_%d", i), Fence: 1, State: action.Succeeded}
			if i%5 == 0 {
				e.Result.Output = make([]byte, 4<<20)
			}
			_, errs[i] = s.Finish(context.Background(), e)
		}()
	}
	wg.Wait()
	for i, err := range errs {
		row, readErr := s.Action(t.Context(), "acme", fmt.Sprintf("act_%d", i))
		if readErr != nil {
			t.Fatal(readErr)
		}
		large := i%5 == 0
		if large != errors.Is(err, sqlite3.FULL) || large != (row.State == action.Executing) {
			t.Errorf("verb %d (large %t): error %v, row %s", i, large, err, row.State)
		}
	}
}

func TestACancelledVerbDoesNothing(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	a := allowed(t, s, "act_1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Begin(ctx, action.Start{Action: a, Lease: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Fatalf("begin: %v", err)
	}
	if _, err := s.Action(ctx, "acme", "act_1"); !errors.Is(err, context.Canceled) && !errors.Is(err, sqlite3.INTERRUPT) {
		t.Fatalf("read: %v", err)
	}
	if _, err := s.Action(t.Context(), "acme", "act_1"); !errors.Is(err, action.ErrNotFound) {
		t.Fatalf("the row is there: %v", err)
	}
	begin(t, s, "act_1")
}

func TestCloseWaitsForWhatIsWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Open(path, sqlite.Options{Sealer: fixedSealer(t)})
	if err != nil {
		t.Fatal(err)
	}
	calls := make([]action.Action, 50)
	for i := range calls {
		calls[i] = allowed(t, s, fmt.Sprintf("act_%d", i))
	}
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i := range calls {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, errs[i] = s.Begin(context.Background(), action.Start{Action: calls[i], Lease: time.Hour})
		}()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	again := openAt(t, path, nil)
	for i, err := range errs {
		if err != nil && !errors.Is(err, sqlite.ErrClosed) {
			t.Fatal(err)
		}
		_, read := again.Action(t.Context(), "acme", calls[i].ID)
		if (err == nil) != (read == nil) {
			t.Errorf("verb %d answered %v, read %v", i, err, read)
		}
	}
}
