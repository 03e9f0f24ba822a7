package display

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// LongValue is from how many characters on a value is folded.
const LongValue = 2000

// Row is one member: what was requested beside what will run.
type Row struct {
	Pointer     string // RFC 6901; shown through Name
	Name        []Piece
	Requested   Cell
	Effective   Cell
	Value       canon.Value // the effective value, unmasked: for looking at, not for showing
	Changes     []canon.Change
	Differs     bool
	Unexplained bool // differs, and no change says why
}

// Cell is one value of a row.
type Cell struct {
	Absent bool
	Kind   canon.Kind
	Pieces []Piece
	Length int  // in characters, of the literal
	Long   bool // folded until somebody unfolds it
}

// How much of a long value stands in one block: browsers are slow with many
// marks, or very much text, in one.
const (
	chunkPieces = 300
	chunkRunes  = 8000
)

// Chunks cuts the pieces of a long value into blocks. Nothing is left out.
func (c Cell) Chunks() [][]Piece {
	var out [][]Piece
	var now []Piece
	room := chunkRunes
	for _, p := range c.Pieces {
		for p.Mark == "" && utf8.RuneCountInString(p.Text) > room {
			head, rest := cut(p.Text, room)
			out, now, room = append(out, append(now, Piece{Text: head})), nil, chunkRunes
			p.Text = rest
		}
		now, room = append(now, p), room-utf8.RuneCountInString(p.Text)
		if len(now) >= chunkPieces {
			out, now, room = append(out, now), nil, chunkRunes
		}
	}
	if len(now) > 0 {
		out = append(out, now)
	}
	return out
}

// cut takes about n characters from the front of a text, and more where
// accents follow.
func cut(text string, n int) (head, rest string) {
	seen := 0
	for i, r := range text {
		if seen >= n && !unicode.IsMark(r) {
			return text[:i], text[i:]
		}
		seen++
	}
	return text, ""
}

// Rows puts requested beside effective, one row for each scalar and each
// empty container, in the order of the effective arguments. What will run is
// masked by place alone.
func Rows(requested, effective canon.Value, changes []canon.Change, m Masks) []Row {
	t := table{before: m, masks: m.PointersOnly(), changes: slices.Clone(changes)}
	slices.SortStableFunc(t.changes, func(a, b canon.Change) int { return strings.Compare(a.Pointer, b.Pointer) })
	t.walk("", side{v: requested, present: true}, side{v: effective, present: true})
	return t.rows
}

// Leaves shows one value alone as rows.
func Leaves(v canon.Value, m Masks) []Row {
	t := table{before: m, masks: m}
	t.walk("", side{v: v, present: true}, side{v: v, present: true})
	return t.rows
}

type table struct {
	before  Masks          // of the requested side
	masks   Masks          // of the effective side and of names
	changes []canon.Change // by pointer
	rows    []Row
}

type side struct {
	v       canon.Value
	present bool
}

// opens reports whether the value has members to walk through.
func (s side) opens(kind canon.Kind) bool {
	return s.present && s.v.Kind() == kind && s.v.Len() > 0
}

func (t *table) walk(pointer string, req, eff side) {
	for _, kind := range []canon.Kind{canon.Object, canon.Array} {
		fits := func(s side) bool { return !s.present || s.v.Kind() == kind }
		if (req.opens(kind) || eff.opens(kind)) && fits(req) && fits(eff) {
			t.children(pointer, kind, req, eff)
			return
		}
	}
	t.leaf(pointer, req, eff)
}

func (t *table) children(pointer string, kind canon.Kind, req, eff side) {
	if kind == canon.Array {
		for i := range max(length(req), length(eff)) {
			t.walk(canon.JoinIndex(pointer, i), element(req, i), element(eff, i))
		}
		return
	}
	before, after := index(req), index(eff)
	for _, member := range eff.members() {
		t.walk(canon.JoinPointer(pointer, member.Name), before[member.Name], after[member.Name])
	}
	for _, member := range req.members() {
		if _, shown := after[member.Name]; !shown {
			t.walk(canon.JoinPointer(pointer, member.Name), before[member.Name], side{})
		}
	}
}

func (s side) members() []canon.Member {
	if !s.present {
		return nil
	}
	return s.v.Members()
}

