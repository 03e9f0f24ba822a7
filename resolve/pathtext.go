package resolve

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-de4804fb/verbatim/internal/lookalike"
)

// The longest path and component that are looked for (Linux limits).
const (
	maxPathBytes = 4096
	maxNameBytes = 255
)

// pathRules say how a system reads the text of a path.
type pathRules struct{ windows bool }

// saidPath is a path as it was said, without empty components and ".".
type saidPath struct {
	volume   string // "C:" on Windows
	absolute bool
	names    []string
	folder   bool // it ends in a slash or a dot: only a folder is meant
}

// split reads a path that was said. ok is false for what must not even be
// looked for.
func (r pathRules) split(text string) (said saidPath, ok bool) {
	if text == "" || len(text) > maxPathBytes || !utf8.ValidString(text) {
		return saidPath{}, false
	}
	if r.windows {
		return r.splitWindows(strings.ReplaceAll(text, `\`, "/"))
	}
	said = splitSlashes(text)
	if !said.absolute && len(said.names) > 0 && strings.HasPrefix(said.names[0], "~") {
		return saidPath{}, false // a shell would make a home folder of it
	}
	return said, r.allShown(said.names)
}

// splitWindows accepts C:/x and relative paths. Other absolute forms reach
// devices, other machines, or a folder that depends on the current one.
func (r pathRules) splitWindows(text string) (said saidPath, ok bool) {
	if len(text) >= 2 && text[1] == ':' {
		letter := text[0] &^ 0x20
		if letter < 'A' || letter > 'Z' || len(text) < 3 || text[2] != '/' {
			return saidPath{}, false
		}
		said = splitSlashes(text[2:])
		said.volume = string(rune(letter)) + ":"
	} else if said = splitSlashes(text); said.absolute {
		return saidPath{}, false
	}
	if said.volume != "" && strings.HasPrefix(text[2:], "//") {
		return saidPath{}, false
	}
	if !said.absolute && len(said.names) > 0 && strings.HasPrefix(said.names[0], "~") {
		return saidPath{}, false
	}
	return said, r.allShown(said.names)
}

func splitSlashes(text string) saidPath {
	said := saidPath{absolute: strings.HasPrefix(text, "/")}
	parts := strings.Split(text, "/")
	last := parts[len(parts)-1]
	said.folder = last == "" || last == "." || last == ".."
	for _, part := range parts {
		if part != "" && part != "." {
			said.names = append(said.names, part)
		}
	}
	return said
}

// join puts a relative path behind an absolute one.
func (r pathRules) join(base string, said saidPath) (saidPath, bool) {
	if base == "" {
		return saidPath{}, false
	}
	whole, ok := r.split(base)
	whole.names = append(whole.names, said.names...)
	whole.folder = said.folder
	return whole, ok
}

// shortened drops ".." with the component before it, as programs do that work
// on the text alone.
func (s saidPath) shortened() saidPath {
	short := s
	short.names = nil
	for _, name := range s.names {
		switch {
		case name != "..":
			short.names = append(short.names, name)
		case len(short.names) > 0:
			short.names = short.names[:len(short.names)-1]
		}
	}
	return short
}

func (r pathRules) allShown(names []string) bool {
	for _, name := range names {
		if !r.shown(name) {
			return false
		}
	}
	return true
}

// presentable reports whether the components of a path below a root may be
// answered; the last must be a name for a new file if it is one.
func (r pathRules) presentable(rel string, isNew bool) bool {
	if rel == "." {
		return !isNew
	}
	names := strings.Split(rel, "/")
	return r.allShown(names) && (!isNew || isNewName(names[len(names)-1]))
}

// shown reports whether a person sees what a name is.
func (r pathRules) shown(name string) bool {
	if len(name) > maxNameBytes || !utf8.ValidString(name) {
		return false
	}
	for _, c := range name {
		sign, alike := lookalike.Sign(c)
		switch {
		case c == '\\' || lookalike.Unseen(c):
			return false
		case alike && (sign == '/' || sign == '\\'):
			return false
		}
	}
	for _, word := range strings.FieldsFunc(name, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) }) {
		if lookalike.Mixed(word) {
			return false
		}
	}
	return !r.windows || name == ".." || isPortable(name)
}

// isNewName reports whether a name may be given to a new file: one that every
// system reads as the same, in one normal form.
func isNewName(name string) bool {
	return isPortable(name) && norm.NFC.IsNormalString(name) && !strings.HasPrefix(name, " ") && !strings.HasPrefix(name, "~") &&
		!strings.ContainsFunc(name, func(c rune) bool { _, alike := lookalike.Sign(c); return alike && c >= 0x80 })
}

// isPortable refuses what Windows reads as something else: devices, streams
// of a file, wildcards, and dots and spaces that it drops at the end.
func isPortable(name string) bool {
	if strings.ContainsAny(name, `<>:"|?*`) || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return false
	}
	base, _, _ := strings.Cut(name, ".")
	return !isDevice(strings.ToUpper(strings.TrimRight(base, " ")))
}

// isDevice knows the names of MS-DOS devices, which exist in every folder and
// with every extension.
func isDevice(name string) bool {
	switch name {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	number, com := strings.CutPrefix(name, "COM")
	if !com {
		number, com = strings.CutPrefix(name, "LPT")
	}
	return com && (len(number) == 1 && number[0] >= '0' && number[0] <= '9' || number == "\u00b9" || number == "\u00b2" || number == "\u00b3")
}
