package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// powerRuns asks for more runs than the short form.
const powerRuns = "VERBATIM_POWER_RUNS"

// disk is a file system of SQLite that remembers which writes were synced. A
// power cut keeps those, and of the others any part in any order.
type disk struct {
	vfs.VFS
	mu    sync.Mutex
	files map[string]*platter // guarded by mu
}

// platter is one file: what is on the disk for sure, and what may be.
type platter struct {
	synced  []byte
	pending []change
}

type change struct {
	off  int64
	data []byte // nil truncates to off
}

func (c change) apply(to []byte) []byte {
	if c.data == nil {
		return append(to[:min(int(c.off), len(to))], make([]byte, max(0, int(c.off)-len(to)))...)
	}
	if end := int(c.off) + len(c.data); end > len(to) {
		to = append(to, make([]byte, end-len(to))...)
	}
	copy(to[c.off:], c.data)
	return to
}

func (d *disk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, out, err := vfsutil.WrapOpenFilename(d.VFS, name, flags)
	if err != nil || name == nil {
		return f, out, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files[name.String()] == nil {
		content, err := os.ReadFile(name.String())
		if err != nil {
			return nil, 0, errors.Join(err, f.Close())
		}
		d.files[name.String()] = &platter{synced: content}
	}
	return &watched{File: f, disk: d, platter: d.files[name.String()]}, out, nil
}

func (d *disk) Delete(name string, syncDir bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.files, name)
	return d.VFS.Delete(name, syncDir)
}

// cut writes to dir what a power cut right now might leave.
func (d *disk) cut(t *testing.T, dir string, random *rand.Rand) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, p := range d.files {
		content := bytes.Clone(p.synced)
		for _, c := range p.pending {
			switch random.IntN(4) {
			case 0, 1: // lost
			case 2: // torn between two sectors
				if sectors := len(c.data) / 512; sectors > 0 {
					c.data = c.data[:512*random.IntN(sectors+1)]
				}
				if len(c.data) > 0 {
					content = c.apply(content)
				}
			default:
				content = c.apply(content)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// watched is an open file. Its syncs cost nothing: the power is cut in here.
type watched struct {
	vfs.File
	disk    *disk
	platter *platter
}

func (w *watched) Unwrap() vfs.File               { return w.File }
func (w *watched) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(w.File) }

func (w *watched) WriteAt(b []byte, off int64) (int, error) {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	w.platter.pending = append(w.platter.pending, change{off, append([]byte{}, b...)})
	return w.File.WriteAt(b, off)
}

func (w *watched) Truncate(size int64) error {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	w.platter.pending = append(w.platter.pending, change{off: size})
	return w.File.Truncate(size)
}

func (w *watched) Sync(vfs.SyncFlag) error {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	for _, c := range w.platter.pending {
		w.platter.synced = c.apply(w.platter.synced)
	}
	w.platter.pending = nil
	return nil
}

// ledger is what was acknowledged, with the state that was.
type ledger struct {
	mu     sync.Mutex
	states map[string]action.State // guarded by mu
}

func (l *ledger) note(id string, state action.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states[id] = state
}

func (l *ledger) copy() map[string]action.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(map[string]action.State, len(l.states))
	for id, state := range l.states {
		out[id] = state
	}
	return out
}

// TestPowerCutLosesNothingAcknowledged cuts the power of the engine that
// ships, at random moments of concurrent work. The control is a record whose
// sync nobody awaited: cuts must lose some of those, else the harness is
// blind.
func TestPowerCutLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	runs := max(2, 12/shortened)
	if text := os.Getenv(powerRuns); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		runs = n
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	lost := 0
	for i := range runs {
		lost += powerRun(t, rand.New(rand.NewPCG(seed, uint64(i))), fmt.Sprintf("disk%d", i))
	}
	if lost == 0 {
		t.Error("no cut lost an unsynced record: the harness is blind")
	}
	t.Logf("%d runs, %d unsynced records lost", runs, lost)
}

const (
	powerWorkers = 4
	powerCuts    = 8
	powerVerbs   = 20 // by each worker between two cuts, at most
)

func powerRun(t *testing.T, random *rand.Rand, name string) (lost int) {
	t.Helper()
	d := &disk{VFS: vfs.Find(""), files: map[string]*platter{}}
	vfs.Register(name, d)
	defer vfs.Unregister(name)
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "store.db"), sqlite.Options{Sealer: fixedSealer(t), VFS: name})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	acknowledged := &ledger{states: map[string]action.State{}}
	for round := range powerCuts {
		var workers sync.WaitGroup
		for w := range powerWorkers {
			n := 1 + random.IntN(powerVerbs)
			workers.Add(1)
			go func() {
				defer workers.Done()
				powerWork(t, s, acknowledged, fmt.Sprintf("act_%d_%d", round, w), n)
			}()
		}
		time.Sleep(time.Duration(random.IntN(2000)) * time.Microsecond)
		afterCut(t, d, acknowledged, "", random)
		workers.Wait()
	}
	a := allowed(t, s, "act_read")
	a.Mutation = false
	if _, err := s.Decide(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return afterCut(t, d, acknowledged, a.ID, random)
}

func powerWork(t *testing.T, s *sqlite.Store, acknowledged *ledger, prefix string, n int) {
	ctx := context.Background()
	for i := range n {
		a, err := newCall(ctx, s, fmt.Sprintf("%s_%d", prefix, i))
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := s.Begin(ctx, action.Start{Action: a, Lease: time.Hour}); err != nil {
			t.Error(err)
			return
		}
		acknowledged.note(a.ID, action.Executing)
		if _, err := s.Finish(ctx, action.Ending{ID: a.ID, Fence: 1, State: action.Succeeded}); err != nil {
			t.Error(err)
			return
		}
		acknowledged.note(a.ID, action.Succeeded)
	}
}

// afterCut opens what a cut leaves and compares it with what was acknowledged
// before. It returns 1 if the unsynced record is lost.
func afterCut(t *testing.T, d *disk, acknowledged *ledger, unsynced string, random *rand.Rand) int {
	t.Helper()
	want := acknowledged.copy()
	dir := t.TempDir()
	d.cut(t, dir, random)
	s, err := sqlite.Open(filepath.Join(dir, "store.db"), sqlite.Options{Sealer: fixedSealer(t)})
	if err != nil {
		t.Fatalf("after the cut: %v", err)
	}
	defer s.Close()
	for id, state := range want {
		row, err := s.Action(t.Context(), "acme", id)
		if err != nil {
			t.Fatalf("%s was acknowledged as %s: %v", id, state, err)
		}
		if row.State != state && row.State != action.Succeeded {
			t.Fatalf("%s was acknowledged as %s and is %s", id, state, row.State)
		}
	}
	db := raw(t, filepath.Join(dir, "store.db"))
	check, _, err := db.Prepare("PRAGMA integrity_check")
	if err != nil {
		t.Fatal(err)
	}
	defer check.Close()
	if !check.Step() || check.ColumnText(0) != "ok" {
		t.Fatalf("the file is damaged: %s", check.ColumnText(0))
	}
	if unsynced == "" {
		return 0
	}
	records, err := s.Records(t.Context(), audit.Filter{Action: unsynced})
	if err != nil {
		t.Fatal(err)
	}
	return 1 - len(records)
}
