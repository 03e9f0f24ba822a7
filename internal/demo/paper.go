package demo

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Paper is what the transcript is written on. Colors only help a reader at a
// terminal: no word depends on them.
type Paper struct {
	Out   io.Writer
	Color bool
	// Plain makes text safe for a terminal.
	Plain func(string) string

	act int
}

// The colors, as ANSI numbers.
const (
	bold   = 1
	red    = 31
	green  = 32
	yellow = 33
)

func (p *Paper) paint(color int, text string) string {
	if !p.Color {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", color, text)
}

// title begins an act.
func (p *Paper) title(text string) {
	p.act++
	fmt.Fprintf(p.Out, "\n%s\n", p.paint(bold, fmt.Sprintf("%d. %s", p.act, text)))
}

// says is one line of somebody.
func (p *Paper) says(who, format string, args ...any) {
	p.line(who, 0, fmt.Sprintf(format, args...))
}

// verdict is a line of Verbatim's own that ended well, badly, or waits.
func (p *Paper) verdict(color int, format string, args ...any) {
	p.line("verbatim", color, fmt.Sprintf(format, args...))
}

func (p *Paper) line(who string, color int, text string) {
	for i, line := range fold(p.Plain(text)) {
		if i > 0 {
			who = ""
		} else if color != 0 {
			first, rest, more := strings.Cut(line, ": ")
			line = p.paint(color, first)
			if more {
				line += ": " + rest
			}
		}
		fmt.Fprintf(p.Out, "   %-9s %s\n", who, line)
	}
}

// width is how long a line of somebody may be.
const width = 90

// fold breaks a text into lines, between words.
func fold(text string) []string {
	lines := []string{""}
	for _, word := range strings.Split(text, " ") {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// note is a sentence for the reader.
func (p *Paper) note(text string) { fmt.Fprintf(p.Out, "   %s\n", text) }
