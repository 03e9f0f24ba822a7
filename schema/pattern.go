package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Where the classes of ECMA-262 and RE2 differ, these spell out ECMA's.
const (
	ecmaSpace    = `\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	ecmaNotSpace = `\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
		`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	ecmaDot = `[^\n\r\x{2028}\x{2029}]`
)

// maxPattern is the longest pattern in bytes. RE2 is linear in the text, but
// its factor grows with the pattern.
const maxPattern = 8 << 10

// pattern is a compiled pattern with the size of its program: the time of one
// match is at most the product of that and the text.
type pattern struct {
	re   *regexp.Regexp
	size int
	fast *automaton // nil if the pattern needs re alone
}

// match reports whether the pattern occurs in s, and pays for the work.
func (p *pattern) match(r *run, s string) bool {
	return r.spend(1+len(s)*p.size/64) && p.matches(s)
}

func (p *pattern) matches(s string) bool {
	if p.fast != nil {
		if ok, known := p.fast.match(s); known {
			return ok
		}
	}
	return p.re.MatchString(s)
}

// compilePattern compiles an ECMA-262 pattern for RE2. Syntax that RE2 has
// not, or that it reads in another way, is refused.
func compilePattern(source string) (*pattern, error) {
	if len(source) > maxPattern {
		return nil, fmt.Errorf("pattern is longer than %d bytes", maxPattern)
	}
	t := translator{in: source}
	for t.i < len(t.in) {
		if err := t.next(); err != nil {
			return nil, err
		}
	}
	re, err := regexp.Compile(t.out.String())
	if err != nil {
		return nil, fmt.Errorf("pattern %q is not one that RE2 can match: %w", clip(source), err)
	}
	prog, err := program(t.out.String())
	if err != nil {
		return nil, err
	}
	return &pattern{re, len(prog.Inst), newAutomaton(prog, len(source))}, nil
}

// program is what package regexp compiles expr to.
func program(expr string) (*syntax.Prog, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return syntax.Compile(tree.Simplify())
}

type translator struct {
	in  string
	i   int
	out strings.Builder
}

func (t *translator) fail(what string) error {
	return fmt.Errorf("%s at byte %d of pattern %q cannot be matched in linear time or has no RE2 form", what, t.i, clip(t.in))
}

func (t *translator) rest() string { return t.in[t.i:] }

func (t *translator) next() error {
	switch c := t.in[t.i]; c {
	case '\\':
		return t.escape(false)
	case '[':
		return t.class()
	case '(':
		return t.group()
	case '.':
		t.out.WriteString(ecmaDot)
	default:
		t.out.WriteByte(c)
	}
	t.i++
	return nil
}

// group passes plain, named and non-capturing groups. RE2 has no look-around.
func (t *translator) group() error {
	rest := t.rest()
	for _, look := range []struct{ prefix, name string }{
		{"(?=", "lookahead"}, {"(?!", "negative lookahead"}, {"(?<=", "lookbehind"}, {"(?<!", "negative lookbehind"},
	} {
		if strings.HasPrefix(rest, look.prefix) {
			return t.fail(look.name)
		}
	}
	for _, open := range []string{"(?:", "(?<", "(?P<", "(?i)", "(?i:"} {
		if strings.HasPrefix(rest, open) {
			t.out.WriteString(open)
			t.i += len(open)
			return nil
		}
	}
	if strings.HasPrefix(rest, "(?") {
		return t.fail("a group modifier")
	}
	t.out.WriteByte('(')
	t.i++
	return nil
}

// class translates a bracket expression. In ECMA-262 "[]" matches nothing,
// "[^]" everything, and "[" inside is literal.
func (t *translator) class() error {
	switch {
	case strings.HasPrefix(t.rest(), "[^]"):
		t.out.WriteString(`[\x{0}-\x{10ffff}]`)
		t.i += 3
		return nil
	case strings.HasPrefix(t.rest(), "[]"):
		t.out.WriteString(`[^\x{0}-\x{10ffff}]`)
		t.i += 2
		return nil
	}
	t.out.WriteByte('[')
	t.i++
	if strings.HasPrefix(t.rest(), "^") {
		t.out.WriteByte('^')
		t.i++
	}
	for t.i < len(t.in) {
		switch c := t.in[t.i]; c {
		case ']':
			t.out.WriteByte(c)
			t.i++
			return nil
		case '\\':
			if err := t.escape(true); err != nil {
				return err
			}
			continue
		case '[', '&', '~', '^':
			t.out.WriteByte('\\')
			t.out.WriteByte(c)
		default:
			t.out.WriteByte(c)
		}
		t.i++
	}
	return t.fail("an open bracket expression")
}

func (t *translator) escape(inClass bool) error {
	if t.i+1 >= len(t.in) {
		return t.fail("a trailing backslash")
	}
	c := t.in[t.i+1]
	switch {
	case c == 's' || c == 'S':
		t.space(c, inClass)
	case c == 'b' && inClass:
		t.emit(`\x{8}`, 2)
	case (c == 'b' || c == 'B') && !inClass, strings.IndexByte("dDwWtnvfr", c) >= 0:
		t.emit(t.in[t.i:t.i+2], 2)
	case c == 'x':
		return t.hex(t.i+2, 2)
	case c == 'u':
		return t.unicode()
	case c == 'c':
		return t.control()
	case c == 'p' || c == 'P':
		return t.property(c)
	case c == '0' && (t.i+2 >= len(t.in) || t.in[t.i+2] < '0' || t.in[t.i+2] > '9'):
		t.emit(`\x{0}`, 2)
	case c >= utf8.RuneSelf:
		t.i++ // an escaped character that needs no escape
	case '0' <= c && c <= '9' || c == 'k':
		return t.fail("a backreference")
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		return t.fail(`the escape \` + string(rune(c)))
	case c == '_':
		t.emit("_", 2)
	default:
		t.emit(t.in[t.i:t.i+2], 2)
	}
	return nil
}

func (t *translator) emit(text string, consumed int) {
	t.out.WriteString(text)
	t.i += consumed
}

func (t *translator) space(c byte, inClass bool) {
	set := ecmaSpace
	if c == 'S' {
		set = ecmaNotSpace
	}
	if !inClass {
		set = "[" + set + "]"
	}
	t.emit(set, 2)
}

// hex writes the code point in n hex digits that start at from.
func (t *translator) hex(from, n int) error {
	r, err := t.codeUnit(from, n)
	if err != nil {
		return err
	}
	t.emit(fmt.Sprintf(`\x{%x}`, r), from+n-t.i)
	return nil
}

func (t *translator) codeUnit(from, n int) (rune, error) {
	if from+n > len(t.in) {
		return 0, t.fail("a short hex escape")
	}
	r, err := strconv.ParseUint(t.in[from:from+n], 16, 32)
	if err != nil {
		return 0, t.fail("a hex escape without hex digits")
	}
	return rune(r), nil
}

// unicode reads \uXXXX, a surrogate pair of them, and \u{X...}.
func (t *translator) unicode() error {
	from := t.i + 2
	if strings.HasPrefix(t.in[from:], "{") {
		end := strings.IndexByte(t.in[from:], '}')
		if end < 2 || end > 7 {
			return t.fail(`a malformed \u{...}`)
		}
		r, err := t.codeUnit(from+1, end-1)
		if err != nil || !utf8.ValidRune(r) {
			return t.fail(`a \u{...} that is no character`)
		}
		t.emit(fmt.Sprintf(`\x{%x}`, r), from+end+1-t.i)
		return nil
	}
	r, err := t.codeUnit(from, 4)
	if err != nil {
		return err
	}
	if !utf16.IsSurrogate(r) {
		return t.hex(from, 4)
	}
	if !strings.HasPrefix(t.in[from+4:], `\u`) {
		return t.fail("half of a surrogate pair")
	}
	low, err := t.codeUnit(from+6, 4)
	if err != nil {
		return err
	}
	whole := utf16.DecodeRune(r, low)
	if whole == utf8.RuneError {
		return t.fail("half of a surrogate pair")
	}
	t.emit(fmt.Sprintf(`\x{%x}`, whole), 12)
	return nil
}

func (t *translator) control() error {
	if t.i+2 >= len(t.in) {
		return t.fail(`a short \c`)
	}
	c := t.in[t.i+2] | 0x20
	if c < 'a' || c > 'z' {
		return t.fail(`a \c without a letter`)
	}
	t.emit(fmt.Sprintf(`\x{%x}`, c-'a'+1), 3)
	return nil
}

// property passes \p{...} with the ECMA prefixes for categories and scripts
// removed; RE2 refuses the properties that it does not know.
func (t *translator) property(c byte) error {
	rest := t.in[t.i+2:]
	end := strings.IndexByte(rest, '}')
	if !strings.HasPrefix(rest, "{") || end < 0 {
		return t.fail(`a \p without {...}`)
	}
	name := rest[1:end]
	for _, prefix := range []string{"General_Category=", "gc=", "Script=", "sc="} {
		name = strings.TrimPrefix(name, prefix)
	}
	if long, ok := categories[name]; ok {
		name = long
	}
	t.emit(`\`+string(rune(c))+"{"+name+"}", 2+end+1)
	return nil
}

// categories maps the long names of the general categories (UAX #44 §5.7.1).
var categories = map[string]string{
	"Letter": "L", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt",
	"Modifier_Letter": "Lm", "Other_Letter": "Lo", "Mark": "M", "Combining_Mark": "M",
	"Nonspacing_Mark": "Mn", "Spacing_Mark": "Mc", "Enclosing_Mark": "Me", "Number": "N",
	"Decimal_Number": "Nd", "digit": "Nd", "Letter_Number": "Nl", "Other_Number": "No",
	"Punctuation": "P", "punct": "P", "Connector_Punctuation": "Pc", "Dash_Punctuation": "Pd",
	"Open_Punctuation": "Ps", "Close_Punctuation": "Pe", "Initial_Punctuation": "Pi",
	"Final_Punctuation": "Pf", "Other_Punctuation": "Po", "Symbol": "S", "Math_Symbol": "Sm",
	"Currency_Symbol": "Sc", "Modifier_Symbol": "Sk", "Other_Symbol": "So", "Separator": "Z",
	"Space_Separator": "Zs", "Line_Separator": "Zl", "Paragraph_Separator": "Zp", "Other": "C",
	"Control": "Cc", "cntrl": "Cc", "Format": "Cf", "Surrogate": "Cs", "Private_Use": "Co",
}
