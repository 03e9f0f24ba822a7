package canon

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// Options are the limits and rules of one decoding. A limit of 0 means its
// default; no value switches one off.
type Options struct {
	MaxBytes int  // longest input in bytes, 1 to CeilingBytes; 0 means DefaultMaxBytes
	MaxDepth int  // deepest nesting of arrays and objects, 1 to CeilingDepth; 0 means DefaultMaxDepth
	MaxNodes int  // most values, the root and all below it, 1 to CeilingNodes; 0 means DefaultMaxNodes
	Exact    bool // numbers must equal what RFC 8785 prints
	// FoldTwins refuses two member names of one object that are equal under
	// simple case folding.
	FoldTwins bool
	// Known says whether an error may name the member at a pointer. Names
	// that it does not vouch for print as UnknownName. nil means that the
	// reader of the errors may see every name.
	Known func(pointer string) bool
}

// The default limits.
const (
	DefaultMaxBytes = 1 << 20
	DefaultMaxDepth = 64
	DefaultMaxNodes = 100_000
)

// The highest limits that Options may ask for. The depth is that of the
// recursion in this package and its callers.
const (
	CeilingBytes = 64 << 20
	CeilingDepth = 1000
	CeilingNodes = 10_000_000
)

// ErrOptions is returned for a limit outside its range.
var ErrOptions = errors.New("limit outside its range")

// Check returns an error wrapping ErrOptions if a limit is outside its range.
func (o Options) Check() error {
	if within(o.MaxBytes, CeilingBytes) && within(o.MaxDepth, CeilingDepth) && within(o.MaxNodes, CeilingNodes) {
		return nil
	}
	for _, l := range []struct {
		name           string
		value, ceiling int
	}{
		{"MaxBytes", o.MaxBytes, CeilingBytes},
		{"MaxDepth", o.MaxDepth, CeilingDepth},
		{"MaxNodes", o.MaxNodes, CeilingNodes},
	} {
		if !within(l.value, l.ceiling) {
			return fmt.Errorf("%s %d: %w (1 to %d)", l.name, l.value, ErrOptions, l.ceiling)
		}
	}
	return nil
}

func within(limit, ceiling int) bool { return 0 <= limit && limit <= ceiling }

func (o Options) withDefaults() Options {
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.MaxDepth == 0 {
		o.MaxDepth = DefaultMaxDepth
	}
	if o.MaxNodes == 0 {
		o.MaxNodes = DefaultMaxNodes
	}
	return o
}

const byteOrderMark = "\ufeff"

// Decode reads exactly one JSON value of any kind (RFC 8259), with white
// space around it. It refuses what RFC 8785 §3.1 and RFC 7493 (I-JSON) leave
// open: duplicate names, lone surrogates, numbers that no double comes near.
// The error is a [Violations], or wraps ErrOptions. It lists all
// numbers and names that are refused, up to MaxViolations, and ends at the
// first other fault. Decode keeps no reference to src, but any part of the
// Value keeps a copy of all of the text.
func Decode(src []byte, opt Options) (Value, error) {
	if err := opt.Check(); err != nil {
		return Value{}, err
	}
	opt = opt.withDefaults()
	if len(src) > opt.MaxBytes {
		return Value{}, tooLong(opt.MaxBytes)
	}
	return decode(string(src), opt)
}

// DecodeText is [Decode] of a string. The Value shares it: nothing is copied
// that has no escapes.
func DecodeText(text string, opt Options) (Value, error) {
	if err := opt.Check(); err != nil {
		return Value{}, err
	}
	opt = opt.withDefaults()
	if len(text) > opt.MaxBytes {
		return Value{}, tooLong(opt.MaxBytes)
	}
	return decode(text, opt)
}

func decode(text string, opt Options) (Value, error) {
	d := scanners.Get().(*scanner)
	d.begin(text, opt)
	if v, ok := d.document(); ok {
		d.end()
		return v, nil
	}
	// d is not used again: it still holds parts of what was refused.
	again := scanner{all: true}
	again.begin(text, opt)
	again.document()
	return Value{}, again.found
}

func tooLong(limit int) Violations {
	return Violations{{Rule: RuleSize, Expected: expected[RuleSize], Offset: limit}}
}

// scanners are kept for their stacks. Of an earlier text they hold at most
// unescaped bytes that nobody reads.
var scanners = sync.Pool{New: func() any { return new(scanner) }}

// begin takes a text and makes stacks that hold an ordinary call.
func (d *scanner) begin(text string, opt Options) {
	d.s, d.pos, d.opt = text, 0, opt
	d.nodes, d.depth, d.reached, d.jumbled = 0, 0, 0, 0
	if d.trust = sound; opt.Exact {
		d.trust = exact
	}
	d.dirty = !utf8.ValidString(text)
	d.bare = strings.IndexByte(text, '\\') < 0
	d.mem.expect(text)
	room := d.mem.reserve()
	if d.elems == nil {
		d.elems = make([]Value, 0, min(d.mem.moreElems, ordinary))
	}
	if d.members == nil && room == nil {
		d.members = make([]Member, 0, min(d.mem.moreMembers, ordinary))
	}
	if d.inTree = room != nil; d.inTree {
		d.spare, d.members = d.members, room
	}
}

// end lets go of the text and of all that was made from it, and gives d back.
// The stacks are empty; every container has cleared its part.
func (d *scanner) end() {
	if d.inTree {
		d.members, d.spare = d.spare, nil
	}
	if cap(d.elems) > reusable || cap(d.members) > reusable || cap(d.buf) > reusable || cap(d.twins.table.entries) > reusable {
		return
	}
	d.s, d.opt, d.mem = "", Options{}, memory{}
	scanners.Put(d)
}

// reusable is the longest stack that is kept for the next text.
const reusable = 4096

// ordinary is how many members are open at once in an ordinary call.
const ordinary = 16

// document reads the whole text.
func (d *scanner) document() (Value, bool) {
	if strings.HasPrefix(d.s, byteOrderMark) {
		return Value{}, d.refuse(0, RuleBOM)
	}
	d.space()
	if d.pos == len(d.s) {
		return Value{}, d.refuse(d.pos, RuleEmpty)
	}
	v, ok := d.value()
	if !ok {
		return Value{}, false
	}
	d.space()
	if d.pos < len(d.s) {
		return Value{}, d.refuse(d.pos, RuleTrailingData)
	}
	return v, true
}

// maxKnownName is the longest name that Options.Known is asked about, and
// below a longer one nothing is known: asking about each place below it again
// would cost more than linear time.
const maxKnownName = 1024

// pointer joins the place, with the names that may not be shown replaced.
func (d *scanner) pointer() string {
	var exact, shown strings.Builder
	ends := make([]int, 0, len(d.at))
	for _, t := range d.at {
		exact.WriteString(t.join())
		ends = append(ends, exact.Len())
	}
	if d.opt.Known == nil {
		return exact.String()
	}
	hidden := false
	for i, t := range d.at {
		if t.index < 0 {
			hidden = hidden || len(t.name) > maxKnownName
			if hidden || !d.opt.Known(exact.String()[:ends[i]]) {
				t.name = UnknownName
			}
		}
		shown.WriteString(t.join())
	}
	return shown.String()
}

// token is one reference token of a JSON Pointer.
type token struct {
	name  string
	index int // -1 for a member
}

func (t token) join() string {
	if t.index >= 0 {
		return JoinIndex("", t.index)
	}
	return JoinPointer("", t.name)
}
