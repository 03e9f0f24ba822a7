package shadow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/replay"
	"github.com/seed-de4804fb/verbatim/policy/shadow"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// list is a sink in memory.
type list struct {
	mu       sync.Mutex
	verdicts []replay.Verdict
	dropped  int64
	fail     error
	panics   bool
}

func (l *list) Keep(v replay.Verdict) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.panics {
		panic("sink")
	}
	l.verdicts = append(l.verdicts, v)
	return l.fail
}

func (l *list) Dropped(n int64, _ time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropped += n
	return l.fail
}

func (l *list) Idle() error { return nil }

func observation(t *testing.T, id string, live policy.Effect) shadow.Observation {
	t.Helper()
	args, err := snapshot.Freeze(canon.ObjectValue(canon.Member{Name: "size", Value: canon.IntValue(5)}))
	if err != nil {
		t.Fatal(err)
	}
	return shadow.Observation{Action: id, Live: policy.Decision{Effect: live, Reason: "r", Rules: []string{"live"}},
		Input: policy.Input{Proposal: snapshot.Propose("bot", "notes.add", args), Now: time.Unix(1e9, 0).UTC(),
			Session: identity.Session{Tenant: "acme", Principal: "ann", Agent: "bot", Roles: []string{"clerk"}},
			Tool:    policy.Tool{Name: "notes.add", Mutation: true, Cataloged: true}}}
}

func says(e policy.Effect) policy.Func {
	return func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: e, Reason: "candidate", Rules: []string{"new"}}, nil
	}
}

func fixed(f policy.Func) func() *replay.Candidate {
	c := &replay.Candidate{Engine: policy.FromFunc("v", f)}
	return func() *replay.Candidate { return c }
}

