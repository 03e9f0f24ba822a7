package client

import (
	"fmt"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// limits of an answer: its size is bounded already.
var limits = canon.Options{MaxBytes: canon.CeilingBytes, MaxNodes: canon.CeilingNodes, FoldTwins: true}

// object is one object of an answer that is read member by member. The first
// thing that is wrong with any of them stays.
type object struct {
	v   canon.Value
	at  string
	err *error
}

// parse reads an answer strictly.
func parse(text []byte) (object, error) {
	v, err := canon.Decode(text, limits)
	if err == nil && v.Kind() != canon.Object {
		err = canon.Refuse("", "type", "an object")
	}
	if err != nil {
		return object{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return object{v, "", new(error)}, nil
}

func (o object) wrong(name, expected string) {
	if *o.err == nil {
		*o.err = fmt.Errorf("%w: %s is not %s", ErrAnswer, o.at+"/"+name, expected)
	}
}

// member returns a member of a kind; found is false where it is absent or of
// another kind.
func (o object) member(name string, kind canon.Kind, required bool) (v canon.Value, found bool) {
	v, found = o.v.Get(name)
	switch {
	case !found && required:
		o.wrong(name, "there")
	case found && v.Kind() != kind:
		o.wrong(name, "a "+kind.String())
		return canon.Value{}, false
	}
	return v, found
}

func (o object) text(name string, required bool) string {
	v, found := o.member(name, canon.String, required)
	if !found {
		return ""
	}
	return v.Text()
}

func (o object) flag(name string, required bool) bool {
	v, found := o.member(name, canon.Bool, required)
	return found && v.Bool()
}

func (o object) number(name string, required bool) int64 {
	v, found := o.member(name, canon.Number, required)
	if !found {
		return 0
	}
	n, ok := v.Int64()
	if !ok {
		o.wrong(name, "an integer")
	}
	return n
}

func (o object) time(name string, required bool) time.Time {
	text := o.text(name, required)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		o.wrong(name, "a time of RFC 3339")
	}
	return at
}

// object reads an object; one that is absent is empty.
func (o object) object(name string, required bool) (object, bool) {
	v, found := o.member(name, canon.Object, required)
	return object{v, o.at + "/" + name, o.err}, found
}

// objects reads a list of objects.
func (o object) objects(name string, required bool) []object {
	v, found := o.member(name, canon.Array, required)
	if !found {
		return nil
	}
	var out []object
	for i := range v.Len() {
		if v.At(i).Kind() != canon.Object {
			o.wrong(name, "a list of objects")
			return nil
		}
		out = append(out, object{v.At(i), fmt.Sprintf("%s/%s/%d", o.at, name, i), o.err})
	}
	return out
}

func (o object) texts(name string) map[string]string {
	of, found := o.object(name, false)
	if !found {
		return nil
	}
	out := map[string]string{}
	for _, m := range of.v.Members() {
		if m.Value.Kind() != canon.String {
			o.wrong(name, "a list of texts")
			return nil
		}
		out[m.Name] = m.Value.Text()
	}
	return out
}

func (o object) state(name string, required bool) action.State {
	text := o.text(name, required)
	if s := action.State(text); text == "" || known(action.States(), s) {
		return s
	}
	o.wrong(name, "a state of an action")
	return ""
}

func known[T comparable](all []T, x T) bool {
	for _, y := range all {
		if x == y {
			return true
		}
	}
	return false
}

func (o object) violations(name string) canon.Violations {
	var out canon.Violations
	for _, v := range o.objects(name, false) {
		out = append(out, canon.Violation{Pointer: v.text("pointer", true), Rule: v.text("rule", true),
			Expected: v.text("expected", true), Offset: int(v.number("offset", true))})
	}
	return out
}

// statuses are the words with which an outcome may begin. Any other is no
// outcome: nobody should guess what a new one means.
func statuses() []verbatim.Status {
	return []verbatim.Status{verbatim.StatusOK, verbatim.StatusDenied, verbatim.StatusApprovalRequired, verbatim.StatusInvalidArguments,
		verbatim.StatusInProgress, verbatim.StatusFailed, verbatim.StatusUncertain}
}

// outcome reads an envelope; output is what was spliced out of it.
func (o object) outcome(output []byte) verbatim.Outcome {
	data, _ := o.object("data", true)
	out := verbatim.Outcome{Status: verbatim.Status(o.text("status", true)), Code: verbatim.Code(o.text("code", true)),
		PublicReason: o.text("publicReason", false), Tool: data.text("toolName", false), ActionID: data.text("actionId", false),
		State: data.state("state", false), ProposalHash: data.text("proposalHash", false), Output: output,
		Evidence: data.text("evidence", false), Replayed: data.flag("replayed", false), Joined: data.flag("joined", false),
		Stage: data.text("stage", false), Violations: data.violations("violations"), Member: data.text("member", false),
		ExpiresAt: data.time("expiresAt", false), Standing: data.text("standingGrant", false)}
	if !known(statuses(), out.Status) {
		o.wrong("status", "a status")
	}
	return out
}
