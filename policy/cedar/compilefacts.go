package cedar

import (
	"slices"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
)

// access compiles context.args.amount, context.turn and the like.
func (c *compiler) access(n ast.NodeTypeAccess) code {
	root, path, ok := chain(n)
	if !ok || root != "context" {
		return code{}
	}
	if path[0] == "args" {
		return c.argument(path[1:])
	}
	return c.fact(path)
}

// argument compiles reading a place in the arguments. A rule that reads what
// is not there fails, so the call is Cedar's.
func (c *compiler) argument(path []string) code {
	at := c.place(read{path: path, pointer: pointerOf(path), deep: true})
	p := &c.out.places[at]
	last := len(p.steps) - 1
	switch {
	case last >= 0 && p.steps[last].count:
		return code{kind: kindWhole, whole: func(k *call) int64 { return k.found(at).whole }, spot: at + 1}
	case p.end == nil || last >= 0 && p.steps[last].items:
		return code{}
	}
	switch p.end.form {
	case formBool:
		return flag(func(k *call) bool { return k.found(at).flag })
	case formLong:
		return code{kind: kindWhole, whole: func(k *call) int64 { return k.found(at).whole }, spot: at + 1}
	case formDecimal:
		return code{kind: kindDecimal, decimal: func(k *call) types.Decimal { return k.found(at).decimal }}
	case formString:
		return code{kind: kindText, text: func(k *call) string { return k.found(at).text }, spot: at + 1}
	default:
		return code{}
	}
}

// found returns what stands at a place of the program. If nothing does, the
// call is left.
func (c *call) found(at int) *spot {
	s := &c.spots[at]
	if !s.there {
		c.leave()
	}
	return s
}

// fact compiles reading a member of context that is not an argument.
func (c *compiler) fact(path []string) code {
	c.out.facts = true
	if len(path) == 2 {
		return c.partOfFact(path[0], path[1])
	}
	if len(path) > 1 {
		return code{}
	}
	switch path[0] {
	case "turn":
		return code{kind: kindWhole, whole: func(k *call) int64 { return int64(k.facts().Turn) }}
	case "targets":
		return code{kind: kindWhole, whole: func(k *call) int64 { return int64(len(k.facts().Proposal.Targets)) }}
	case "now":
		return code{kind: kindMoment, whole: func(k *call) int64 { return types.NewDatetime(k.facts().Now).Milliseconds() }}
	case "agent":
		return sessionText(func(s *identity.Session) string { return s.Agent }, true)
	case "owner":
		return sessionText(func(s *identity.Session) string { return s.Owner }, true)
	case "task":
		return sessionText(func(s *identity.Session) string { return s.Task }, false)
	case "grant":
		return sessionText(func(s *identity.Session) string { return s.Grant.ID }, false)
	case "grant_exact":
		return flag(func(k *call) bool { return grantExact(k.facts()) })
	default:
		return code{}
	}
}

// sessionText reads a text of the session; one that may be absent is absent
// where it is empty.
func sessionText(of func(*identity.Session) string, always bool) code {
	return code{kind: kindText, text: func(k *call) string {
		text := of(&k.facts().Session)
		if text == "" && !always {
			k.leave()
		}
		return text
	}}
}

// partOfFact compiles context.tool.impact and context.approval.id. Group and
// name of the tool are those of the catalog that the policies were loaded for.
func (c *compiler) partOfFact(fact, part string) code {
	group, name := c.op.group, string(c.op.uid.ID)
	switch fact + "." + part {
	case "tool.name":
		return code{kind: kindText, text: func(*call) string { return name }}
	case "tool.impact":
		return code{kind: kindText, text: func(k *call) string { return k.facts().Tool.Impact }}
	case "tool.effect":
		return code{kind: kindText, text: func(k *call) string { return k.facts().Tool.Effect }}
	case "tool.mutation":
		return flag(constant(group != groupRead))
	case "tool.high_impact":
		return flag(constant(group == groupHigh))
	case "tool.cataloged":
		return flag(func(k *call) bool { return k.facts().Tool.Cataloged })
	case "approval.id":
		return code{kind: kindText, text: func(k *call) string {
			if k.facts().Approval == nil {
				k.leave()
				return ""
			}
			return k.facts().Approval.ID
		}}
	case "approval.exact":
		return flag(func(k *call) bool {
			if k.facts().Approval == nil {
				k.leave()
				return false
			}
			return k.facts().Approval.Exact
		})
	default:
		return code{}
	}
}

// has compiles a question whether a member is there. Where what it would be a
// member of is absent, the rule fails, so the call is Cedar's.
func (c *compiler) has(n ast.NodeTypeHas) func(*call) bool {
	root, path, ok := chain(n.Arg)
	if !ok || root != "context" {
		return unclear
	}
	name := string(n.Value)
	if len(path) > 0 && path[0] == "args" {
		return c.hasArgument(append(slices.Clone(path[1:]), name))
	}
	if len(path) > 0 {
		return unclear
	}
	c.out.facts = true
	switch name {
	case "task":
		return func(k *call) bool { return k.facts().Session.Task != "" }
	case "grant":
		return func(k *call) bool { return k.facts().Session.Grant.ID != "" }
	case "approval":
		return func(k *call) bool { return k.facts().Approval != nil }
	default:
		return unclear
	}
}

