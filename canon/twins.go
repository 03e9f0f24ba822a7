package canon

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// fewNames is up to how many members names are compared one by one; larger
// objects use a hash set, so that no object costs more than linear time.
const fewNames = 16

// names is the set of one open object that has outgrown fewNames; nil before.
// It maps a name, folded if asked for, to the index of the member.
type names map[string]int

// twins finds names that one object must not hold twice.
type twins struct {
	buf  []byte
	work int // names compared or hashed; tests bound it
}

// add reports the rule that name breaks beside the members before it.
func (t *twins) add(seen *names, before []Member, name string, fold bool) string {
	if len(before) < fewNames {
		return t.compare(before, name, fold)
	}
	set := *seen
	if set == nil {
		set = make(names, 4*fewNames)
		for i := range before {
			set[t.key(before[i].Name, fold)] = i
		}
		*seen = set
	}
	key := t.key(name, fold)
	if i, found := set[key]; found {
		return twinRule(before[i].Name, name)
	}
	set[key] = len(before)
	return ""
}

func (t *twins) compare(before []Member, name string, fold bool) string {
	t.work += len(before)
	for i := range before {
		other := before[i].Name
		if fold && mayFold(other, name) && strings.EqualFold(other, name) {
			return twinRule(other, name)
		}
		if !fold && other == name {
			return RuleDuplicateName
		}
	}
	return ""
}

func twinRule(a, b string) string {
	if a == b {
		return RuleDuplicateName
	}
	return RuleCaseTwin
}

// mayFold is a quick test that most pairs of different names fail.
func mayFold[T text](a, b T) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	x, y := a[0], b[0]
	return x >= utf8.RuneSelf || y >= utf8.RuneSelf || x|0x20 == y|0x20
}

// key returns the text that equal names share.
func (t *twins) key(name string, fold bool) string {
	t.work++
	if !fold {
		return name
	}
	t.buf = appendFold(t.buf[:0], name)
	if string(t.buf) == name {
		return name
	}
	return string(t.buf)
}

// appendFold appends s with every character replaced by one that stands for
// all that are equal to it under simple case folding.
func appendFold[T text](dst []byte, s T) []byte {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
		dst = utf8.AppendRune(dst, foldRune(r))
		i += n
	}
	return dst
}

// foldRune returns the lowest member of the orbit of r, but the lowercase
// letter where the orbit has an ASCII one (the Kelvin sign, the long s).
func foldRune(r rune) rune {
	low := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		low = min(low, next)
	}
	if 'A' <= low && low <= 'Z' {
		low |= 0x20
	}
	return low
}
