package policy

import "context"

// Func is a policy written in Go. It reads the parsed arguments through
// [Input.View]. It runs in process: it is not sandboxed, and one that never
// returns keeps its goroutine after the timeout.
type Func func(ctx context.Context, in Input) (Decision, error)

// FromFunc makes an engine of a Go policy. The version names its rules; change
// it with every change of behaviour, because approvals bind it. A nil f makes
// a nil engine, which denies with policy_not_configured.
func FromFunc(version string, f Func) Engine {
	if f == nil {
		return nil
	}
	return funcEngine{version: version, decide: f}
}

type funcEngine struct {
	version string
	decide  Func
}

func (e funcEngine) Decide(ctx context.Context, in Input) (Decision, error) { return e.decide(ctx, in) }

func (e funcEngine) Version(string) string { return e.version }