func (c *compiler) hasArgument(path []string) func(*call) bool {
	at := c.place(read{path: path, pointer: pointerOf(path)})
	if slices.ContainsFunc(c.out.places[at].steps, func(s step) bool { return s.items || s.count }) {
		return unclear
	}
	if len(path) == 1 {
		return func(k *call) bool { return k.spots[at].there }
	}
	parent := path[:len(path)-1]
	over := c.place(read{path: parent, pointer: pointerOf(parent)})
	return func(k *call) bool {
		if !k.spots[over].there {
			k.leave()
		}
		return k.spots[at].there
	}
}

// contains compiles membership of a text in a list of the call, or of a text
// or whole number in a list of the rule.
func (c *compiler) contains(n ast.NodeTypeContains) func(*call) bool {
	element := c.expression(n.Right)
	if texts, wholes, ok := listLiteral(n.Left); ok {
		switch {
		case element.kind == kindText && len(wholes) == 0:
			return func(k *call) bool { return slices.Contains(texts, element.text(k)) }
		case element.kind == kindWhole && len(texts) == 0:
			return func(k *call) bool { return slices.Contains(wholes, element.whole(k)) }
		}
		return unclear
	}
	list := c.list(n.Left)
	if list == nil || element.kind != kindText {
		return unclear
	}
	return func(k *call) bool { return list(k, element.text(k)) }
}

// containsSome compiles list.containsAny(["a", "b"]) and the like.
func (c *compiler) containsSome(n ast.BinaryNode, of func([]string, func(string) bool) bool) func(*call) bool {
	list := c.list(n.Left)
	texts, wholes, ok := listLiteral(n.Right)
	if list == nil || !ok || len(texts) == 0 || len(wholes) > 0 {
		return unclear
	}
	c.out.cost += len(texts)
	return func(k *call) bool {
		return of(texts, func(text string) bool { return list(k, text) })
	}
}

func every(texts []string, in func(string) bool) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !in(text) })
}

// listLiteral takes a set of literals apart.
func listLiteral(n ast.IsNode) (texts []string, wholes []int64, ok bool) {
	set, ok := n.(ast.NodeTypeSet)
	if !ok {
		return nil, nil, false
	}
	for _, element := range set.Elements {
		value, _ := element.(ast.NodeValue)
		switch v := value.Value.(type) {
		case types.String:
			texts = append(texts, string(v))
		case types.Long:
			wholes = append(wholes, int64(v))
		default:
			return nil, nil, false
		}
	}
	return texts, wholes, true
}

// list compiles a list of texts, as a question whether a text is in it; nil
// if it is something else.
func (c *compiler) list(n ast.IsNode) func(k *call, text string) bool {
	root, path, ok := chain(n)
	switch {
	case !ok || root != "context" || len(path) == 0:
		return nil
	case path[0] == "args":
		return c.elements(path[1:])
	}
	c.out.facts = true
	switch {
	case slices.Equal(path, []string{"approval", "voters"}):
		return func(k *call, text string) bool {
			if k.facts().Approval == nil {
				k.leave()
				return false
			}
			return slices.Contains(k.facts().Approval.Voters, text)
		}
	case len(path) > 1:
		return c.pointers(path)
	}
	switch path[0] {
	case "taint":
		return func(k *call, text string) bool { return slices.Contains(k.facts().Session.Taint, text) }
	case "nulls":
		c.out.whole = true
		return noNulls
	case "resolvers":
		return resolvedBy
	default:
		return nil
	}
}

func resolvedBy(k *call, text string) bool {
	for _, e := range k.facts().Proposal.Evidence {
		if joined(text, e.Resolver, e.Pointer) {
			return true
		}
	}
	return false
}

// joined reports whether text is a:b.
func joined(text, a, b string) bool {
	return len(text) == len(a)+1+len(b) && text[:len(a)] == a && text[len(a)] == ':' && text[len(a)+1:] == b
}

// noNulls knows only the list that is empty.
func noNulls(k *call, _ string) bool {
	if holdsNull(k.args) {
		k.leave()
	}
	return false
}

func holdsNull(v canon.Value) bool {
	switch v.Kind() {
	case canon.Null:
		return true
	case canon.Array:
		for i := range v.Len() {
			if holdsNull(v.At(i)) {
				return true
			}
		}
	case canon.Object:
		for i := range v.Len() {
			if _, member := v.Member(i); holdsNull(member) {
				return true
			}
		}
	}
	return false
}

// elements compiles the elements of an array of texts.
func (c *compiler) elements(path []string) func(k *call, text string) bool {
	at := c.place(read{path: path, pointer: pointerOf(path), deep: true})
	last := len(path) - 1
	if last < 0 || !c.out.places[at].steps[last].items || c.out.places[at].end == nil || c.out.places[at].end.form != formString {
		return nil
	}
	return func(k *call, text string) bool {
		s := &k.spots[at]
		if !s.there {
			k.leave()
		}
		for i := range s.items.Len() {
			if s.items.At(i).Text() == text {
				return true
			}
		}
		return false
	}
}
