package execute_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/permit"
)

func handler(f func(context.Context, execute.Input) (execute.Output, error)) execute.Handler {
	return execute.HandlerFunc(f)
}

func TestNothingRunsWithoutAPermit(t *testing.T) {
	t.Parallel()
	h := handler(func(context.Context, execute.Input) (execute.Output, error) {
		t.Error("it ran")
		return execute.Output{}, nil
	})
	good := permit.Issue(permit.Mutation, "act_1", 1, "k", `{}`)
	for name, tc := range map[string]struct {
		p   permit.Permit
		h   execute.Handler
		opt execute.Options
	}{
		"the zero permit":        {permit.Permit{}, h, execute.Options{Timeout: time.Second}},
		"no action":              {permit.Issue(permit.Mutation, "", 1, "k", `{}`), h, execute.Options{Timeout: time.Second}},
		"no arguments":           {permit.Issue(permit.Mutation, "act_1", 1, "k", ""), h, execute.Options{Timeout: time.Second}},
		"an unknown kind":        {permit.Issue(0, "act_1", 1, "k", `{}`), h, execute.Options{Timeout: time.Second}},
		"bytes not canonical":    {permit.Issue(permit.Mutation, "act_1", 1, "k", `{ }`), h, execute.Options{Timeout: time.Second}},
		"bytes of another order": {permit.Issue(permit.Mutation, "act_1", 1, "k", `{"b":1,"a":1}`), h, execute.Options{Timeout: time.Second}},
		"no object":              {permit.Issue(permit.Mutation, "act_1", 1, "k", `[]`), h, execute.Options{Timeout: time.Second}},
		"no handler":             {good, nil, execute.Options{Timeout: time.Second}},
		"no timeout":             {good, h, execute.Options{}},
	} {
		if _, err := execute.Run(t.Context(), tc.p, tc.h, tc.opt); !errors.Is(err, execute.ErrPermit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHandlerGetsTheBytesOfThePermit(t *testing.T) {
	t.Parallel()
	p := permit.Issue(permit.Preview, "act_1", 3, "key", `{"n":9007199254740991,"s":"é"}`)
	end, err := execute.Run(t.Context(), p, handler(func(_ context.Context, in execute.Input) (execute.Output, error) {
		if in.ActionID() != "act_1" || in.ProviderKey() != "key" || !in.Preview() || in.Args().Text() != p.Args() {
			t.Errorf("input %+v", in)
		}
		return execute.Output{Bytes: in.JSON()}, nil
	}), execute.Options{Timeout: time.Minute})
	if err != nil || end.State != action.Succeeded || string(end.Result.Output) != p.Args() || end.Result.Comparison != "equal" {
		t.Errorf("%+v %v", end, err)
	}
}

// ends is the part of an Ended that this table fixes.
type ends struct {
	State          action.State
	Evidence, Code string
}

func TestEveryEndOfEveryKind(t *testing.T) {
	t.Parallel()
	uncertain := ends{action.Uncertain, "", execute.CodeUnclear}
	reported := ends{action.Failed, action.EvidenceReported, execute.CodeToolError}
	broken := ends{action.Failed, "", execute.CodeToolError}
	proved := ends{action.Failed, action.EvidenceProved, execute.CodeNotRun}
	large := ends{action.Failed, action.EvidenceReported, execute.CodeTooLarge}
	ok := ends{action.Succeeded, "", execute.CodeOK}
	for _, tc := range []struct {
		name                             string
		out                              execute.Output
		err                              error
		mutation, unclear, read, preview ends
	}{
		{"answer", execute.Output{Bytes: []byte(`{}`)}, nil, ok, ok, ok, ok},
		{"isError", execute.Output{Bytes: []byte(`{}`), IsError: true}, nil, reported, uncertain, ok, reported},
		{"error", execute.Output{}, errors.New("x"), reported, uncertain, reported, reported},
		{"not run", execute.Output{}, fmt.Errorf("x: %w", execute.ErrNotRun), proved, proved, proved, proved},
		{"not run because cancelled", execute.Output{}, fmt.Errorf("%w: %w", execute.ErrNotRun, context.Canceled), proved, proved, proved, proved},
		{"lost", execute.Output{}, execute.ErrLost, uncertain, uncertain, broken, broken},
		{"end of stream", execute.Output{}, io.EOF, uncertain, uncertain, broken, broken},
		{"closed pipe", execute.Output{}, io.ErrClosedPipe, uncertain, uncertain, broken, broken},
		{"a timeout of the transport", execute.Output{}, timeout(true), uncertain, uncertain, broken, broken},
		{"no timeout of the transport", execute.Output{}, timeout(false), reported, uncertain, reported, reported},
		{"a deadline of the system", execute.Output{}, os.ErrDeadlineExceeded, uncertain, uncertain, broken, broken},
		{"a deadline", execute.Output{}, context.DeadlineExceeded, uncertain, uncertain, broken, broken},
		{"a cancellation", execute.Output{}, context.Canceled, uncertain, uncertain, broken, broken},
		{"a stream cut short", execute.Output{}, io.ErrUnexpectedEOF, uncertain, uncertain, broken, broken},
		{"a connection reset", execute.Output{}, &net.OpError{Op: "read", Err: errors.New("x")}, uncertain, uncertain, broken, broken},
		{"a refused dial", execute.Output{}, &net.OpError{Op: "dial", Err: errors.New("x")}, reported, uncertain, reported, reported},
		{"too large", execute.Output{Bytes: make([]byte, execute.MaxOutput+1)}, nil,
			ends{action.Uncertain, "", execute.CodeTooLarge}, ends{action.Uncertain, "", execute.CodeTooLarge}, large, large},
		{"just not too large", execute.Output{Bytes: make([]byte, execute.MaxOutput)}, nil, ok, ok, ok, ok},
	} {
		h := handler(func(context.Context, execute.Input) (execute.Output, error) { return tc.out, tc.err })
		for name, k := range map[string]struct {
			kind    permit.Kind
			unclear bool
			want    ends
		}{"mutation": {permit.Mutation, false, tc.mutation}, "unclear mutation": {permit.Mutation, true, tc.unclear},
			"read": {permit.Read, false, tc.read}, "unclear read": {permit.Read, true, unclearRead(tc.read)}, "preview": {permit.Preview, false, tc.preview}} {
			end, err := execute.Run(t.Context(), permit.Issue(k.kind, "a", 1, "", `{}`), h,
				execute.Options{Timeout: time.Minute, ErrorsUnclear: k.unclear})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(k.want, ends{end.State, end.Result.Evidence, end.Result.Code}); diff != "" {
				t.Errorf("%s of a %s: %s", tc.name, name, diff)
			}
		}
	}
}

// unclearRead: only what an error says of a mutation depends on the catalog;
// of a read it is no word of the tool then.
func unclearRead(e ends) ends {
	if e.Code == execute.CodeToolError {
		e.Evidence = ""
	}
	return e
}

type timeout bool

func (timeout) Error() string   { return "x" }
func (t timeout) Timeout() bool { return bool(t) }

func TestLateAnswerIsToldOnceAndOnlyAfterTheTimeWasOver(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]bool{"in time": false, "late": true} {
		release, late := make(chan struct{}), make(chan execute.Ended, 2)
		if !wait {
			close(release)
		}
		limit := time.Minute
		if wait {
			limit = time.Millisecond
		}
		end, err := execute.Run(t.Context(), permit.Issue(permit.Mutation, "a", 1, "", `{}`),
			handler(func(context.Context, execute.Input) (execute.Output, error) {
				<-release
				return execute.Output{Bytes: []byte(`{"n":1}`)}, nil
			}), execute.Options{Timeout: limit, Late: func(e execute.Ended) { late <- e }})
		if err != nil {
			t.Fatal(err)
		}
		if !wait {
			if end.State != action.Succeeded || len(late) != 0 {
				t.Errorf("%s: %+v, %d late", name, end, len(late))
			}
			continue
		}
		close(release)
		if e := <-late; end.State != action.Uncertain || e.State != action.Succeeded || string(e.Result.Output) != `{"n":1}` {
			t.Errorf("%s: %+v, then %+v", name, end, e)
		}
	}
}

func TestToolThatPanicsOrEndsItsGoroutineIsUnclear(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]execute.Handler{
		"panic": handler(func(context.Context, execute.Input) (execute.Output, error) { panic("secret") }),
		"goexit": handler(func(context.Context, execute.Input) (execute.Output, error) {
			runtime.Goexit()
			return execute.Output{}, nil
		}),
	} {
		end, err := execute.Run(t.Context(), permit.Issue(permit.Mutation, "a", 1, "", `{}`), h, execute.Options{Timeout: time.Minute})
		if err != nil || end.State != action.Uncertain {
			t.Errorf("%s: %+v %v", name, end, err)
		}
	}
}

func TestReadEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	end, err := execute.Run(ctx, permit.Issue(permit.Read, "a", 1, "", `{}`), handler(func(ctx context.Context, _ execute.Input) (execute.Output, error) {
		cancel()
		<-ctx.Done()
		return execute.Output{}, ctx.Err()
	}), execute.Options{Timeout: time.Minute})
	if err != nil || end.State != action.Failed || end.Result.Code != execute.CodeReadTimeout || end.Result.Evidence != "" {
		t.Errorf("%+v %v", end, err)
	}
}

