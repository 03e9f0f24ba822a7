package schema

import (
	"regexp/syntax"
	"slices"
)

// automaton matches a pattern in ASCII text, one table look-up a byte. It is
// built when the schema is compiled, for patterns that need few states.
type automaton struct {
	class   [128]uint8 // bytes that the pattern does not tell apart are one class
	classes int
	next    []uint8 // state*classes + class to state
	matched uint64  // bits of the states in which the pattern has occurred
	atEnd   uint64  // bits of those in which it has if the text ends here
	dead    uint8   // the state that no match follows; maxStates if there is none
}

const (
	maxStates = 64
	// maxAutomaton is the longest program that is tried.
	maxAutomaton = 256
)

// match reports whether the pattern occurs in s; known is false if only the
// regular expression can tell.
func (a *automaton) match(s string) (ok, known bool) {
	state := uint8(0)
	if a.matched&1 != 0 {
		return true, true
	}
	for i := range len(s) {
		if s[i] >= 128 {
			return false, false
		}
		state = a.next[int(state)*a.classes+int(a.class[s[i]])]
		if a.matched>>state&1 != 0 {
			return true, true
		}
		if state == a.dead {
			return false, true
		}
	}
	return a.atEnd>>state&1 != 0, true
}

// subsets builds an automaton from the program of a pattern.
type subsets struct {
	prog   *syntax.Prog
	bytes  []byte           // one of each class
	states [][]uint32       // sorted instructions that read, end or match
	known  map[string]uint8 // by their instructions; not the first
	seen   []int            // by instruction: the round in which it was met
	round  int
	budget int // instructions that may still be looked at
	fails  bool
}

// newAutomaton returns nil if the pattern needs too many states, looks at what
// stands around a place, or would take more work than its length is worth.
func newAutomaton(prog *syntax.Prog, length int) *automaton {
	b := subsets{prog: prog, known: map[string]uint8{}, seen: make([]int, len(prog.Inst)), budget: 4096 + 1024*length}
	a := &automaton{dead: maxStates}
	if len(prog.Inst) > maxAutomaton || !b.spend(len(a.class)*len(prog.Inst)) {
		return nil
	}
	b.classify(a)
	b.states = append(b.states, b.closure([]uint32{uint32(prog.Start)}, true, false))
	for i := 0; i < len(b.states) && !b.fails; i++ {
		b.settle(a, i)
		for _, c := range b.bytes {
			a.next = append(a.next, b.step(i, c))
		}
	}
	if b.fails {
		return nil
	}
	return a
}

func (b *subsets) spend(n int) bool {
	b.budget -= n
	b.fails = b.fails || b.budget < 0
	return !b.fails
}

// classify puts the bytes into classes.
func (b *subsets) classify(a *automaton) {
	known := map[string]uint8{}
	for c := range byte(128) {
		key := make([]byte, 0, len(b.prog.Inst))
		for i := range b.prog.Inst {
			if in := &b.prog.Inst[i]; reads(in) && in.MatchRune(rune(c)) {
				key = append(key, 1)
			} else {
				key = append(key, 0)
			}
		}
		class, found := known[string(key)]
		if !found {
			class = uint8(len(b.bytes))
			known[string(key)] = class
			b.bytes = append(b.bytes, c)
		}
		a.class[c] = class
	}
	a.classes = len(b.bytes)
}

func reads(in *syntax.Inst) bool {
	switch in.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	default:
		return false
	}
}

// settle says what it means that the text, or the match, ends in state i.
func (b *subsets) settle(a *automaton, i int) {
	set := b.states[i]
	if b.matches(set) {
		a.matched |= 1 << i
	}
	if b.matches(b.closure(set, i == 0, true)) {
		a.atEnd |= 1 << i
	}
	if len(set) == 0 {
		a.dead = uint8(i)
	}
}

func (b *subsets) matches(set []uint32) bool {
	return slices.ContainsFunc(set, func(pc uint32) bool { return b.prog.Inst[pc].Op == syntax.InstMatch })
}

// step returns the state that follows state i on byte c.
func (b *subsets) step(i int, c byte) uint8 {
	from := []uint32{uint32(b.prog.Start)} // a match may begin anywhere
	b.spend(len(b.states[i]))
	for _, pc := range b.states[i] {
		if in := &b.prog.Inst[pc]; reads(in) && in.MatchRune(rune(c)) {
			from = append(from, in.Out)
		}
	}
	set := b.closure(from, false, false)
	key := make([]byte, 0, 2*len(set))
	for _, pc := range set {
		key = append(key, byte(pc), byte(pc>>8))
	}
	state, found := b.known[string(key)]
	if !found {
		if len(b.states) == maxStates {
			b.fails = true
			return 0
		}
		state = uint8(len(b.states))
		b.known[string(key)] = state
		b.states = append(b.states, set)
	}
	return state
}

// closure follows what reads nothing. begin and end say whether the place is
// at the beginning and at the end of the text.
func (b *subsets) closure(from []uint32, begin, end bool) []uint32 {
	b.round++
	var set []uint32
	for _, pc := range from {
		set = b.follow(set, pc, begin, end)
	}
	slices.Sort(set)
	return set
}

func (b *subsets) follow(set []uint32, pc uint32, begin, end bool) []uint32 {
	if b.seen[pc] == b.round || !b.spend(1) {
		return set
	}
	b.seen[pc] = b.round
	switch in := &b.prog.Inst[pc]; in.Op {
	case syntax.InstFail:
	case syntax.InstAlt, syntax.InstAltMatch:
		set = b.follow(set, in.Out, begin, end)
		set = b.follow(set, in.Arg, begin, end)
	case syntax.InstCapture, syntax.InstNop:
		set = b.follow(set, in.Out, begin, end)
	case syntax.InstEmptyWidth:
		switch op := syntax.EmptyOp(in.Arg); {
		case op != syntax.EmptyBeginText && op != syntax.EmptyEndText:
			b.fails = true // word boundaries and lines
		case op == syntax.EmptyBeginText && begin, op == syntax.EmptyEndText && end:
			set = b.follow(set, in.Out, begin, end)
		case op == syntax.EmptyEndText:
			set = append(set, pc) // the text may end here
		}
	default:
		set = append(set, pc)
	}
	return set
}
