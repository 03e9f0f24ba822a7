package sqlite_test

import (
	"bytes"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
	"github.com/seed-de4804fb/verbatim/store/storetest"
)

var (
	_ verbatim.Store = (*sqlite.Store)(nil)
	_ auth.Book      = (*sqlite.Store)(nil)
)

// fixedSealer is one whose key every test knows.
func fixedSealer(t testing.TB) *keys.Sealer {
	t.Helper()
	s, err := keys.NewSealer(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openAt(t testing.TB, path string, now func() time.Time) *sqlite.Store {
	t.Helper()
	return openWith(t, path, sqlite.Options{Sealer: fixedSealer(t), Now: now})
}

func openWith(t testing.TB, path string, opt sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func TestStorePassesTheSuite(t *testing.T) {
	t.Parallel()
	seen := &statements{texts: map[string]bool{}}
	t.Cleanup(func() { seen.check(t) })
	var opened atomic.Int64
	storetest.Run(t, func(t *testing.T, now func() time.Time) verbatim.Store {
		opt := sqlite.Options{Sealer: fixedSealer(t), Now: now}.ListEvery([]int{1, 5, 0}[opened.Add(1)%3])
		s := openWith(t, filepath.Join(t.TempDir(), "store.db"), opt)
		t.Cleanup(func() { seen.add(s) })
		return s
	})
}
