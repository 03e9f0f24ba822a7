package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// readPath has the child process read and kill itself.
const readPath = "VERBATIM_READ_PATH"

// readAndDie dies as soon as its last read is answered, without another step.
func readAndDie(path string) error {
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		return err
	}
	s, err := sqlite.Open(path, sqlite.Options{Sealer: sealer})
	if err != nil {
		return err
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	ctx := context.Background()
	for i := range 10 {
		a, err := newCall(ctx, s, fmt.Sprintf("read_%d", i))
		if err != nil {
			return err
		}
		fmt.Println(a.ID)
		a.Mutation = false
		if _, err := s.Decide(ctx, a); err != nil {
			return err
		}
	}
	return self.Kill()
}

func TestAReadIsThereThoughItsAnswerWasTheLastStep(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), readPath+"="+path)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the child was not killed: %v", err)
	}
	var want []string
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		want = append(want, lines.Text())
	}
	if len(want) != 10 {
		t.Fatalf("the child made %d reads", len(want))
	}
	if diff := cmp.Diff(want, readsOf(t, openAt(t, path, nil))); diff != "" {
		t.Error(diff)
	}
	sound(t, path)
}

// left is what stands in the files of the journal.
func left(t *testing.T, path string) (out []byte) {
	t.Helper()
	for _, suffix := range journals {
		b, err := os.ReadFile(path + suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		out = append(out, bytes.Trim(b, "\x00")...)
	}
	return out
}

// What the log has taken in shall not be read again by anybody: later it may
// be erased there.
func TestNothingStaysInTheJournalOfWhatIsInTheLog(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*sqlite.Store){"as memory": func(*sqlite.Store) {}, "written": (*sqlite.Store).Roomless} {
		s, path := newStore(t)
		prepare(s)
		for i := range 50 {
			read(t, s, fmt.Sprintf("read_%d", i))
		}
		if got := len(readsOf(t, s)); got != 50 {
			t.Errorf("%s: %d reads in the log", name, got)
		}
		if b := left(t, path); len(b) > 0 {
			t.Errorf("%s: %d bytes are left", name, len(b))
		}
		read(t, s, "last")
		to := filepath.Join(t.TempDir(), "store.db")
		copyFiles(t, path, to, append(journals, "", "-wal")...)
		if got := readsOf(t, openAt(t, to, nil)); len(got) != 51 || got[50] != "last" {
			t.Errorf("%s: %d reads after a kill", name, len(got))
		}
	}
}

// A long row of reads has more than the room of a file.
func TestReadsThatFindNoRoomAreWrittenAllTheSame(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*sqlite.Store){"more than the room": func(*sqlite.Store) {}, "no room at all": (*sqlite.Store).Roomless} {
		s, path := newStore(t)
		prepare(s)
		allowed(t, s, "x")
		base := filepath.Join(t.TempDir(), "store.db")
		copyFiles(t, path, base, "", "-wal")
		db := raw(t, path)
		sql(t, db, "BEGIN IMMEDIATE") // nothing of it comes into the log
		const reads = 3 * sqlite.MapRoom >> 10
		for i := range reads {
			read(t, s, fmt.Sprintf("read_%d", i))
		}
		copyFiles(t, path, base, journals...)
		sql(t, db, "ROLLBACK")
		if b := left(t, path); len(b) > 0 && len(b) < sqlite.MapRoom {
			t.Fatalf("%s: %d bytes do not show anything", name, len(b))
		}
		list := allRecords(t, openAt(t, base, nil))
		if got := len(list); got < reads {
			t.Errorf("%s: %d records, want %d", name, got, reads)
		}
		sound(t, base)
	}
}

// Whoever cuts a file of the journal takes its memory away: that is a refused
// read, not the end of the process.
func TestACutJournalRefusesAReadAndLosesNone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("files of the journal are no memory here")
	}
	s, path := newStore(t)
	allowed(t, s, "x")
	db := raw(t, path)
	sql(t, db, "BEGIN IMMEDIATE")
	for i := range 3 {
		read(t, s, fmt.Sprintf("read_%d", i))
	}
	for _, suffix := range journals {
		if err := os.Truncate(path+suffix, 0); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	a := allowed(t, s, "read_3")
	a.Mutation = false
	_, err := s.Decide(t.Context(), a)
	sql(t, db, "ROLLBACK")
	if err == nil || !strings.Contains(err.Error(), "the memory of the journal") {
		t.Fatalf("error %v", err)
	}
	read(t, s, "read_4") // the long way
	if diff := cmp.Diff([]string{"read_0", "read_1", "read_2", "read_4"}, readsOf(t, s)); diff != "" {
		t.Error(diff)
	}
	sound(t, path)
}
