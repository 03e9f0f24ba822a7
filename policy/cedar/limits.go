package cedar

import (
	"fmt"
	"strings"
)

// What a policy file may hold. The parser and the type checker are recursive
// and bound nothing themselves.
const (
	maxFile    = 1 << 20 // bytes
	maxRule    = 16 << 10
	maxNesting = 64 // of brackets
)

// tooLarge refuses a text that could exhaust the parser; nil if it is fine.
func tooLarge(file string, text []byte) *Problem {
	if len(text) > maxFile {
		return &Problem{File: file, Line: 1, Column: 1, Message: fmt.Sprintf("the file is longer than %d bytes", maxFile)}
	}
	source := string(text)
	line, depth, start, quoted := 1, 0, 0, false
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\n':
			line++
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.HasPrefix(source[i:], "//"):
			if i = i + strings.IndexByte(source[i:]+"\n", '\n') - 1; i+1 >= len(source) {
				return nil
			}
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ';':
			start, depth = i+1, 0
		}
		if depth > maxNesting || i-start > maxRule {
			return &Problem{File: file, Line: line, Column: 1,
				Message: fmt.Sprintf("the rule is longer than %d bytes or nests deeper than %d brackets", maxRule, maxNesting)}
		}
	}
	return nil
}
