package canon

import (
	"hash/maphash"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fewNames is up to how many members names are compared one by one; larger
// objects use a hash set, so that no object costs more than linear time.
const fewNames = 16

// names is what is known of the names of one open object.
type names struct {
	table *nameTable // once there are more than fewNames
	ends  uint64     // their first and last letters: see mayRepeat
}

// mayRepeat notes a name, and reports false if no name noted before can be
// equal to it under simple case folding: those begin and end alike, or with a
// letter beyond ASCII.
func (n *names) mayRepeat(name string) bool {
	bit := uint64(1)
	if name != "" {
		first, last := name[0], name[len(name)-1]
		if first|last >= utf8.RuneSelf {
			before := n.ends
			n.ends = ^uint64(0)
			return before != 0
		}
		// Letters in both cases have the same five low bits.
		bit = 1 << ((first&31 + 9*(last&31)) & 63)
	}
	before := n.ends
	n.ends |= bit
	return before&bit != 0
}

// twins finds names that one object must not hold twice.
type twins struct {
	seed   maphash.Seed
	seeded bool
	buf    []byte
	folds  *[1024]fold
	table  nameTable
	work   int // names compared, sorted or hashed; tests bound it
}

// fold remembers what foldRune said.
type fold struct{ from, to rune }

// add reports the rule that name breaks beside the members before it.
func (t *twins) add(seen *names, before []Member, name string, fold bool) string {
	if len(before) < fewNames {
		if !seen.mayRepeat(name) {
			return ""
		}
		return t.compare(before, name, fold)
	}
	if seen.table == nil {
		seen.table = new(nameTable)
		seen.table.reset(2 * fewNames)
		for i := range before {
			seen.table.add(hashName(t, before[i].Name, fold), i, never)
		}
	}
	same := func(other int) bool {
		return before[other].Name == name || fold && strings.EqualFold(before[other].Name, name)
	}
	if other, found := seen.table.add(hashName(t, name, fold), len(before), same); found {
		return twinRule(before[other].Name, name)
	}
	return ""
}

// among reports whether two of many members have names that one object must
// not hold together.
func (t *twins) among(members []Member, fold bool) bool {
	t.table.reset(len(members))
	for i := range members {
		name := members[i].Name
		same := func(other int) bool {
			return members[other].Name == name || fold && strings.EqualFold(members[other].Name, name)
		}
		if _, found := t.table.add(hashName(t, name, fold), i, same); found {
			return true
		}
	}
	return false
}

// never is what equals nothing: twins among the members before have been told.
func never(int) bool { return false }

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
func mayFold(a, b string) bool {
	if a == "" || b == "" {
		return a == b
	}
	return mayFoldBytes(a[0], b[0]) && mayFoldBytes(a[len(a)-1], b[len(b)-1])
}

func mayFoldBytes(x, y byte) bool {
	return x >= utf8.RuneSelf || y >= utf8.RuneSelf || x|0x20 == y|0x20
}

// appendFold appends s with every character replaced by one that stands for
// all that are equal to it under simple case folding.
func appendFold[T text](dst []byte, s T, t *twins) []byte {
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
		dst = utf8.AppendRune(dst, t.fold(r))
		i += n
	}
	return dst
}

// fold is foldRune with a memory.
func (t *twins) fold(r rune) rune {
	if t.folds == nil {
		t.folds = new([1024]fold)
	}
	known := &t.folds[r&1023]
	if known.from != r { // ASCII is not asked for
		*known = fold{r, foldRune(r)}
	}
	return known.to
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
