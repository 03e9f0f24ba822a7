package canon

import "slices"

// Decoder writes the canonical form of texts without a tree between, and
// keeps its working memory for the next text. The zero Decoder is ready. It
// must not be used by two goroutines at once.
//
// Its functions take the place p in the text and the place o in the output,
// and return both behind what they have read and written; p is fault where
// the text is refused. Why it is refused, [Decode] finds out.
type Decoder struct {
	src []byte
	// out is written up to o. Behind o it has room for the rest of src as it
	// stands and for one number.
	out   []byte
	nodes int // values that may still follow
	depth int // levels that may still open
	exact bool
	fold  bool

	open    []pair   // the members of the open objects
	kept    []pair   // the members of closed objects that were not in order
	objects []object // in the order in which they begin
	names   []byte   // names that have escapes in src, without them
	found   trait    // of the text written last
	final   []byte
	keys    []key
	twins   twins
}

// trait is what a text holds beside plain ASCII.
type trait uint8

const (
	escaped trait = 1 << iota // escapes in src
	wide                      // characters beyond ASCII
	capital                   // ASCII capitals, in names
)

const (
	fault = -1
	// spare is room for the longest number.
	spare = maxNumberText
)

// Canonicalize appends the RFC 8785 form of the JSON value in src to dst. It
// accepts and refuses what [Decode] does, with the same errors, and what it
// appends is what Canonical of that value returns. It keeps no reference to
// src or dst, which must not overlap; the spare capacity of dst is its working
// memory. After an error it returns nil.
func (d *Decoder) Canonicalize(dst, src []byte, opt Options) ([]byte, error) {
	if err := opt.Check(); err != nil {
		return nil, err
	}
	resolved := opt.withDefaults()
	if len(src) > resolved.MaxBytes {
		return nil, tooLong(resolved.MaxBytes)
	}
	d.begin(dst, src, resolved)
	p, o := d.value(skip(src, 0), len(dst))
	if p == fault || skip(src, p) != len(src) {
		d.end()
		return nil, refusal(src, opt)
	}
	if len(d.kept) > 0 {
		d.final = d.arrange(slices.Grow(d.final[:0], o-len(dst)), len(dst), o, 0, len(d.objects))
		copy(d.out[len(dst):], d.final)
	}
	out := d.out[:o]
	d.end()
	return out, nil
}

func (d *Decoder) begin(dst, src []byte, opt Options) {
	d.src, d.out = src, dst[:cap(dst)]
	d.nodes, d.depth = opt.MaxNodes, opt.MaxDepth
	d.exact, d.fold = opt.Exact, opt.FoldTwins
	d.open, d.kept, d.objects, d.names = d.open[:0], d.kept[:0], d.objects[:0], d.names[:0]
	d.room(0, len(dst))
}

// end lets go of what belongs to the caller.
func (d *Decoder) end() { d.src, d.out = nil, nil }

// room makes out long enough for what follows p.
func (d *Decoder) room(p, o int) {
	need := o + len(d.src) - p + spare
	if need <= len(d.out) {
		return
	}
	grown := make([]byte, max(need, need+o/2))
	copy(grown, d.out[:o])
	d.out = grown
}

// refusal tells why src is refused.
func refusal(src []byte, opt Options) error {
	if _, err := Decode(src, opt); err != nil {
		return err
	}
	// Not reached while the two readers agree; if they do not, nothing passes.
	return Refuse("", RuleSyntax, expected[RuleSyntax])
}

// skip returns the place of the first byte from p on that is no white space
// (RFC 8259 §2).
func skip(src []byte, p int) int {
	for p < len(src) && src[p] <= ' ' {
		if c := src[p]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return p
		}
		p++
	}
	return p
}

func (d *Decoder) value(p, o int) (int, int) {
	if d.nodes--; d.nodes < 0 || p >= len(d.src) {
		return fault, o
	}
	switch d.src[p] {
	case '"':
		return d.text(p, o)
	case '{':
		return d.object(p, o)
	case '[':
		return d.array(p, o)
	case 't':
		if rest := d.src[p:]; len(rest) >= 4 && string(rest[:4]) == "true" {
			return p + 4, o + copy(d.out[o:o+4], "true")
		}
	case 'f':
		if rest := d.src[p:]; len(rest) >= 5 && string(rest[:5]) == "false" {
			return p + 5, o + copy(d.out[o:o+5], "false")
		}
	case 'n':
		if rest := d.src[p:]; len(rest) >= 4 && string(rest[:4]) == "null" {
			return p + 4, o + copy(d.out[o:o+4], "null")
		}
	default:
		return d.number(p, o)
	}
	return fault, o
}

func (d *Decoder) array(p, o int) (int, int) {
	if d.depth--; d.depth < 0 {
		return fault, o
	}
	d.out[o] = '['
	o++
	p = skip(d.src, p+1)
	if p < len(d.src) && d.src[p] == ']' {
		d.out[o] = ']'
		d.depth++
		return p + 1, o + 1
	}
	for {
		if p, o = d.value(p, o); p == fault {
			return fault, o
		}
		if p = skip(d.src, p); p >= len(d.src) {
			return fault, o
		}
		c := d.src[p]
		d.out[o] = c
		o++
		switch c {
		case ',':
			p = skip(d.src, p+1)
		case ']':
			d.depth++
			return p + 1, o
		default:
			return fault, o
		}
	}
}
