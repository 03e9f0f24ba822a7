package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// The child process is this test binary with the path of the store in
// killPath; killCount asks for more cycles than the short form.
const (
	killPath  = "VERBATIM_KILL_PATH"
	killCount = "VERBATIM_KILLS"
)

func TestMain(m *testing.M) {
	if from := os.Getenv(restoreFrom); from != "" {
		fmt.Println(putBack(os.Getenv(killPath), from))
		os.Exit(0)
	}
	if path := os.Getenv(sequencePath); path != "" {
		fmt.Fprintln(os.Stderr, sequenceAlways(path))
		os.Exit(1)
	}
	if path := os.Getenv(readPath); path != "" {
		fmt.Fprintln(os.Stderr, readAndDie(path))
		os.Exit(1)
	}
	if path := os.Getenv(killPath); path != "" {
		fmt.Fprintln(os.Stderr, work(path))
		os.Exit(1)
	}
	if shortened > 1 { // a flag on the command line still wins: it is read later
		if err := flag.Set("rapid.checks", strconv.Itoa(200/shortened)); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// work opens the store and uses it until somebody kills the process. It
// tells each acknowledged verb on its standard output.
func work(path string) error {
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		return err
	}
	s, err := sqlite.Open(path, sqlite.Options{Sealer: sealer})
	if err != nil {
		return err
	}
	ctx := context.Background()
	for {
		a, err := newCall(ctx, s, "act_"+rand.Text())
		if err != nil {
			return err
		}
		read := a
		read.ID, read.Mutation = "read"+a.ID, false
		if _, err := s.Decide(ctx, read); err != nil {
			return err
		}
		fmt.Println("read", read.ID)
		if _, err := s.Begin(ctx, action.Start{Action: a, Lease: time.Hour}); err != nil {
			return err
		}
		fmt.Println("begun", a.ID)
		if _, err := s.Finish(ctx, action.Ending{ID: a.ID, Fence: 1, State: action.Succeeded}); err != nil {
			return err
		}
		fmt.Println("done", a.ID)
	}
}

// TestKillLosesNothingAcknowledged kills the process that writes at random
// points, opens the store again and asks for everything that was
// acknowledged.
func TestKillLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	cycles := 100 / shortened
	if text := os.Getenv(killCount); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		cycles = n
	}
	path := filepath.Join(t.TempDir(), "store.db")
	uncertain := 0
	for range cycles {
		uncertain += checkKilled(t, path, runAndKill(t, path))
	}
	t.Logf("%d kills, %d runs left uncertain", cycles, uncertain)
}

// runAndKill returns what the child acknowledged before it died.
func runAndKill(t *testing.T, path string) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killPath+"="+path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var seed [4]byte
	rand.Read(seed[:])
	n := binary.BigEndian.Uint32(seed[:])
	stop := 1 + int(n%9)
	delay := time.Duration(n>>8%4000) * time.Microsecond
	var acknowledged []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if acknowledged = append(acknowledged, lines.Text()); len(acknowledged) == stop {
			time.AfterFunc(delay, func() { cmd.Process.Kill() })
		}
	}
	cmd.Wait()
	if len(acknowledged) < stop {
		t.Fatalf("the child ended by itself: %s", stderr.String())
	}
	return acknowledged
}

// checkKilled opens the store and compares. It returns how many runs were
// left uncertain.
func checkKilled(t *testing.T, path string, acknowledged []string) int {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.Options{Sealer: fixedSealer(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	moved, err := s.Expire(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]bool{}
	for _, line := range acknowledged {
		what, id, _ := strings.Cut(line, " ")
		done[id] = done[id] || what == "done"
	}
	for id, finished := range done {
		records, err := s.Records(t.Context(), audit.Filter{Action: id})
		if err != nil || len(records) == 0 {
			t.Fatalf("%s was acknowledged and has no record: %v", id, err)
		}
		if strings.HasPrefix(id, "read") {
			continue
		}
		row, err := s.Action(t.Context(), "acme", id)
		if err != nil {
			t.Fatalf("%s was acknowledged: %v", id, err)
		}
		// A run whose end was not acknowledged may have ended all the same.
		if row.State != action.Succeeded && (finished || row.State != action.Uncertain) {
			t.Fatalf("%s finished %t, is %s", id, finished, row.State)
		}
		if records[0].To != string(row.State) {
			t.Fatalf("%s is %s, its last record says %s", id, row.State, records[0].To)
		}
	}
	return len(moved)
}