func TestReplayTable(t *testing.T) {
	t.Parallel()
	table := map[action.State]execute.Replay{
		action.Received: execute.Stored, action.Denied: execute.Stored, action.PendingApproval: execute.Pending,
		action.Approved: execute.Resume, action.Claimed: execute.Running, action.Executing: execute.Running,
		action.Succeeded: execute.Stored, action.Failed: execute.New, action.Uncertain: execute.Unknown,
		action.ReconciledSucceeded: execute.Stored, action.ReconciledFailed: execute.New,
		action.Expired: execute.Stored, action.Revoked: execute.Stored,
	}
	for _, s := range action.States() {
		a := action.Action{State: s}
		if got := execute.Repeat(a, true, true); got != table[s] {
			t.Errorf("%s: %d, want %d", s, got, table[s])
		}
		if got := execute.Repeat(a, true, false); got != execute.Moved {
			t.Errorf("%s: a moved name gave %d", s, got)
		}
		if got := execute.Repeat(a, false, false); got != execute.Mismatch {
			t.Errorf("%s: another request gave %d", s, got)
		}
	}
}

// obedient obeys its context where it says so.
type obedient struct {
	execute.Handler
	obeys bool
}

func (o obedient) Obeys(execute.Input) bool { return o.obeys }

func goroutineID() string {
	b := make([]byte, 64)
	return string(bytes.Fields(b[:runtime.Stack(b, false)])[1])
}

