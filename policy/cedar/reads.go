package cedar

import (
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// reads is what a rule looks at, from its syntax tree.
type reads struct {
	args     []read
	context  []read // other members of context
	nulls    bool   // it asks context.nulls
	allNulls bool   // it asks whether there are any nulls at all
	literals []string
	entities []types.EntityUID
	types    []types.EntityType
	facts    []string // the members of context that it looks at
	compares []comparison
	odd      []oddity
}

// read is one place below args or context. A deep read uses the value with
// all that is in it; the other kind only asks whether it is there.
type read struct {
	path    []string
	pointer string // of the path in the arguments
	deep    bool
}

func (r read) String() string { return strings.Join(r.path, ".") }

// oddity is an expression that Cedar accepts and that cannot mean anything
// here.
type oddity struct {
	about, message string
}

func readsOf(p *ast.Policy) reads {
	var r reads
	for _, scope := range []ast.IsScopeNode{p.Principal, p.Action, p.Resource} {
		r.entities = append(r.entities, scopeEntities(scope)...)
		switch is := scope.(type) {
		case ast.ScopeTypeIs:
			r.types = append(r.types, is.Type)
		case ast.ScopeTypeIsIn:
			r.types = append(r.types, is.Type)
		}
	}
	for _, c := range p.Conditions {
		ast.Inspect(ast.NewNode(c.Body), r.visit)
	}
	return r
}

func scopeEntities(scope ast.IsScopeNode) []types.EntityUID {
	switch s := scope.(type) {
	case ast.ScopeTypeEq:
		return []types.EntityUID{s.Entity}
	case ast.ScopeTypeIn:
		return []types.EntityUID{s.Entity}
	case ast.ScopeTypeInSet:
		return s.Entities
	case ast.ScopeTypeIsIn:
		return []types.EntityUID{s.Entity}
	default:
		return nil
	}
}

// visit collects what one node reads and reports whether to look below it.
func (r *reads) visit(n ast.IsNode) bool {
	switch n := n.(type) {
	case ast.NodeTypeAccess:
		root, path, ok := chain(n)
		if ok && root == "context" {
			r.add(path, true)
		}
		return !ok
	case ast.NodeTypeHas:
		root, path, ok := chain(n.Arg)
		switch {
		case !ok:
			return true
		case root == "context":
			r.add(append(path, string(n.Value)), false)
		default:
			r.odd = append(r.odd, oddity{string(n.Value), root + " has no attributes"})
		}
		return false
	case ast.NodeTypeVariable:
		if n.Name == "context" {
			r.add(nil, true)
		}
	case ast.NodeTypeIsEmpty:
		if root, path, ok := chain(n.Arg); ok && root == "context" && slices.Equal(path, []string{"nulls"}) {
			r.allNulls = true
		}
	case ast.NodeTypeHasTag:
		r.odd = append(r.odd, oddity{"hasTag", "entities have no tags here"})
	case ast.NodeTypeGetTag:
		r.odd = append(r.odd, oddity{"getTag", "entities have no tags here"})
	case ast.NodeTypeIs:
		r.types = append(r.types, n.EntityType)
	case ast.NodeTypeIsIn:
		r.types = append(r.types, n.EntityType)
	case ast.NodeTypeEquals:
		r.compared(n.Left, n.Right)
		r.compares = append(r.compares, comparisonsOf(n.Left, n.Right)...)
	case ast.NodeTypeNotEquals:
		r.compared(n.Left, n.Right)
		r.compares = append(r.compares, comparisonsOf(n.Left, n.Right)...)
	case ast.NodeTypeContains:
		r.compares = append(r.compares, comparisonsOf(n.Left, n.Right)...)
	case ast.NodeTypeContainsAny:
		r.compares = append(r.compares, comparisonsOf(n.Left, n.Right)...)
	case ast.NodeTypeContainsAll:
		r.compares = append(r.compares, comparisonsOf(n.Left, n.Right)...)
	case ast.NodeValue:
		r.literal(n.Value)
	}
	return true
}

func (r *reads) literal(v types.Value) {
	switch v := v.(type) {
	case types.String:
		r.literals = append(r.literals, string(v))
	case types.EntityUID:
		r.entities = append(r.entities, v)
	}
}

// compared refuses an equality that is always false and looks like
// membership: principal == Role::"admin".
func (r *reads) compared(left, right ast.IsNode) {
	for _, pair := range [][2]ast.IsNode{{left, right}, {right, left}} {
		variable, isVariable := pair[0].(ast.NodeTypeVariable)
		value, isValue := pair[1].(ast.NodeValue)
		if !isVariable || !isValue {
			continue
		}
		uid, isEntity := value.Value.(types.EntityUID)
		if isEntity && variable.Name == "principal" && uid.Type != typeUser {
			r.odd = append(r.odd, oddity{string(uid.Type), "principal is a User; use `in` for roles and tenants"})
		}
		if isEntity && variable.Name == "action" && slices.Contains([]types.EntityUID{actionUID(groupRead),
			actionUID(groupMutation), actionUID(groupHigh)}, uid) {
			r.odd = append(r.odd, oddity{string(uid.ID), "no call is a group of actions; use `in`"})
		}
	}
}

func (r *reads) add(path []string, deep bool) {
	switch {
	case len(path) == 0:
		r.args = append(r.args, read{deep: deep})
		for name := range contextType(&shape{form: formRecord}) {
			r.facts = append(r.facts, string(name))
		}
	case path[0] == "args":
		r.args = append(r.args, read{path: path[1:], pointer: pointerOf(path[1:]), deep: deep})
		r.facts = append(r.facts, path[0])
	default:
		r.nulls = r.nulls || path[0] == "nulls"
		r.context = append(r.context, read{path: path, deep: deep})
		r.facts = append(r.facts, path[0])
	}
}

// chain takes context.args.to.id apart. It fails if the expression is
// anything but a variable and member names.
func chain(n ast.IsNode) (root string, path []string, ok bool) {
	for {
		switch e := n.(type) {
		case ast.NodeTypeVariable:
			slices.Reverse(path)
			return string(e.Name), path, true
		case ast.NodeTypeAccess:
			path = append(path, string(e.Value))
			n = e.Arg
		default:
			return "", nil, false
		}
	}
}

// asksNull reports whether the rule knows that the member at the pointer may
// be null.
func (r *reads) asksNull(pointer string) bool {
	return r.allNulls || r.nulls && slices.Contains(r.literals, pointer)
}
