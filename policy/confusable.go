package policy

import (
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/lookalike"
)

// Confusable are the places in the arguments where a text, or the name of a
// member, may not be what it looks like: JSON Pointers in document order.
// Nothing is normalized: what runs is what was sent.
type Confusable struct {
	Mixed  []string // a word with letters of scripts that no one language has
	Alike  []string // a word or letter that passes for a Latin one
	Unseen []string // a character that takes no place or turns the direction
}

// ConfusableIn looks through the arguments.
func ConfusableIn(args canon.Value) Confusable {
	var c Confusable
	if kindsIn(args) != 0 { // pointers are made only where there is something to point at
		c.look(args, "", 0)
	}
	return c
}

func kindsIn(v canon.Value) (kinds lookalike.Kind) {
	switch v.Kind() {
	case canon.String:
		kinds = lookalike.KindOf(v.Text())
	case canon.Object:
		for i := range v.Len() {
			name, value := v.Member(i)
			kinds |= lookalike.KindOf(name) | kindsIn(value)
		}
	case canon.Array:
		for i := range v.Len() {
			kinds |= kindsIn(v.At(i))
		}
	}
	return kinds
}

// look takes the kind of the member's name along, for both are at one place.
func (c *Confusable) look(v canon.Value, pointer string, kind lookalike.Kind) {
	if v.Kind() == canon.String {
		kind |= lookalike.KindOf(v.Text())
	}
	if kind&lookalike.MixedWord != 0 {
		c.Mixed = append(c.Mixed, pointer)
	}
	if kind&lookalike.AlikeWord != 0 {
		c.Alike = append(c.Alike, pointer)
	}
	if kind&lookalike.UnseenCharacter != 0 {
		c.Unseen = append(c.Unseen, pointer)
	}
	switch v.Kind() {
	case canon.Object:
		for i := range v.Len() {
			name, value := v.Member(i)
			c.look(value, canon.JoinPointer(pointer, name), lookalike.KindOf(name))
		}
	case canon.Array:
		for i := range v.Len() {
			c.look(v.At(i), canon.JoinIndex(pointer, i), 0)
		}
	}
}