func TestOnlyAnObedientReadRunsOnItsCallersGoroutine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		kind  permit.Kind
		obeys bool
		want  bool
	}{{"a read that obeys", permit.Read, true, true}, {"a read that does not", permit.Read, false, false},
		{"a mutation", permit.Mutation, true, false}, {"a preview", permit.Preview, true, false}} {
		ran := ""
		h := handler(func(context.Context, execute.Input) (execute.Output, error) {
			ran = goroutineID()
			return execute.Output{Bytes: []byte(`{}`)}, nil
		})
		end, err := execute.Run(t.Context(), permit.Issue(tc.kind, "a", 1, "", `{}`), obedient{h, tc.obeys}, execute.Options{Timeout: time.Minute})
		if err != nil || end.State != action.Succeeded || (ran == goroutineID()) != tc.want {
			t.Errorf("%s: %+v %v, here %t", tc.name, end, err, ran == goroutineID())
		}
	}
}

func TestAnObedientReadEndsWithItsTimeAndSurvivesAPanic(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		do   func(context.Context, execute.Input) (execute.Output, error)
		want string
	}{
		"time over": {func(ctx context.Context, _ execute.Input) (execute.Output, error) {
			<-ctx.Done()
			return execute.Output{}, ctx.Err()
		}, execute.CodeReadTimeout},
		"panic": {func(context.Context, execute.Input) (execute.Output, error) { panic("secret") }, execute.CodeToolError},
	} {
		end, err := execute.Run(t.Context(), permit.Issue(permit.Read, "a", 1, "", `{}`), obedient{handler(tc.do), true},
			execute.Options{Timeout: 10 * time.Millisecond})
		if err != nil || end.State != action.Failed || end.Result.Code != tc.want {
			t.Errorf("%s: %+v %v", name, end, err)
		}
	}
}

func TestWorkBesideARunIsDoneWhileTheToolWorks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		h    func(done <-chan struct{}) execute.Handler
		want bool // when Run returns
	}{
		"any handler": {func(done <-chan struct{}) execute.Handler {
			return handler(func(context.Context, execute.Input) (execute.Output, error) {
				<-done
				return execute.Output{Bytes: []byte(`{}`)}, nil
			})
		}, true},
		"an obedient one that waits": {func(done <-chan struct{}) execute.Handler {
			return obedient{handler(func(_ context.Context, in execute.Input) (execute.Output, error) {
				in.Meanwhile()
				<-done
				return execute.Output{Bytes: []byte(`{}`)}, nil
			}), true}
		}, true},
		"an obedient one that does not": {func(<-chan struct{}) execute.Handler {
			return obedient{handler(func(context.Context, execute.Input) (execute.Output, error) {
				return execute.Output{Bytes: []byte(`{}`)}, nil
			}), true}
		}, false},
	} {
		done := make(chan struct{})
		beside := sync.OnceFunc(func() { close(done) })
		end, err := execute.Run(t.Context(), permit.Issue(permit.Read, "a", 1, "", `{}`), tc.h(done),
			execute.Options{Timeout: time.Minute, Beside: beside})
		if err != nil || end.State != action.Succeeded {
			t.Fatalf("%s: %+v %v", name, end, err)
		}
		select {
		case <-done:
		default:
			if tc.want {
				t.Errorf("%s: not done", name)
			}
		}
	}
}
