package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// The child process writes records and signs the log of sequencePath;
// sequenceCount asks for more kills than the short form.
const (
	sequencePath  = "VERBATIM_SEQUENCE_PATH"
	sequenceCount = "VERBATIM_SEQUENCE_KILLS"
)

// sequenceAlways signs the log until somebody kills the process, and tells
// each checkpoint on its standard output.
func sequenceAlways(path string) error {
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		return err
	}
	s, err := sqlite.Open(path, sqlite.Options{Sealer: sealer})
	if err != nil {
		return err
	}
	ctx := context.Background()
	go func() {
		for ; ; time.Sleep(100 * time.Microsecond) {
			a, err := newCall(ctx, s, "read"+rand.Text())
			if err != nil {
				return
			}
			a.Mutation = false
			if _, err := s.Decide(ctx, a); err != nil {
				return
			}
		}
	}()
	k, err := keys.NewSigner(keys.Checkpoints, bytes.Repeat([]byte{9}, 32))
	if err != nil {
		return err
	}
	q, err := audit.NewSequencer(s, k)
	if err != nil {
		return err
	}
	for {
		if _, err := q.Turn(ctx); err != nil {
			return err
		}
		signed, err := s.LatestCheckpoint(ctx)
		if err != nil {
			return err
		}
		if signed != nil {
			fmt.Println(base64.StdEncoding.EncodeToString(signed))
		}
	}
}

// TestAKilledSequencerLeavesNeitherForkNorGap kills the process that signs the
// log at random moments. Every checkpoint that it has ever shown must be of
// the one history that is there in the end.
func TestAKilledSequencerLeavesNeitherForkNorGap(t *testing.T) {
	t.Parallel()
	kills := 10 / shortened
	if text := os.Getenv(sequenceCount); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		kills = n
	}
	path := filepath.Join(t.TempDir(), "store.db")
	var shown [][]byte
	total := 0
	for range kills {
		now := signAndKill(t, path)
		total += len(now)
		checkShown(t, path, now)
		if n := len(now); n > 0 {
			shown = append(shown, now[0], now[n-1])
		}
	}
	r, err := verifyAt(t, path, shown...)
	if err != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if total < kills || r.Complete == 0 {
		t.Errorf("%d kills, %d checkpoints: the test is blind; %+v", kills, total, r)
	}
	t.Logf("%d kills, %d checkpoints shown, %d records", kills, total, r.Records)
}

// checkShown compares checkpoints with the tree that is there now.
func checkShown(t *testing.T, path string, shown [][]byte) {
	t.Helper()
	l, err := sqlite.OpenLog(path, options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, signed := range shown {
		c, err := audit.ReadUntrusted(signed)
		if err != nil {
			t.Fatal(err)
		}
		head, err := audit.HeadAt(c.Size, audit.HashesOf(t.Context(), l))
		if err != nil || head != c.Head {
			t.Errorf("a checkpoint of %d records is of another history: %v", c.Size, err)
		}
	}
}

// signAndKill returns the checkpoints that the child showed before it died.
func signAndKill(t *testing.T, path string) (shown [][]byte) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), sequencePath+"="+path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	delay := time.Duration(mathrand.IntN(20000)) * time.Microsecond
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		signed, err := base64.StdEncoding.DecodeString(lines.Text())
		if err != nil {
			break // cut off by the kill
		}
		if shown = append(shown, signed); len(shown) == 1 {
			time.AfterFunc(delay, func() { cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || stderr.Len() > 0 || len(shown) == 0 {
		t.Fatalf("the child ended by itself: %v: %s", err, stderr.String())
	}
	return shown
}
