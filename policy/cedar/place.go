package cedar

import (
	"slices"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/seed-de4804fb/verbatim/canon"
)

// place is one spot in the arguments of an operation that its rules read, with
// what the operation knows of the way to it.
type place struct {
	read  read
	root  int // of the program, where the way begins
	steps []step
	end   *shape // nil if the operation shows nothing there
}

// step is one name on the way to a place.
type step struct {
	name  string
	from  *shape // what the name is looked up in
	to    *shape // nil if the operation shows no such member
	items bool   // the elements of an array
	count bool   // the length of an array
}

// spot is what stands at a place in one call. Only what belongs to the form of
// the place is set.
type spot struct {
	there   bool
	flag    bool
	whole   int64
	decimal types.Decimal
	text    string
	items   canon.Value // the array whose elements are read
}

// placeOf follows a read through the shape of the arguments.
func placeOf(r read, args *shape) place {
	p := place{read: r}
	at := args
	for _, name := range r.path {
		s := step{name: name, from: at}
		if at != nil {
			s.items = at.form == formArray && name == attrItems
			s.count = at.form == formArray && name == attrLength
			s.to = below(at, name)
		}
		p.steps = append(p.steps, s)
		at = s.to
	}
	p.end = at
	return p
}

// below returns the shape of a member, of elements for "items", nil for what
// is not shown.
func below(s *shape, name string) *shape {
	if s.form == formArray {
		if name == attrItems {
			return s.elem
		}
		return nil
	}
	m, ok := s.member(name)
	if !ok || s.form != formRecord {
		return nil
	}
	return m.shape
}

// load reads a place in the arguments, or if the program does not read all of
// them in the member that was picked. It reports false unless every rule may
// be given what stands there: then [fault] finds nothing either, whatever the
// rule asks about nulls.
func (p *place) load(c *call) (spot, bool) {
	if c.picked == nil {
		return p.follow(c.args, 0)
	}
	v, s := c.picked[p.root], &p.steps[0]
	switch {
	case s.from == nil || s.from.form != formRecord:
		return spot{}, false
	case v.Kind() == canon.Invalid:
		return spot{}, true
	case s.to == nil || v.IsNull():
		return spot{}, false
	}
	return p.follow(v, 1)
}

// follow goes the way from a step on; v is where it has come to.
func (p *place) follow(v canon.Value, from int) (spot, bool) {
	for i := from; i < len(p.steps); i++ {
		s := &p.steps[i]
		switch {
		case s.from == nil:
			return spot{}, false
		case s.count || s.items:
			if v.Kind() != canon.Array || i != len(p.steps)-1 {
				return spot{}, false
			}
			return elementsSpot(v, s)
		case s.from.form != formRecord || v.Kind() != canon.Object:
			return spot{}, false
		}
		value, present := v.Get(s.name)
		if !present {
			return spot{}, true
		}
		if s.to == nil || value.IsNull() {
			return spot{}, false
		}
		v = value
	}
	return p.final(v)
}

func elementsSpot(v canon.Value, s *step) (spot, bool) {
	if s.count {
		return spot{there: true, whole: int64(v.Len())}, true
	}
	if s.to == nil || itemsFault(v, s.from, "") != "" {
		return spot{}, false
	}
	return spot{there: true, items: v}, true
}

// final takes the value at the end of the way.
func (p *place) final(v canon.Value) (spot, bool) {
	out, ok := spot{there: true}, true
	switch p.end.form {
	case formBool:
		out.flag, ok = v.Bool(), v.Kind() == canon.Bool
	case formLong:
		out.whole, ok = v.Int64()
	case formDecimal:
		out.decimal, ok = decimal(v)
	case formString:
		out.text, ok = v.Text(), v.Kind() == canon.String
	case formArray:
		ok = v.Kind() == canon.Array && (!p.read.deep || deepFault(v, p.end, "", nil) == "")
	default:
		ok = v.Kind() == canon.Object && (!p.read.deep || deepFault(v, p.end, "", nil) == "")
	}
	return out, ok
}

// samePlace compares what is read, not who reads it.
func samePlace(a, b read) bool { return a.deep == b.deep && slices.Equal(a.path, b.path) }