// index keeps the walk linear in wide objects.
func index(s side) map[string]side {
	members := s.members()
	out := make(map[string]side, len(members))
	for _, member := range members {
		out[member.Name] = side{v: member.Value, present: true}
	}
	return out
}

func length(s side) int {
	if !s.present {
		return 0
	}
	return s.v.Len()
}

func element(s side, i int) side {
	if i >= length(s) {
		return side{}
	}
	return side{v: s.v.At(i), present: true}
}

func (t *table) leaf(pointer string, req, eff side) {
	row := Row{Pointer: pointer, Name: t.name(pointer), Value: eff.v,
		Requested: cell(pointer, req, t.before), Effective: cell(pointer, eff, t.masks)}
	row.Differs = req.present != eff.present || req.present && !canon.Equal(req.v, eff.v)
	row.Changes = t.changesAt(pointer, row.Differs)
	row.Unexplained = row.Differs && len(row.Changes) == 0
	t.rows = append(t.rows, row)
}

// changesAt returns the changes at a pointer and, where the member differs,
// those of what it is part of and of what is part of it.
func (t *table) changesAt(pointer string, differs bool) []canon.Change {
	found := slices.Clone(t.at(pointer))
	if !differs {
		return found
	}
	for up := pointer; up != ""; {
		up = up[:strings.LastIndexByte(up, '/')]
		found = append(found, t.at(up)...)
	}
	first, _ := t.search(pointer + "/")
	for i := first; i < len(t.changes) && strings.HasPrefix(t.changes[i].Pointer, pointer+"/"); i++ {
		found = append(found, t.changes[i])
	}
	return found
}

func (t *table) at(pointer string) []canon.Change {
	first, found := t.search(pointer)
	last := first
	for found && last < len(t.changes) && t.changes[last].Pointer == pointer {
		last++
	}
	return t.changes[first:last]
}

func (t *table) search(pointer string) (int, bool) {
	return slices.BinarySearchFunc(t.changes, pointer, func(c canon.Change, p string) int {
		return strings.Compare(c.Pointer, p)
	})
}

func cell(pointer string, s side, m Masks) Cell {
	if !s.present {
		return Cell{Absent: true}
	}
	pieces := Literal(s.v, pointer, m)
	n := 0
	for _, p := range pieces {
		n += utf8.RuneCountInString(p.Text)
	}
	return Cell{Kind: s.v.Kind(), Pieces: pieces, Length: n, Long: n > LongValue}
}

// name shows a pointer as a path: a.b[0]. A name that is no plain word is
// quoted, so that a dot inside a name is not taken for a step.
func (t *table) name(pointer string) []Piece {
	tokens, _ := canon.SplitPointer(pointer)
	w := writer{}
	if len(tokens) == 0 {
		w.plain.WriteString("(all)")
	}
	for i, token := range tokens {
		switch {
		case t.masks.Holds(token):
			w.mark(Masked, "[secret name]")
		case plainName(token):
			if i > 0 {
				w.plain.WriteByte('.')
			}
			w.plain.WriteString(token)
		default:
			w.plain.WriteByte('[')
			w.quoted(token)
			w.plain.WriteByte(']')
		}
	}
	return w.done()
}

func plainName(token string) bool {
	for _, r := range token {
		word := r == '_' || r == '-' || r == '$' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !word {
			return false
		}
	}
	return token != ""
}

// Notes spells out amounts whose pointers are paired with the pointer of
// their currency, and moments. The key of the result is the pointer.
func (r Reader) Notes(args canon.Value, pairs map[string]string, rows []Row, m Masks) map[string]string {
	notes := map[string]string{}
	for _, row := range rows {
		v := row.Value
		tokens, _ := canon.SplitPointer(row.Pointer)
		if row.Effective.Absent || m.hides(tokens, v) {
			continue
		}
		if currency, paired := pairs[row.Pointer]; paired {
			c, _ := args.Lookup(currency)
			if text, ok := r.Money(v, c); ok {
				notes[row.Pointer] = text
			}
		} else if text, ok := r.Instant(v); ok {
			notes[row.Pointer] = text
		}
	}
	return notes
}

// Member shows one member by itself: its name as a path, and its value.
func Member(pointer string, v canon.Value, m Masks) (name []Piece, value Cell) {
	t := table{before: m, masks: m.PointersOnly()}
	return t.name(pointer), cell(pointer, side{v: v, present: true}, t.masks)
}
