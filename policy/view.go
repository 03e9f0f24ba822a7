package policy

import (
	"sync"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// handedView is the Go tree that one evaluation handed to its engine. Every
// call of [Input.View] in that evaluation returns the same tree, so that one
// comparison at the end covers all of them.
type handedView struct {
	mu   sync.Mutex // guards tree; an engine may ask from its own goroutines
	tree map[string]any
	out  bool
}

// View returns the parsed arguments (of a handoff: its payload) as a Go tree:
// map[string]any, []any, string, bool, nil, float64 and int64. The tree is
// the engine's own and never what runs. It is canonicalized again when the
// engine returns: a changed tree denies with policy_mutated_arguments.
func (in Input) View() map[string]any {
	if in.view == nil {
		return in.frozen().View()
	}
	in.view.mu.Lock()
	defer in.view.mu.Unlock()
	if !in.view.out {
		in.view.tree = in.frozen().View()
		in.view.out = true
	}
	return in.view.tree
}

// frozen returns the snapshot that the decision is about.
func (in Input) frozen() snapshot.Snapshot {
	if in.Handoff != nil {
		return in.Handoff.Payload
	}
	return in.Proposal.Args
}

// mutated reports whether the view that was handed out no longer has the
// frozen canonical form, or left the strict domain.
func (h *handedView) mutated(in *Input) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.out {
		return false
	}
	// The widest limits, because the frozen bytes were judged by the tool's own.
	again, err := widest().FreezeGo(h.tree)
	return err != nil || again.Text() != in.frozen().Text()
}

func widest() snapshot.Limits {
	return snapshot.Limits{MaxBytes: canon.CeilingBytes, MaxDepth: canon.CeilingDepth, MaxNodes: canon.CeilingNodes}
}
