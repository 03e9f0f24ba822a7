package resolve

import (
	"errors"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Failure is the error of a resolver that could not answer, as against one
// that answered "none" or "several". Its text and its [canon.Violations] are
// safe to show; Cause is for the operator and may hold what the resolver
// wrote.
type Failure struct {
	Resolver   string
	Violations canon.Violations
	Cause      error
}

// Error says which member was not resolved and by whom, never why: a cause
// may hold an argument value.
func (f *Failure) Error() string { return f.Violations.Error() }

// Unwrap lets errors.As find the violations and errors.Is the cause.
func (f *Failure) Unwrap() []error { return []error{f.Violations, f.Cause} }

// located turns a resolver's error, which speaks of roles, into one that
// speaks of the arguments.
func located(r Rule, err error) error {
	var vs canon.Violations
	if !errors.As(err, &vs) || len(vs) == 0 {
		return &Failure{Resolver: r.Name, Cause: err,
			Violations: canon.Refuse(firstPointer(r.From), RuleUnresolved, "an answer from the resolver "+r.Name)}
	}
	out := make(canon.Violations, 0, len(vs))
	for _, v := range vs[:min(len(vs), canon.MaxViolations)] {
		v.Pointer, v.Offset = r.locate(v.Pointer), -1
		out = append(out, v)
	}
	return out
}

// locate maps "/role" or "/role/deeper" to a pointer into the arguments.
func (r Rule) locate(pointer string) string {
	role, rest, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	source, ok := r.From[role]
	switch {
	case !ok:
		return firstPointer(r.From)
	case rest == "":
		return source
	default:
		return source + "/" + rest
	}
}

// Compare reports whether two runs of the same rules on the same source
// values gave the same answers. Answers are compared by digest: a new version
// of a table that gives the same answer is no change. If they differ, pointer
// is the first result member that does, in the order of the first run.
func Compare(old, again []Answered) (pointer string, same bool) {
	for i, a := range old {
		if i >= len(again) || a.Pointer != again[i].Pointer || a.Rule.Name != again[i].Rule.Name || a.Digest != again[i].Digest {
			return a.Pointer, false
		}
	}
	if len(again) > len(old) {
		return again[len(old)].Pointer, false
	}
	return "", true
}
