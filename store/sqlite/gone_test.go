package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// Callers that leave at any moment, also just before their read begins, spoil no
// read of anybody else.
func TestReadsOfCallersThatLeaveSpoilNoOther(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "verbatim.db"), options(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	begin(t, s, "a")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 3000 {
				ctx, cancel := context.WithCancel(context.Background())
				if j%2 == 0 {
					cancel()
				} else {
					time.AfterFunc(time.Duration(i*j%50)*time.Microsecond, cancel)
				}
				_, _ = s.Records(ctx, audit.Filter{Tenant: "acme", Action: "a"})
				cancel()
				if _, err := s.Actions(context.Background(), action.Filter{Tenant: "acme"}); err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("a read of somebody else: %v", err)
					return
				}
			}
		})
	}
	all.Wait()
}
