package attacktest

import (
	"slices"
	"testing"
)

// The codes that an entry may answer with an error of its own protocol.
const unknownTool = "unknown_tool"

// Entry is one way in. Its tools, rules and people are those of all others.
type Entry struct {
	// Propose makes one call.
	Propose func(t testing.TB, s Step) Said
	// Vote has a person approve or reject an action.
	Vote func(t testing.TB, action string, approve bool)
	// Ran lists what ran so far, by tool and arguments.
	Ran func(t testing.TB) []string
	// Rows counts the actions of whoever calls.
	Rows func(t testing.TB) int
	// Clean withdraws what waits, so that the next case finds nothing to join.
	Clean func(t testing.TB)
	// MCP says that a tool that is not there, and what is no JSON, may be
	// refused in words of that protocol.
	MCP bool
}

// Trial is what became of a case at an entry.
type Trial struct {
	Said
	Ran     []string
	Decided int // rows that were made
}

// Try runs a case. salt makes its keys its own.
func (e Entry) Try(t testing.TB, salt string, c Case) Trial {
	t.Helper()
	before, rows := len(e.Ran(t)), e.Rows(t)
	var ids []string
	for _, s := range c.Before {
		got := e.Propose(t, s.named(t, salt, ids))
		ids = append(ids, got.Action)
		if s.Vote != "" {
			e.Vote(t, got.Action, s.Vote == "approve")
		}
	}
	out := Trial{Said: e.Propose(t, c.Step.named(t, salt, ids))}
	out.Ran = e.Ran(t)[before:]
	out.Runs, out.Decided = len(out.Ran), e.Rows(t)-rows
	e.Clean(t)
	return out
}

// Check holds a trial at an entry against the table, and against the trial of
// the same case at the first entry.
func (e Entry) Check(t testing.TB, name string, c Case, first, got Trial) {
	t.Helper()
	if got.Status == Refused && first.Status != Refused {
		// What is no JSON breaks the message that should carry it, and MCP has an
		// error of its own for a tool that is not there. Nothing was decided.
		if !c.Frame && (c.Want.Code != unknownTool || !e.MCP) || got.Runs > 0 || got.Decided > 0 {
			t.Errorf("%s: %s: it was refused: %+v", name, c.Name, got)
		}
		return
	}
	if got.Status != c.Want.Status || got.Code != c.Want.Code || got.Stage != c.Want.Stage || got.Runs != c.Want.Runs ||
		c.Want.Member != "" && got.Member != c.Want.Member {
		t.Errorf("%s: %s: %+v, want %+v", name, c.Name, got, c.Want)
		return
	}
	if got.Member != first.Member || !slices.Equal(first.Violations, got.Violations) || !slices.Equal(first.Ran, got.Ran) {
		t.Errorf("%s: %s: not as at the first entry:\n%+v\n%+v", name, c.Name, got, first)
	}
}
