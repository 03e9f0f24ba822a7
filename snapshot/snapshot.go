package snapshot

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/seed-de4804fb/verbatim/canon"
)

// The rules of this package that a [canon.Violation] can name, beside those
// of package canon.
const (
	RuleObject       = "not_object"         // the root is not an object
	RuleGoType       = "go_type"            // a Go type outside the domain
	RuleTypedNil     = "typed_nil"          // a nil map or slice that has a type
	RuleReference    = "repeated_reference" // one map or slice element reached twice
	RuleNotCanonical = "not_canonical"      // stored text is not its own canonical form
)

// Snapshot is one frozen argument object as RFC 8785 bytes. Only [Freeze],
// [FreezeGo] and [Thaw] make one; the zero Snapshot is not frozen and has no
// bytes.
type Snapshot struct {
	_    [0]func() // not comparable: compare Text
	text string
	read *reading // nil in the zero Snapshot
}

// reading is the decode of the frozen bytes. It is made when somebody asks for
// it and serves all readers, for a [canon.Value] cannot be changed.
type reading struct {
	once sync.Once
	tree canon.Value
}

func frozen(text string) Snapshot { return Snapshot{text: text, read: new(reading)} }

// Limits bound what is frozen, as [canon.Options] bound what is decoded: zero
// means the default, a value outside its range is an error.
type Limits struct {
	MaxBytes int // of the RFC 8785 text
	MaxDepth int // nesting of arrays and objects
	MaxNodes int // values
}

// Freeze checks a value tree against the strict domain and freezes it.
// It fails with [canon.Violations].
func Freeze(v canon.Value) (Snapshot, error) { return Limits{}.Freeze(v) }

// FreezeGo checks a Go value against the strict domain (semantics §5),
// detaches it and freezes it. It fails with [canon.Violations]. The caller
// must not change v while FreezeGo reads it; afterwards it may.
func FreezeGo(v any) (Snapshot, error) { return Limits{}.FreezeGo(v) }

// Freeze is [Freeze] within other limits.
func (l Limits) Freeze(v canon.Value) (Snapshot, error) {
	if v.Kind() != canon.Object {
		return Snapshot{}, canon.Refuse("", RuleObject, "an object")
	}
	if err := canon.CheckWithin(v, l.options()); err != nil {
		return Snapshot{}, err
	}
	b := borrow()
	defer b.giveBack()
	b.text = v.AppendTo(b.text)
	if len(b.text) > l.bytes() {
		return Snapshot{}, canon.Refuse("", canon.RuleSize, "a shorter text")
	}
	return frozen(string(b.text)), nil
}

// FreezeGo is [FreezeGo] within other limits.
func (l Limits) FreezeGo(v any) (Snapshot, error) {
	if err := l.options().Check(); err != nil {
		return Snapshot{}, err
	}
	w := walk{check: check{limits: l}}
	out := w.tree(v)
	if len(w.violations) > 0 {
		return Snapshot{}, w.violations
	}
	return l.Freeze(out)
}

func (l Limits) options() canon.Options {
	return canon.Options{MaxBytes: l.MaxBytes, MaxDepth: l.MaxDepth, MaxNodes: l.MaxNodes, Exact: true}
}

func (l Limits) bytes() int { return cmp.Or(l.MaxBytes, canon.DefaultMaxBytes) }
func (l Limits) depth() int { return cmp.Or(l.MaxDepth, canon.DefaultMaxDepth) }
func (l Limits) nodes() int { return cmp.Or(l.MaxNodes, canon.DefaultMaxNodes) }

// ceiling are the limits under which stored text is read back.
func ceiling() Limits {
	return Limits{MaxBytes: canon.CeilingBytes, MaxDepth: canon.CeilingDepth, MaxNodes: canon.CeilingNodes}
}

// Text returns argsCanonicalJson.
func (s Snapshot) Text() string { return s.text }

// JSON returns a fresh copy of the frozen bytes.
func (s Snapshot) JSON() []byte { return []byte(s.text) }

// IsZero reports whether nothing was frozen.
func (s Snapshot) IsZero() bool { return s.text == "" }

// Value returns the tree that the frozen bytes decode to. It is a decode of
// exactly these bytes, never the tree that was frozen. The zero Snapshot gives
// the invalid Value.
func (s Snapshot) Value() canon.Value {
	if s.read == nil {
		return canon.Value{}
	}
	s.read.once.Do(func() { s.read.tree = decoded(s.text) })
	return s.read.tree
}

func decoded(text string) canon.Value {
	v, err := canon.DecodeText(text, ceiling().options())
	if err != nil {
		// Only this package writes text, and only after the same checks. Going
		// on with another tree than the frozen one would be worse than stopping.
		panic(fmt.Sprintf("snapshot: frozen bytes do not decode: %v", err))
	}
	return v
}

// Pick reads single members from the frozen bytes: see [canon.Pick]. It reports
// false where [Snapshot.Value] is to be asked.
func (s Snapshot) Pick(names []string, out []canon.Value) bool {
	return canon.Pick(s.text, names, out)
}

// View builds a fresh Go tree from the frozen bytes: map[string]any, []any, string, bool, nil and
// float64, or int64 where the number is an integer. The zero Snapshot gives
// nil.
func (s Snapshot) View() map[string]any {
	if s.IsZero() {
		return nil
	}
	if tree, ok := canon.GoObject(s.text); ok {
		return tree
	}
	return goObject(s.Value())
}

// Thaw reads stored bytes back. It fails with [canon.Violations] unless they
// are already the canonical form of an object in the strict domain.
func Thaw(text string) (Snapshot, error) {
	v, err := canon.DecodeText(text, ceiling().options())
	if err != nil {
		return Snapshot{}, err
	}
	if v.Kind() != canon.Object {
		return Snapshot{}, canon.Refuse("", RuleObject, "an object")
	}
	b := borrow()
	defer b.giveBack()
	if b.text = v.AppendTo(b.text); string(b.text) != text {
		return Snapshot{}, canon.Refuse("", RuleNotCanonical, "the RFC 8785 form of an object")
	}
	s := frozen(text)
	s.read.once.Do(func() { s.read.tree = v })
	return s, nil
}

func goValue(v canon.Value) any {
	switch v.Kind() {
	case canon.Bool:
		return v.Bool()
	case canon.String:
		return v.Text()
	case canon.Number:
		if i, ok := v.Int64(); ok {
			return i
		}
		return v.Float64()
	case canon.Array:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = goValue(v.At(i))
		}
		return out
	case canon.Object:
		return goObject(v)
	default:
		return nil
	}
}

func goObject(v canon.Value) map[string]any {
	out := make(map[string]any, v.Len())
	for i := range v.Len() {
		name, x := v.Member(i)
		out[name] = goValue(x)
	}
	return out
}