func watcher(t *testing.T, cfg shadow.Config) *shadow.Watcher {
	t.Helper()
	w, err := shadow.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func end(t *testing.T, w *shadow.Watcher) {
	t.Helper()
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestCandidatesDecisionIsRecordedBesideTheLiveOne(t *testing.T) {
	t.Parallel()
	sink := &list{}
	w := watcher(t, shadow.Config{Candidate: fixed(says(policy.Deny)), Sink: sink})
	w.Observe(observation(t, "act_1", policy.Allow))
	w.Observe(observation(t, "act_2", policy.Deny))
	end(t, w)
	want := []replay.Verdict{
		{Action: "act_1", Tenant: "acme", Tool: "notes.add", Agent: "bot", At: time.Unix(1e9, 0).UTC(), Kind: replay.Flip,
			Was: replay.Answer{Decision: "allow", Rules: []string{"live"}}, Is: replay.Answer{Decision: "deny", Rules: []string{"new"}}},
		{Action: "act_2", Tenant: "acme", Tool: "notes.add", Agent: "bot", At: time.Unix(1e9, 0).UTC(), Kind: replay.Rules,
			Was: replay.Answer{Decision: "deny", Rules: []string{"live"}}, Is: replay.Answer{Decision: "deny", Rules: []string{"new"}}},
	}
	if diff := cmp.Diff(want, sink.verdicts, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".callID" }, cmp.Ignore())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(shadow.Counts{Observed: 2, Changed: 1, Same: 1}, w.Counts()); diff != "" {
		t.Error(diff)
	}
}

// A live path that waited for this candidate would hang here for good.
func TestCandidateThatNeverAnswersHoldsUpNobody(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	sink := &list{}
	w := watcher(t, shadow.Config{Sink: sink, Timeout: policy.MinTimeout,
		Candidate: fixed(func(context.Context, policy.Input) (policy.Decision, error) { <-free; return policy.Decision{}, nil })})
	const calls = 20_000
	o := observation(t, "act_1", policy.Allow)
	for range calls {
		w.Observe(o)
	}
	end(t, w)
	close(free)
	c := w.Counts()
	if c.Observed != calls || c.Dropped == 0 || c.Dropped+c.Changed+c.Unreplayable != calls {
		t.Errorf("%+v", c)
	}
	if c.Failed > 8 || c.Changed > 8 {
		t.Errorf("it was asked %d times after it had not answered: %+v", c.Changed, c)
	}
	if sink.dropped != c.Dropped {
		t.Errorf("the sink knows of %d that were dropped, of %d", sink.dropped, c.Dropped)
	}
}

func TestCandidateThatWasSetAsideComesBackAsAnotherOne(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	defer close(free)
	hangs := &replay.Candidate{Engine: policy.FromFunc("1", func(context.Context, policy.Input) (policy.Decision, error) {
		<-free
		return policy.Decision{}, nil
	})}
	mended := &replay.Candidate{Engine: policy.FromFunc("2", says(policy.Allow))}
	asked := 0
	sink := &list{}
	w := watcher(t, shadow.Config{Sink: sink, Timeout: policy.MinTimeout, Candidate: func() *replay.Candidate {
		if asked++; asked > 20 {
			return mended
		}
		return hangs
	}})
	for range 21 {
		w.Observe(observation(t, "act_1", policy.Allow))
	}
	end(t, w)
	if c := w.Counts(); c.Failed != 8 || c.Unreplayable != 12 || c.Same != 1 {
		t.Errorf("%+v", c)
	}
	if v := sink.verdicts[10]; v.Why != replay.WhyCandidate {
		t.Errorf("set aside: %+v", v)
	}
}

func TestWhateverTheCandidateDoesIsOnlyRecorded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		candidate func() *replay.Candidate
		code, why string
		failed    int64
	}{
		"it panics": {fixed(func(context.Context, policy.Input) (policy.Decision, error) { panic("x") }), policy.ReasonError, "", 1},
		"it fails": {fixed(func(context.Context, policy.Input) (policy.Decision, error) {
			return policy.Decision{}, errors.New("x")
		}), policy.ReasonError, "", 1},
		"it says nothing": {fixed(func(context.Context, policy.Input) (policy.Decision, error) {
			return policy.Decision{}, nil
		}), policy.ReasonInvalidResult, "", 1},
		"it changes its view": {fixed(func(_ context.Context, in policy.Input) (policy.Decision, error) {
			in.View()["size"] = int64(1)
			return policy.Decision{Effect: policy.Allow, Reason: "r"}, nil
		}), policy.ReasonMutatedArguments, "", 1},
		"it does not load":    {func() *replay.Candidate { return nil }, "", replay.WhyCandidate, 0},
		"asking for it fails": {func() *replay.Candidate { panic("x") }, "", replay.WhyCandidate, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := &list{}
			w := watcher(t, shadow.Config{Candidate: tt.candidate, Sink: sink})
			w.Observe(observation(t, "act_1", policy.Allow))
			end(t, w)
			if v := sink.verdicts[0]; v.Is.Code != tt.code || v.Why != tt.why || v.Was.Decision != "allow" {
				t.Errorf("%+v", v)
			}
			if c := w.Counts(); c.Failed != tt.failed {
				t.Errorf("%+v", c)
			}
		})
	}
}

