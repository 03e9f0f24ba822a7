package cedar

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Problem is one thing in a policy file that keeps it from loading.
type Problem struct {
	File    string
	Line    int // from 1
	Column  int // from 1, in characters
	Rule    string
	Message string
}

// String writes the problem as compilers do.
func (p Problem) String() string {
	if p.Rule == "" {
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: rule %s: %s", p.File, p.Line, p.Column, p.Rule, p.Message)
}

// LoadError lists everything that keeps a set of policies from loading.
type LoadError struct {
	Problems []Problem
}

// Error writes one problem a line.
func (e *LoadError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// loadError returns nil if there are no problems; else they are put in the
// order of the files and lines.
func loadError(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Message, b.Message))
	})
	return &LoadError{Problems: slices.Compact(problems)}
}

// problem places a message inside a rule. Cedar's syntax tree has positions
// for whole rules only, so the text of the rule is searched for what the
// message is about.
func (r *rule) problem(about, format string, args ...any) Problem {
	line, column := r.line, r.column
	if at := find(r.source, about); at >= 0 {
		before := r.source[:at]
		if n := strings.Count(before, "\n"); n > 0 {
			line += n
			column = 1
			before = before[strings.LastIndexByte(before, '\n')+1:]
		}
		column += utf8.RuneCountInString(before)
	}
	return Problem{File: r.file, Line: line, Column: column, Rule: r.id, Message: fmt.Sprintf(format, args...)}
}

// find returns the offset of a word in the source of a rule, outside
// comments, or -1.
func find(source, word string) int {
	if word == "" {
		return -1
	}
	quoted := false
	for i := 0; i < len(source); i++ {
		if whole(source, word, i) {
			return i
		}
		switch c := source[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(source[i:], "//"):
			end := strings.IndexByte(source[i:], '\n')
			if end < 0 {
				return -1
			}
			i += end
		}
	}
	return -1
}

// whole reports whether word stands at i and is not part of a longer word.
func whole(source, word string, i int) bool {
	if !strings.HasPrefix(source[i:], word) {
		return false
	}
	after := i + len(word)
	return (i == 0 || !wordByte(source[i-1]) || !wordByte(word[0])) &&
		(after >= len(source) || !wordByte(source[after]) || !wordByte(word[len(word)-1]))
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}
