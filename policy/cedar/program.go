package cedar

import (
	"slices"
	"sync/atomic"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/policy"
)

// program is the rules of one operation, compiled for calls on which no rule
// fails and every value fits. Whatever else happens makes it leave the call to
// Cedar's own evaluator: it never decides what that would decide otherwise.
type program struct {
	places []place
	roots  []string // the members of the arguments that the places are in
	whole  bool     // all of the arguments are read
	facts  bool     // something else than arguments and targets is read
	tests  []test   // one for each rule, in load order
	cost   int      // nodes of all conditions
	last   atomic.Pointer[verdicts]
}

// test is one compiled rule.
type test struct {
	rule *rule
	says func(c *call) bool
}

// call is the state of one evaluation.
type call struct {
	in       policy.Input      // where the program reads facts: see facts
	told     bool              // in is set
	args     canon.Value       // all of them, where the program reads all
	picked   []canon.Value     // the roots of the program otherwise
	acted    []types.EntityUID // what is acted on, each once
	resource types.EntityUID   // the one of these that is asked about
	spots    []spot            // of the places of the program
	left     bool              // something happened that Cedar must judge
	holds    []uint64          // a bit for each rule that is satisfied
	room     [8]canon.Value    // for picked
}

// leave gives the call up; what the closure returns then does not count.
func (c *call) leave() { c.left = true }

// facts returns what is known of the call beside its arguments. A program that
// reads it has said so when it was compiled; if not, the call is left.
func (c *call) facts() *policy.Input {
	if !c.told {
		c.leave()
	}
	return &c.in
}

// compileProgram compiles the rules of an operation.
func compileProgram(a *operation) *program {
	c := compiler{op: a, out: &program{}}
	for _, r := range a.rules {
		for _, read := range r.reads.args {
			c.place(read)
		}
		c.out.tests = append(c.out.tests, test{rule: r, says: c.rule(r)})
	}
	return c.out
}

// compiler turns the syntax trees of rules into closures.
type compiler struct {
	op  *operation
	out *program
}

// place returns the number of the place that is read.
func (c *compiler) place(r read) int {
	at := slices.IndexFunc(c.out.places, func(p place) bool { return samePlace(p.read, r) })
	if at < 0 {
		at = len(c.out.places)
		p := placeOf(r, c.op.args)
		p.root = c.root(r)
		c.out.places = append(c.out.places, p)
	}
	return at
}

// root returns the number of the member that a read begins with.
func (c *compiler) root(r read) int {
	if len(r.path) == 0 {
		c.out.whole = true
		return 0
	}
	at := slices.Index(c.out.roots, r.path[0])
	if at < 0 {
		at = len(c.out.roots)
		c.out.roots = append(c.out.roots, r.path[0])
	}
	return at
}

// rule compiles scope and conditions. That the scope covers the action is
// known: the rule is in the index of the operation.
func (c *compiler) rule(r *rule) func(*call) bool {
	all := append([]func(*call) bool(nil), c.principal(r.ast.Principal), c.resource(r.ast.Resource))
	for _, condition := range r.ast.Conditions {
		holds := c.flag(condition.Body)
		if condition.Condition == ast.ConditionUnless {
			holds = not(holds)
		}
		all = append(all, holds)
	}
	all = slices.DeleteFunc(all, func(f func(*call) bool) bool { return f == nil })
	switch len(all) {
	case 0:
		return func(*call) bool { return true }
	case 1:
		return all[0]
	default:
		return func(k *call) bool {
			for _, holds := range all {
				if !holds(k) {
					return false
				}
			}
			return true
		}
	}
}

// principal compiles the scope on who asks; nil admits everybody.
func (c *compiler) principal(scope ast.IsPrincipalScopeNode) func(*call) bool {
	if _, everybody := scope.(ast.ScopeTypeAll); everybody {
		return nil
	}
	c.out.facts = true
	switch scope := scope.(type) {
	case ast.ScopeTypeEq:
		return func(k *call) bool { return k.is(scope.Entity) }
	case ast.ScopeTypeIn:
		return func(k *call) bool { return k.within(scope.Entity) }
	case ast.ScopeTypeIs:
		return constant(scope.Type == typeUser)
	case ast.ScopeTypeIsIn:
		return func(k *call) bool { return scope.Type == typeUser && k.within(scope.Entity) }
	default:
		return unclear
	}
}

// resource compiles the scope on what is acted on, which has no parents; nil
// admits everything.
func (c *compiler) resource(scope ast.IsResourceScopeNode) func(*call) bool {
	switch scope := scope.(type) {
	case ast.ScopeTypeAll:
		return nil
	case ast.ScopeTypeEq:
		return func(k *call) bool { return k.resource == scope.Entity }
	case ast.ScopeTypeIn:
		return func(k *call) bool { return k.resource == scope.Entity }
	case ast.ScopeTypeIs:
		return func(k *call) bool { return k.resource.Type == scope.Type }
	case ast.ScopeTypeIsIn:
		return func(k *call) bool { return k.resource.Type == scope.Type && k.resource == scope.Entity }
	default:
		return unclear
	}
}

func constant(b bool) func(*call) bool { return func(*call) bool { return b } }

// unclear stands for what is not compiled.
func unclear(k *call) bool {
	k.leave()
	return false
}

func not(f func(*call) bool) func(*call) bool { return func(k *call) bool { return !f(k) } }

// is reports whether the entity is who asks.
func (c *call) is(uid types.EntityUID) bool {
	return uid.Type == typeUser && string(uid.ID) == c.facts().Session.Principal
}

// within reports whether who asks is the entity or is in it.
func (c *call) within(uid types.EntityUID) bool {
	switch uid.Type {
	case typeRole:
		return slices.Contains(c.facts().Session.Roles, string(uid.ID))
	case typeTenant:
		return string(uid.ID) == c.facts().Session.Tenant
	default:
		return c.is(uid)
	}
}