func TestSinkThatFailsIsCounted(t *testing.T) {
	t.Parallel()
	for name, sink := range map[string]*list{"an error": {fail: errors.New("disk full")}, "a panic": {panics: true}} {
		w := watcher(t, shadow.Config{Candidate: fixed(says(policy.Allow)), Sink: sink})
		w.Observe(observation(t, "act_1", policy.Allow))
		w.Observe(observation(t, "act_2", policy.Allow))
		end(t, w)
		if c := w.Counts(); c.Unkept != 2 || c.Same != 2 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestWhatWaitsIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	free, begun := make(chan struct{}), make(chan struct{}, 1000)
	w := watcher(t, shadow.Config{Timeout: policy.MaxTimeout, Candidate: fixed(func(context.Context, policy.Input) (policy.Decision, error) {
		begun <- struct{}{}
		<-free
		return policy.Decision{Effect: policy.Allow, Reason: "r"}, nil
	})})
	o := observation(t, "act_1", policy.Allow)
	o.Input.RawArguments = make([]byte, 6<<20)
	w.Observe(o)
	<-begun
	for range 5 {
		w.Observe(o)
	}
	if c := w.Counts(); c.Dropped != 4 {
		t.Errorf("%d of 5 were dropped while 6 MiB were looked at", c.Dropped)
	}
	close(free)
	end(t, w)
}

func TestObservingAfterTheEndIsHarmless(t *testing.T) {
	t.Parallel()
	w := watcher(t, shadow.Config{Candidate: fixed(says(policy.Allow))})
	end(t, w)
	end(t, w)
	for range 2 * shadow.MaxQueued {
		w.Observe(observation(t, "act_1", policy.Allow))
	}
	if c := w.Counts(); c.Dropped != shadow.MaxQueued {
		t.Errorf("%+v", c)
	}
}

func TestWatcherNeedsACandidate(t *testing.T) {
	t.Parallel()
	if _, err := shadow.New(shadow.Config{}); err == nil {
		t.Error("a watcher without a candidate")
	}
}

func verdict(i int) replay.Verdict {
	return replay.Verdict{Action: fmt.Sprintf("act_%d", i), Tenant: "acme", Tool: "notes.add", Agent: "bot", At: time.Unix(int64(i), 5).UTC(), Kind: replay.Terms,
		Was: replay.Answer{Decision: "require_approval", Rules: []string{"a", "b"}, Requirements: []string{"admin:1|ops:2"}, TTL: "10m0s", StepUp: true},
		Is:  replay.Answer{Decision: "deny", Code: "no_matching_rule", Rules: []string{}}}
}

func TestFileKeepsVerdictsAsTheyWere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shadow")
	for round := range 2 {
		f, err := shadow.OpenFile(dir)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(f.Keep(verdict(round)), f.Dropped(int64(round+3), time.Unix(9, 0)), f.Idle(), f.Close(), f.Close())
		if err != nil {
			t.Fatal(err)
		}
		if f.Keep(verdict(0)) == nil || f.Idle() == nil {
			t.Error("a closed file takes more")
		}
	}
	// A process that is killed leaves half a line.
	path := filepath.Join(dir, "verdicts.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, `{"action":"act_9","at":"20`...), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := shadow.OpenFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Keep(verdict(2)), f.Close()); err != nil {
		t.Fatal(err)
	}
	k, err := shadow.Read(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".callID" }, cmp.Ignore())
	if diff := cmp.Diff([]replay.Verdict{verdict(2), verdict(1), verdict(0)}, k.Verdicts, ignore); diff != "" {
		t.Error(diff)
	}
	if newest, err := shadow.Read(dir, 2); err != nil || len(newest.Verdicts) != 2 || newest.Verdicts[0].Action != "act_2" || !newest.Cut || k.Cut {
		t.Errorf("the newest two: %+v, %v", newest, err)
	}
	if k.Broken != 1 || len(k.Dropped) != 2 {
		t.Errorf("broken %d, dropped %v", k.Broken, k.Dropped)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	r := k.Report(replay.Scope{Since: time.Unix(1, 0)}, policy.FromFunc("v", says(policy.Allow)))
	if r.Counts.Terms != 2 || r.Counts.Unreplayable != 7 || r.Changes[0].Action != "act_1" {
		t.Errorf("%+v", r)
	}
}

func TestTwoFilesOfABoundedSizeAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := shadow.OpenFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	v := verdict(1)
	v.Is.Rules = []string{strings.Repeat("r", 1<<20)}
	for i := range 40 {
		v.At = time.Unix(int64(i), 0).UTC()
		if err := f.Keep(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	k, err := shadow.Read(dir, 0)
	if err != nil || k.Broken != 0 {
		t.Fatal(err, k.Broken)
	}
	if n := len(k.Verdicts); n < 16 || n > 32 || k.Verdicts[0].At.Unix() != 39 || k.Verdicts[n-1].At.Unix() != int64(40-n) {
		t.Errorf("%d verdicts, from %v to %v", n, k.Verdicts[n-1].At, k.Verdicts[0].At)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestDirectoryThatIsNotThereHoldsNothing(t *testing.T) {
	t.Parallel()
	k, err := shadow.Read(filepath.Join(t.TempDir(), "none"), 0)
	if err != nil || len(k.Verdicts)+len(k.Dropped)+k.Broken != 0 {
		t.Errorf("%+v, %v", k, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"at":"2030-01-02T03:04:05Z","kind":"flip","was":{"decision":"allow","rules":["a"]},"is":{"rules":{}}}` + "\n" + `{"at":"2030-01-02T03:04:05Z","dropped":3}`))
	f.Add([]byte("\n\n{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "verdicts.jsonl"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		k, err := shadow.Read(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range k.Verdicts {
			if v.At.IsZero() && v.Kind == "" || v.Was.Rules == nil {
				t.Errorf("read %+v", v)
			}
		}
	})
}
