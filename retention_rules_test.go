package verbatim_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// testClock is a clock that only the test moves.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// aging is a gate whose payloads are sealed with a ring of keys on the disk.
type aging struct {
	*testing.T
	gate  *verbatim.Gate
	store *sqlite.Store
	ring  *keys.Ring
	clock *testClock
	path  string
	opt   sqlite.Options
}

func newAging(t *testing.T) *aging {
	t.Helper()
	ring, err := keys.OpenRing(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := ring.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	a := &aging{T: t, ring: ring, clock: &testClock{now: verbatimtest.Start}, path: filepath.Join(t.TempDir(), "store.db")}
	a.opt = sqlite.Options{Sealer: sealer, Now: a.clock.Now}
	if a.store, err = sqlite.Open(a.path, a.opt); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.store.Close() })
	if err := a.store.AddAccount(t.Context(), auth.Account{ID: "ada", Key: "ada", Name: "ada", Tenant: "acme", Groups: []string{"operator"},
		Active: true, CreatedAt: a.clock.Now()}); err != nil {
		t.Fatal(err)
	}
	set, err := verbatim.Untyped(catalog.Spec{Name: "note.set", Impact: catalog.Ordinary, Reason: "a note of the agent's own",
		Schema: []byte(`{"type":"object","properties":{"name":{"type":"string"},"text":{"type":"string"}},"required":["name","text"]}`)},
		execute.HandlerFunc(func(_ context.Context, in execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: []byte(`{"echo":` + string(in.JSON()) + `}`)}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := verbatim.NewToolset(set)
	if err != nil {
		t.Fatal(err)
	}
	allow := policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
	})
	a.gate, err = verbatim.New(verbatim.Config{Store: a.store, Tools: tools, Policy: allow, EraseKeys: ring.Erase, ForgetKeys: ring.Forget,
		Approvers: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// set runs one call and returns its row.
func (a *aging) set(text string) action.Action {
	a.Helper()
	out, err := a.gate.Call(a.Context(), verbatim.Session{Tenant: "acme", Principal: "maria", Owner: "maria", Agent: "helper"},
		verbatim.Call{Tool: "note.set", Arguments: []byte(`{"name":"` + text + `","text":"` + text + `"}`)})
	if err != nil || out.Status != verbatim.StatusOK {
		a.Fatalf("%+v, %v", out, err)
	}
	row, err := a.gate.Action(a.Context(), "acme", out.ActionID)
	if err != nil {
		a.Fatal(err)
	}
	return row
}

// has reports which files of the store hold some bytes.
func (a *aging) has(b []byte) (in []string) {
	a.Helper()
	files, err := filepath.Glob(a.path + "*")
	if err != nil || len(files) < 2 {
		a.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			a.Fatal(err)
		}
		if bytes.Contains(text, b) {
			in = append(in, filepath.Base(file))
		}
	}
	return in
}

// TestNothingOfAForgottenDayIsLeft looks at the bytes of the store and its
// journals, at a backup of before and one of after, and at the export.
func TestNothingOfAForgottenDayIsLeft(t *testing.T) {
	t.Parallel()
	a := newAging(t)
	old := a.set("CANARY-old-5b1c")
	entries, err := a.store.Entries(t.Context(), audit.Selection{Action: old.ID, Most: 10})
	if err != nil || len(entries) == 0 || entries[0].Salt == nil {
		t.Fatalf("%+v, %v", entries, err)
	}
	a.clock.add(49 * time.Hour)
	young := a.set("CANARY-young-5b1c")
	before := filepath.Join(t.TempDir(), "before.db")
	if _, err := sqlite.Backup(t.Context(), a.path, before, a.opt); err != nil {
		t.Fatal(err)
	}
	f, err := a.gate.ForgetPayloads(t.Context(), action.Retention{action.ClassMutation: 24 * time.Hour})
	if err != nil || f.Actions != 1 {
		t.Fatalf("%+v, %v", f, err)
	}
	for what, b := range map[string][]byte{"its arguments": []byte("CANARY-old-5b1c"), "its proposal hash": old.Hash[:],
		"its fingerprint": old.Fingerprint[:], "a salt": entries[0].Salt} {
		if in := a.has(b); len(in) > 0 {
			t.Errorf("%v hold %s", in, what)
		}
	}
	if len(a.has(young.Hash[:])) == 0 {
		t.Error("the young action is not found either: the test is blind")
	}
	after := filepath.Join(t.TempDir(), "after.db")
	if _, err := sqlite.Backup(t.Context(), a.path, after, a.opt); err != nil {
		t.Fatal(err)
	}
	again, err := a.ring.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"the store": a.path, "a backup of before": before, "a backup of after": after} {
		s := a.store
		if path != a.path {
			if s, err = sqlite.Open(path, sqlite.Options{Sealer: again, Now: a.clock.Now}); err != nil {
				t.Fatal(err)
			}
			defer s.Close()
		}
		gone, err := s.Action(t.Context(), "acme", old.ID)
		if err != nil || gone.ErasedAt.IsZero() || gone.Payload.Args != "" || len(gone.Payload.Raw) > 0 || len(gone.Result.Output) > 0 {
			t.Errorf("%s: %+v, %v", name, gone, err)
		}
		if kept, err := s.Action(t.Context(), "acme", young.ID); err != nil || kept.Payload.Args != young.Payload.Args || len(kept.Result.Output) == 0 {
			t.Errorf("%s: the young one: %+v, %v", name, kept, err)
		}
		if list, err := s.Actions(t.Context(), action.Filter{Tenant: "acme"}); err != nil || len(list) != 2 {
			t.Errorf("%s lists %d, %v", name, len(list), err)
		}
	}
	a.exports(old)
}

