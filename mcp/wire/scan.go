package wire

import "unicode/utf8"

// span is a half-open range of bytes of a frame. The zero span is "absent":
// no JSON value is empty.
type span struct{ start, end int }

func (s span) found() bool { return s.end > s.start }

func (s span) of(src []byte) []byte { return src[s.start:s.end:s.end] }

// scanner checks JSON syntax (RFC 8259) and finds where values end. It builds
// no tree and copies nothing.
type scanner struct {
	src      []byte
	pos      int
	maxDepth int
}

// scanDocument checks that src is exactly one JSON value in valid UTF-8 and
// returns where it lies.
func scanDocument(src []byte, maxDepth int) (span, *Error) {
	if !utf8.Valid(src) {
		return span{}, refuse(CodeParse, RuleUTF8, "", invalidAt(src))
	}
	s := scanner{src: src, maxDepth: maxDepth}
	s.space()
	start := s.pos
	if err := s.value(1); err != nil {
		return span{}, err
	}
	end := s.pos
	s.space()
	if s.pos < len(src) {
		return span{}, s.syntax()
	}
	return span{start, end}, nil
}

func invalidAt(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func (s *scanner) syntax() *Error { return refuse(CodeParse, RuleSyntax, "", s.pos) }

func (s *scanner) space() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 (never valid outside a string) at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

func (s *scanner) value(depth int) *Error {
	switch c := s.peek(); c {
	case '{':
		return s.object(depth, nil)
	case '[':
		return s.array(depth, nil)
	case '"':
		return s.text()
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		return s.number()
	}
}

func (s *scanner) literal(word string) *Error {
	for i := range len(word) {
		if s.peek() != word[i] {
			return s.syntax()
		}
		s.pos++
	}
	return nil
}

// object scans one object; visit, where not nil, gets the quoted name and the
// value of every member.
func (s *scanner) object(depth int, visit func(name, value span)) *Error {
	if depth > s.maxDepth {
		return refuse(CodeInvalidRequest, RuleDepth, "", s.pos)
	}
	s.pos++
	s.space()
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for {
		name, value, err := s.member(depth)
		if err != nil {
			return err
		}
		if visit != nil {
			visit(name, value)
		}
		if done, err := s.next('}'); done || err != nil {
			return err
		}
	}
}

func (s *scanner) member(depth int) (name, value span, err *Error) {
	if s.peek() != '"' {
		return name, value, s.syntax()
	}
	name.start = s.pos
	if err = s.text(); err != nil {
		return name, value, err
	}
	name.end = s.pos
	s.space()
	if s.peek() != ':' {
		return name, value, s.syntax()
	}
	s.pos++
	s.space()
	value.start = s.pos
	err = s.value(depth + 1)
	value.end = s.pos
	return name, value, err
}

// array scans one array; visit, where not nil, gets every element.
func (s *scanner) array(depth int, visit func(element span)) *Error {
	if depth > s.maxDepth {
		return refuse(CodeInvalidRequest, RuleDepth, "", s.pos)
	}
	s.pos++
	s.space()
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		start := s.pos
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if visit != nil {
			visit(span{start, s.pos})
		}
		if done, err := s.next(']'); done || err != nil {
			return err
		}
	}
}

// next passes a comma, or the closing byte of an object or array.
func (s *scanner) next(closing byte) (done bool, err *Error) {
	s.space()
	switch s.peek() {
	case closing:
		s.pos++
		return true, nil
	case ',':
		s.pos++
		s.space()
		return false, nil
	default:
		return false, s.syntax()
	}
}

// text scans one string. Control characters must be escaped (RFC 8259 §7), so
// no string holds a raw newline.
func (s *scanner) text() *Error {
	s.pos++
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c < 0x20:
			return s.syntax()
		default:
			s.pos++
		}
	}
	return s.syntax()
}

func (s *scanner) escape() *Error {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		s.pos++
		for range 4 {
			if !isHex(s.peek()) {
				return s.syntax()
			}
			s.pos++
		}
		return nil
	default:
		return s.syntax()
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// number scans one number literal (RFC 8259 §6).
func (s *scanner) number() *Error {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.peek() == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if c := s.peek(); c != 'e' && c != 'E' {
		return nil
	}
	s.pos++
	if c := s.peek(); c == '+' || c == '-' {
		s.pos++
	}
	return s.digits()
}

func (s *scanner) digits() *Error {
	start := s.pos
	for c := s.peek(); '0' <= c && c <= '9'; c = s.peek() {
		s.pos++
	}
	if s.pos == start {
		return s.syntax()
	}
	return nil
}
