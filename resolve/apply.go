package resolve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Apply runs the rules in their order. It returns the arguments with every
// result in place, the changes in the order in which they were made, and the
// evidence of each answer.
//
// A rule whose sources are all absent does not run; whether a member may be
// absent is for the schema to say. Sources are consumed after the last rule,
// unless they are also their rule's result. A result that is not also a
// source must not be in the arguments already: the caller could name a target
// past the resolver.
//
// It fails with [canon.Violations] (see [Failure] for the cause behind one).
func Apply(ctx context.Context, rules []Rule, args canon.Value, now time.Time) (canon.Value, []canon.Change, []Answered, error) {
	w := work{tree: args, now: now}
	var bound []Rule
	if err := CheckAll(rules); err != nil {
		return canon.Value{}, nil, nil, err
	}
	for _, r := range rules {
		each, err := r.bind(args)
		if err != nil {
			return canon.Value{}, nil, nil, err
		}
		bound = append(bound, each...)
	}
	if err := prefilled(bound, args); err != nil {
		return canon.Value{}, nil, nil, err
	}
	for _, r := range bound {
		if err := w.run(ctx, r); err != nil {
			return canon.Value{}, nil, nil, err
		}
	}
	if err := w.consume(bound); err != nil {
		return canon.Value{}, nil, nil, err
	}
	return w.tree, w.changes, w.answered, nil
}

// prefilled refuses arguments that already hold a result.
func prefilled(rules []Rule, args canon.Value) error {
	var found canon.Violations
	for _, r := range rules {
		for _, role := range sortedKeys(r.Into) {
			p := r.Into[role]
			if r.inPlace(p) {
				continue
			}
			if _, ok := args.Lookup(p); ok && len(found) < canon.MaxViolations {
				found = append(found, canon.Refuse(p, RuleAmbiguous, "no such member: the resolver "+r.Name+" sets it")...)
			}
		}
	}
	if len(found) > 0 {
		return found
	}
	return nil
}

// work is the state of one Apply.
type work struct {
	now      time.Time
	tree     canon.Value
	changes  []canon.Change
	answered []Answered
	ran      map[string]bool // source pointers of rules that ran
}

func (w *work) run(ctx context.Context, r Rule) error {
	in := map[string]canon.Value{}
	for role, p := range r.From {
		if v, ok := w.tree.Lookup(p); ok {
			in[role] = v
		}
	}
	if len(in) == 0 {
		return nil
	}
	answer, err := ask(ctx, r, in)
	if err != nil {
		return located(r, err)
	}
	if err := checkAnswer(r, answer); err != nil {
		return located(r, err)
	}
	if err := w.set(r, answer); err != nil {
		return err
	}
	if w.ran == nil {
		w.ran = map[string]bool{}
	}
	for _, p := range r.From {
		w.ran[p] = true
	}
	w.answered = append(w.answered, Answered{Rule: r, Pointer: firstPointer(r.Into), Version: answer.Version,
		Digest: digest(answer), At: w.now})
	return nil
}

var errPanicked = errors.New("resolver panicked")

// ask calls the resolver. Code of the embedder may panic; that is no answer.
func ask(ctx context.Context, r Rule, in map[string]canon.Value) (a Answer, err error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	defer func() {
		if recover() != nil { // the panic value may hold an argument
			a, err = Answer{}, errPanicked
		}
	}()
	return r.Resolver.Resolve(ctx, in)
}

var (
	errNoVersion = errors.New("answer without a version")
	errNoResult  = errors.New("answer without a result that the rule names")
)

func checkAnswer(r Rule, a Answer) error {
	if a.Version == "" {
		return errNoVersion
	}
	for _, role := range sortedKeys(r.Into) {
		if _, ok := a.Values[role]; !ok {
			return fmt.Errorf("%w: %s", errNoResult, role)
		}
	}
	for _, role := range sortedKeys(a.Values) {
		if err := canon.Check(a.Values[role]); err != nil {
			// Not the violation itself: its pointer would be taken for a source.
			return fmt.Errorf("answer %s is outside the strict domain", role)
		}
	}
	return nil
}

func (w *work) set(r Rule, a Answer) error {
	for _, role := range sortedKeys(r.Into) {
		p := r.Into[role]
		old, found := w.tree.Lookup(p)
		if found && canon.Equal(old, a.Values[role]) {
			continue
		}
		next, ok := w.tree.With(p, a.Values[role])
		if !ok {
			return canon.Refuse(p, RuleUnresolved, "a place for the result of the resolver "+r.Name)
		}
		w.tree = next
		w.changes = append(w.changes, canon.Change{Pointer: p, Kind: canon.ChangeResolved, By: r.Name})
	}
	return nil
}

// consume drops the sources. Several rules may share one, so this comes last.
func (w *work) consume(rules []Rule) error {
	keep := map[string]bool{}
	for _, r := range rules {
		for _, p := range r.From {
			if r.inPlace(p) {
				keep[p] = true
			}
		}
	}
	for _, r := range rules {
		for _, role := range sortedKeys(r.From) {
			p := r.From[role]
			if _, found := w.tree.Lookup(p); !found || keep[p] || !w.ran[p] {
				continue
			}
			w.tree = w.tree.Without(p)
			if _, found := w.tree.Lookup(p); found {
				// An array element has no place of its own that could be dropped.
				return canon.Refuse(p, RuleUnresolved, "an object member as the source of the resolver "+r.Name)
			}
			w.changes = append(w.changes, canon.Change{Pointer: p, Kind: canon.ChangeConsumed, By: r.Name})
		}
	}
	return nil
}

// digest is that of the RFC 8785 form of the answer, an object by role.
func digest(a Answer) canon.Digest {
	members := make([]canon.Member, 0, len(a.Values))
	for _, role := range sortedKeys(a.Values) {
		members = append(members, canon.Member{Name: role, Value: a.Values[role]})
	}
	return canon.Sum(canon.ObjectValue(members...).Canonical())
}

func firstPointer(side map[string]string) string {
	first := ""
	for _, p := range side {
		if first == "" || p < first {
			first = p
		}
	}
	return first
}
