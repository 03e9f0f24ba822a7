//go:build bench

package auditbench_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// What is measured, and the bars that the figures are printed beside.
const (
	million  = 1_000_000
	backlog  = 40_000
	proofBar = 1024
)

func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(path, sqlite.Options{Sealer: sealer})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// withoutLog takes the log's table with its triggers out of a store that is
// closed: what the program writes there, one row for a commit, goes nowhere.
// Its lists are ahead of every record, so nothing is written there either.
func withoutLog(t *testing.T, path string) {
	t.Helper()
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Exec(`DROP TRIGGER event_listed_forward;
		UPDATE event_listed SET seq = 1 << 60;
		DROP TABLE event_pack;
		CREATE VIEW event_pack AS SELECT 0 AS first, 0 AS count, 0 AS at, x'' AS salts, x'' AS leaves, x'' AS words WHERE 0;
		CREATE TRIGGER event_nowhere INSTEAD OF INSERT ON event_pack BEGIN SELECT 1; END;`); err != nil {
		t.Fatal(err)
	}
}

// TestAudit prints figures; none of them decides.
func TestAudit(t *testing.T) {
	commits(t)
	sequencing(t)
	verification(t)
}

// commits compares the durable commit path with and without the log.
func commits(t *testing.T) {
	dir := t.TempDir()
	with, bare := filepath.Join(dir, "with.db"), filepath.Join(dir, "bare.db")
	for _, path := range []string{with, bare} {
		if err := open(t, path).Close(); err != nil {
			t.Fatal(err)
		}
	}
	withoutLog(t, bare)
	for _, callers := range []int{1, 64} {
		pair := newPair(t, with, bare, callers)
		pair.run()
		pair.print()
		pair.close()
	}
	fmt.Printf("building and encoding the 2 records of an execution, which both do: %.1f us\n", building(t, with))
}

// building is the processor time that the leaves of one execution take, in
// microseconds: records as a store has them, encoded again.
func building(t *testing.T, path string) float64 {
	s := open(t, path)
	defer s.Close()
	entries, err := s.Entries(t.Context(), audit.Selection{From: 1, Most: audit.MaxEntries})
	if err != nil || len(entries) == 0 {
		t.Fatal(err)
	}
	records := make([]audit.Record, len(entries))
	for i, e := range entries {
		if records[i], err = audit.ParseLeaf(e.Leaf); err != nil {
			t.Fatal(err)
		}
	}
	const times = 50
	before := spent(syscall.RUSAGE_SELF)
	for range times {
		for _, r := range records {
			salt := audit.NewSalt()
			for name := range r.Commitments {
				r.Commitments[name] = salt.Commit(name, []byte(path))
			}
			if _, err := r.Leaf(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return 2 * float64((spent(syscall.RUSAGE_SELF) - before).Microseconds()) / float64(times*len(records))
}

func spent(who int) time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(who, &u) // fails for an unknown who only
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// sequencing measures how fast records that wait come into the tree.
func sequencing(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store.db"))
	defer s.Close()
	read := action.Action{Kind: action.KindCall, Tenant: "acme", Principal: "user:pat", Agent: "helper", Tool: "bank.look",
		Decision: action.Decision{Effect: "allow", Code: "ok"}}
	args, err := snapshot.FreezeGo(map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	read.Fingerprint = canon.Sum([]byte("look"))
	read.Hash, read.Payload = snapshot.Propose("helper", "bank.look", args).Hash, action.Payload{Args: args.Text(), Requested: args.Text()}
	for i := range backlog {
		read.ID = "act_" + strconv.Itoa(i)
		if _, err := s.Decide(t.Context(), read); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Entries(t.Context(), audit.Selection{Most: 1}); err != nil { // all of them are in the log now
		t.Fatal(err)
	}
	q, err := audit.NewSequencer(s, logKey(t))
	if err != nil {
		t.Fatal(err)
	}
	start, before := time.Now(), spent(syscall.RUSAGE_SELF)
	n, err := q.Turn(t.Context())
	took, cpu := time.Since(start), spent(syscall.RUSAGE_SELF)-before
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("sequenced: %.0f leaves a second of %d, 4000 to a signed checkpoint (bar: at least 20,000); %.1f us of a processor each\n",
		float64(n)/took.Seconds(), n, float64(cpu.Microseconds())/float64(n))
}

// verification has both checkers read an exported log of a million records,
// each in a process of its own, and measures a proof.
func verification(t *testing.T) {
	m := grown(t, million)
	longest := 0
	for _, i := range []int64{0, 1, million / 2, million - 1} {
		proof, err := audit.ProveInclusion(million, i, m.read)
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, len(proof)*len(canon.Digest{}))
	}
	fmt.Printf("longest inclusion proof of %d records: %d bytes (bar: at most %d)\n", million, longest, proofBar)
	d := written(t, m)
	program := filepath.Join(t.TempDir(), "verbatim")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/verbatim")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ours := exec.CommandContext(t.Context(), program, "--json", "audit", "verify", "--key", d.keys, "--checkpoint", d.checkpoint, d.dir)
	timed(t, "verbatim audit verify", ours)
	timed(t, "the independent checker", node(t, d))
}

func timed(t *testing.T, name string, c *exec.Cmd) {
	t.Helper()
	start := time.Now()
	n, peak := completeTo(t, c)
	if n != million {
		t.Fatalf("%s: complete up to %d", name, n)
	}
	fmt.Printf("%s, %d exported records: %.1f s, %.1f s of a processor, %d MiB at most\n", name, million, time.Since(start).Seconds(),
		(c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), peak>>10)
}

// execution runs one whole mutation: begin and finish, each durable.
func execution(ctx context.Context, s *sqlite.Store, version string, n int64) error {
	args, err := snapshot.FreezeGo(map[string]any{"to": "VENDOR-001", "n": n})
	if err != nil {
		return err
	}
	id := "act_" + strconv.FormatInt(n, 10)
	a := action.Action{ID: id, Kind: action.KindCall, Tenant: "acme", Principal: "user:pat", Agent: "helper", Tool: "bank.pay", Mutation: true,
		Fingerprint: canon.Sum([]byte(id)), Hash: snapshot.Propose("helper", "bank.pay", args).Hash,
		Decision: action.Decision{Effect: "allow", Code: "ok", PolicyVersion: version},
		Payload:  action.Payload{Raw: []byte(args.Text()), Requested: args.Text(), Args: args.Text()}}
	row, err := s.Begin(ctx, action.Start{Action: a, Lease: time.Minute})
	if err != nil {
		return err
	}
	_, err = s.Finish(ctx, action.Ending{ID: row.ID, Fence: row.Fence, State: action.Succeeded, Result: action.Result{Output: []byte("{}")}})
	return err
}

// TestSequencing is the second part of TestAudit alone.
func TestSequencing(t *testing.T) { sequencing(t) }

// TestCommits is the first part of TestAudit alone.
func TestCommits(t *testing.T) { commits(t) }