// exports fails where the exported log has what was forgotten, or does not
// verify.
func (a *aging) exports(old action.Action) {
	a.Helper()
	key, err := keys.NewSigner(keys.Checkpoints, bytes.Repeat([]byte{3}, 32))
	if err != nil {
		a.Fatal(err)
	}
	q, err := audit.NewSequencer(a.store, key)
	if err == nil {
		_, err = q.Turn(a.Context())
	}
	if err != nil {
		a.Fatal(err)
	}
	dir := a.TempDir()
	c, err := audit.Export(a.Context(), a.store, func(path string, content []byte) error {
		if bytes.Contains(content, []byte("CANARY")) || bytes.Contains(content, []byte(old.Hash.String())) {
			a.Errorf("%s holds it", path)
		}
		path = filepath.Join(dir, filepath.FromSlash(path))
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600))
	})
	if err != nil {
		a.Fatal(err)
	}
	public, err := audit.LogKey(c.Origin, key.Public()[0])
	if err != nil {
		a.Fatal(err)
	}
	trust, err := audit.NewTrust(public)
	if err != nil {
		a.Fatal(err)
	}
	l, err := audit.OpenExported(os.DirFS(dir))
	if err != nil {
		a.Fatal(err)
	}
	for _, l := range []audit.Log{a.store, l} {
		if r, err := audit.Verify(a.Context(), l, trust); err != nil || r.Records != c.Size {
			a.Errorf("%+v, %v", r, err)
		}
	}
}

// TestOneActionIsErasedBeforeItsDayIsForgotten: with a key of its own, though
// it shares a day.
func TestOneActionIsErasedBeforeItsDayIsForgotten(t *testing.T) {
	t.Parallel()
	a := newAging(t)
	one, other := a.set("one"), a.set("other")
	backed := filepath.Join(t.TempDir(), "before.db")
	if _, err := sqlite.Backup(t.Context(), a.path, backed, a.opt); err != nil {
		t.Fatal(err)
	}
	if _, err := a.gate.Erase(t.Context(), "acme", one.ID, "ada", "asked for"); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(backed, a.opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := s.Action(t.Context(), "acme", one.ID); err != nil || got.ErasedAt.IsZero() || got.Payload.Args != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Action(t.Context(), "acme", other.ID); err != nil || got.Payload.Args != other.Payload.Args {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAGateWithoutKeysToDestroyForgetsNothing(t *testing.T) {
	t.Parallel()
	f := verbatimtest.New(t, verbatimtest.Config{})
	if _, err := f.Gate.ForgetPayloads(t.Context(), action.Retention{action.ClassRead: 24 * time.Hour}); !errors.Is(err, verbatim.ErrNoErase) {
		t.Error(err)
	}
}
