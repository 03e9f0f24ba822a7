package cedar

import (
	"slices"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// kind is the type of a compiled expression.
type kind uint8

const (
	kindUnclear kind = iota // not compiled: evaluating it leaves the call to Cedar
	kindFlag
	kindWhole
	kindMoment // milliseconds
	kindDecimal
	kindText
)

// code is a compiled expression. Its kind says which function is set.
type code struct {
	kind    kind
	flag    func(*call) bool
	whole   func(*call) int64 // kindWhole and kindMoment
	decimal func(*call) types.Decimal
	text    func(*call) string

	// The common operands, which need no call of their own: a literal, or the
	// spot of an argument. spot is its number plus 1, or 0.
	spot     int
	literal  bool
	theWhole int64
	theText  string
}

// flag compiles an expression that must be a boolean.
func (c *compiler) flag(n ast.IsNode) func(*call) bool {
	if out := c.expression(n); out.kind == kindFlag {
		return out.flag
	}
	return unclear
}

func flag(f func(*call) bool) code { return code{kind: kindFlag, flag: f} }

// expression compiles one node. What it does not know is unclear.
func (c *compiler) expression(n ast.IsNode) code {
	c.out.cost++
	switch n := n.(type) {
	case ast.NodeValue:
		return literal(n.Value)
	case ast.NodeTypeAccess:
		return c.access(n)
	case ast.NodeTypeHas:
		return flag(c.has(n))
	case ast.NodeTypeNegate:
		return c.negated(n)
	case ast.NodeTypeAdd:
		return c.arithmetic(n.BinaryNode, sum)
	case ast.NodeTypeSub:
		return c.arithmetic(n.BinaryNode, difference)
	case ast.NodeTypeMult:
		return c.arithmetic(n.BinaryNode, product)
	case ast.NodeTypeIfThenElse:
		return c.choice(n)
	case ast.NodeTypeExtensionCall:
		return c.extension(n)
	default:
		return flag(c.logic(n))
	}
}

// logic compiles operators that give a boolean.
func (c *compiler) logic(n ast.IsNode) func(*call) bool {
	switch n := n.(type) {
	case ast.NodeTypeAnd:
		left, right := c.flag(n.Left), c.flag(n.Right)
		return func(k *call) bool { return left(k) && !k.left && right(k) }
	case ast.NodeTypeOr:
		left, right := c.flag(n.Left), c.flag(n.Right)
		return func(k *call) bool { return left(k) || k.left || right(k) }
	case ast.NodeTypeNot:
		return not(c.flag(n.Arg))
	case ast.NodeTypeEquals:
		return c.equal(n.BinaryNode)
	case ast.NodeTypeNotEquals:
		return not(c.equal(n.BinaryNode))
	case ast.NodeTypeLessThan:
		return c.less(n.Left, n.Right, false)
	case ast.NodeTypeLessThanOrEqual:
		return c.less(n.Right, n.Left, true)
	case ast.NodeTypeGreaterThan:
		return c.less(n.Right, n.Left, false)
	case ast.NodeTypeGreaterThanOrEqual:
		return c.less(n.Left, n.Right, true)
	case ast.NodeTypeLike:
		return c.like(n)
	case ast.NodeTypeIn:
		return c.entityIn(n)
	case ast.NodeTypeIs:
		return c.entityIs(n)
	case ast.NodeTypeContains:
		return c.contains(n)
	case ast.NodeTypeContainsAny:
		return c.containsSome(n.BinaryNode, slices.ContainsFunc[[]string])
	case ast.NodeTypeContainsAll:
		return c.containsSome(n.BinaryNode, every)
	case ast.NodeTypeIsEmpty:
		return c.isEmpty(n)
	default:
		return unclear
	}
}

func literal(v types.Value) code {
	switch v := v.(type) {
	case types.Boolean:
		return flag(constant(bool(v)))
	case types.Long:
		return code{kind: kindWhole, whole: func(*call) int64 { return int64(v) }, literal: true, theWhole: int64(v)}
	case types.String:
		return code{kind: kindText, text: func(*call) string { return string(v) }, literal: true, theText: string(v)}
	default:
		return code{}
	}
}

// equal compares two values of one kind; values of two kinds do not pass the
// check of the policies.
func (c *compiler) equal(n ast.BinaryNode) func(*call) bool {
	if f := c.sameEntity(n); f != nil {
		return f
	}
	a, b := c.expression(n.Left), c.expression(n.Right)
	if a.kind != b.kind {
		return unclear
	}
	if f := equalsLiteral(a, b); f != nil {
		return f
	}
	switch a.kind {
	case kindFlag:
		return func(k *call) bool { return a.flag(k) == b.flag(k) }
	case kindWhole, kindMoment:
		return func(k *call) bool { return a.whole(k) == b.whole(k) }
	case kindDecimal:
		return func(k *call) bool { return a.decimal(k) == b.decimal(k) }
	case kindText:
		return func(k *call) bool { return a.text(k) == b.text(k) }
	default:
		return unclear
	}
}

// equalsLiteral compares an argument with a literal, in either order; nil if
// it is something else.
func equalsLiteral(a, b code) func(*call) bool {
	if a.literal {
		a, b = b, a
	}
	if a.spot == 0 || !b.literal {
		return nil
	}
	at := a.spot - 1
	switch want, text := b.theWhole, b.theText; a.kind {
	case kindWhole:
		return func(k *call) bool { return k.found(at).whole == want }
	case kindText:
		return func(k *call) bool { return k.found(at).text == text }
	default:
		return nil
	}
}

// less compares whole numbers, or moments. It answers the opposite if negated.
func (c *compiler) less(left, right ast.IsNode, negated bool) func(*call) bool {
	a, b := c.expression(left), c.expression(right)
	switch {
	case a.kind != b.kind || a.whole == nil:
		return unclear
	case a.spot > 0 && b.literal:
		at, limit := a.spot-1, b.theWhole
		return func(k *call) bool { return (k.found(at).whole < limit) != negated }
	case a.literal && b.spot > 0:
		at, limit := b.spot-1, a.theWhole
		return func(k *call) bool { return (limit < k.found(at).whole) != negated }
	default:
		return func(k *call) bool { return (a.whole(k) < b.whole(k)) != negated }
	}
}

// arithmetic leaves a call on which the result does not fit to Cedar, whose
// error it is.
func (c *compiler) arithmetic(n ast.BinaryNode, of func(a, b int64) (int64, bool)) code {
	a, b := c.expression(n.Left), c.expression(n.Right)
	if a.kind != kindWhole || b.kind != kindWhole {
		return code{}
	}
	return code{kind: kindWhole, whole: func(k *call) int64 {
		out, fits := of(a.whole(k), b.whole(k))
		if !fits {
			k.leave()
		}
		return out
	}}
}

func sum(a, b int64) (int64, bool) {
	out := a + b
	return out, (out > a) == (b > 0)
}

func difference(a, b int64) (int64, bool) {
	out := a - b
	return out, (out < a) == (b > 0)
}

func product(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	out := a * b
	return out, (out < 0) == ((a < 0) != (b < 0)) && out/a == b
}

func (c *compiler) negated(n ast.NodeTypeNegate) code {
	a := c.expression(n.Arg)
	if a.kind != kindWhole {
		return code{}
	}
	return code{kind: kindWhole, whole: func(k *call) int64 {
		out, fits := difference(0, a.whole(k))
		if !fits {
			k.leave()
		}
		return out
	}}
}

// choice compiles if-then-else between values of one kind.
func (c *compiler) choice(n ast.NodeTypeIfThenElse) code {
	when, a, b := c.flag(n.If), c.expression(n.Then), c.expression(n.Else)
	if a.kind != kindFlag || b.kind != kindFlag {
		return code{}
	}
	return flag(func(k *call) bool {
		if when(k) {
			return a.flag(k)
		}
		return b.flag(k)
	})
}

// extension compiles decimal("1.5"), datetime("...") and the comparisons of
// decimals.
func (c *compiler) extension(n ast.NodeTypeExtensionCall) code {
	if len(n.Args) == 1 {
		return extensionLiteral(n)
	}
	if len(n.Args) != 2 {
		return code{}
	}
	var holds func(order int) bool
	switch n.Name {
	case "lessThan":
		holds = func(order int) bool { return order < 0 }
	case "lessThanOrEqual":
		holds = func(order int) bool { return order <= 0 }
	case "greaterThan":
		holds = func(order int) bool { return order > 0 }
	case "greaterThanOrEqual":
		holds = func(order int) bool { return order >= 0 }
	default:
		return code{}
	}
	a, b := c.expression(n.Args[0]), c.expression(n.Args[1])
	if a.kind != kindDecimal || b.kind != kindDecimal {
		return code{}
	}
	return flag(func(k *call) bool { return holds(a.decimal(k).Compare(b.decimal(k))) })
}

func extensionLiteral(n ast.NodeTypeExtensionCall) code {
	value, _ := n.Args[0].(ast.NodeValue)
	text, ok := value.Value.(types.String)
	if !ok {
		return code{}
	}
	switch n.Name {
	case "decimal":
		if d, err := types.ParseDecimal(string(text)); err == nil {
			return code{kind: kindDecimal, decimal: func(*call) types.Decimal { return d }}
		}
	case "datetime":
		if d, err := types.ParseDatetime(string(text)); err == nil {
			return code{kind: kindMoment, whole: func(*call) int64 { return d.Milliseconds() }}
		}
	}
	return code{}
}

func (c *compiler) like(n ast.NodeTypeLike) func(*call) bool {
	arg := c.expression(n.Arg)
	if arg.kind != kindText {
		return unclear
	}
	return func(k *call) bool { return n.Value.Match(types.String(arg.text(k))) }
}

// entities returns the literal entities of the right side of `in`.
func entityLiterals(n ast.IsNode) ([]types.EntityUID, bool) {
	nodes := []ast.IsNode{n}
	if set, ok := n.(ast.NodeTypeSet); ok {
		nodes = set.Elements
	}
	var out []types.EntityUID
	for _, n := range nodes {
		value, _ := n.(ast.NodeValue)
		uid, ok := value.Value.(types.EntityUID)
		if !ok {
			return nil, false
		}
		out = append(out, uid)
	}
	return out, true
}

func (c *compiler) entityIn(n ast.NodeTypeIn) func(*call) bool {
	variable, _ := n.Left.(ast.NodeTypeVariable)
	uids, ok := entityLiterals(n.Right)
	if !ok {
		return unclear
	}
	switch variable.Name {
	case "principal":
		c.out.facts = true
		return func(k *call) bool { return slices.ContainsFunc(uids, k.within) }
	case "action":
		return constant(slices.ContainsFunc(uids, c.op.in))
	case "resource":
		return func(k *call) bool { return slices.Contains(uids, k.resource) }
	default:
		return unclear
	}
}

func (c *compiler) entityIs(n ast.NodeTypeIs) func(*call) bool {
	variable, _ := n.Left.(ast.NodeTypeVariable)
	switch variable.Name {
	case "principal":
		return constant(n.EntityType == typeUser)
	case "action":
		return constant(n.EntityType == typeAction)
	case "resource":
		return func(k *call) bool { return k.resource.Type == n.EntityType }
	default:
		return unclear
	}
}

// sameEntity compiles `principal == User::"ann"` and the like, in either
// order; nil if it is something else.
func (c *compiler) sameEntity(n ast.BinaryNode) func(*call) bool {
	variable, ok := n.Left.(ast.NodeTypeVariable)
	other := n.Right
	if !ok {
		variable, ok = n.Right.(ast.NodeTypeVariable)
		other = n.Left
	}
	value, _ := other.(ast.NodeValue)
	uid, isEntity := value.Value.(types.EntityUID)
	if !ok || !isEntity {
		return nil
	}
	switch variable.Name {
	case "principal":
		c.out.facts = true
		return func(k *call) bool { return k.is(uid) }
	case "action":
		return constant(c.op.uid == uid)
	case "resource":
		return func(k *call) bool { return k.resource == uid }
	default:
		return unclear
	}
}
