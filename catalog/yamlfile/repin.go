package yamlfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-de4804fb/verbatim/catalog"
)

// ErrForm says that an entry is not written as Import writes it, so that its
// definition cannot be replaced without touching the rest.
var ErrForm = errors.New("the entry's definition is not in a block of its own; change it by hand")

// Repin returns a catalog file in which the tool of that name is pinned to
// another definition. Every line outside the entry's definition stays as it
// is, comments too. It fails if the file, before or after, does not load.
func Repin(name string, src []byte, dir, tool string, definition []byte) ([]byte, error) {
	before, err := Decode(name, src, dir)
	if err != nil {
		return nil, err
	}
	first, last, err := pinned(src, tool)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(src), "\n")
	indent := strings.Repeat(" ", len(lines[first])-len(strings.TrimLeft(lines[first], " ")))
	entry := fmt.Sprintf("%sdefinition:\n%s  sha256: \"%s\"\n%s  raw: %s", indent, indent,
		catalog.DefinitionDigest(definition), indent, block(definition, indent+"    "))
	out := []byte(strings.Join(lines[:first], "") + entry + strings.Join(lines[last:], ""))
	after, err := Decode(name, out, dir)
	if err != nil {
		return nil, err
	}
	return out, onlyRepinned(before, after, tool, definition)
}

var errElse = errors.New("the change would touch more than the one definition")

// onlyRepinned holds the tools before and after against each other.
func onlyRepinned(before, after []*catalog.Tool, tool string, definition []byte) error {
	if len(before) != len(after) {
		return errElse
	}
	for i, t := range after {
		want := before[i].Definition
		if t.Name == tool {
			want = catalog.DefinitionDigest(definition)
		}
		if t.Name != before[i].Name || t.Definition != want {
			return errElse
		}
	}
	return nil
}

// pinned finds the lines of a tool's definition, from first up to last.
func pinned(src []byte, tool string) (first, last int, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil || len(doc.Content) != 1 {
		return 0, 0, ErrForm
	}
	entry := below(below(doc.Content[0], "tools"), tool)
	if entry == nil || entry.Style&yaml.FlowStyle != 0 {
		return 0, 0, ErrForm
	}
	lines := strings.SplitAfter(string(src), "\n")
	for i := 0; i+1 < len(entry.Content); i += 2 {
		key, value := entry.Content[i], entry.Content[i+1]
		if key.Value != "definition" {
			continue
		}
		first = key.Line - 1
		if value.Style&yaml.FlowStyle != 0 || strings.TrimSpace(lines[first]) != "definition:" {
			return 0, 0, ErrForm
		}
		for last = first + 1; last < len(lines) && within(lines[last], key.Column-1); last++ {
		}
		for last > first+1 && strings.TrimSpace(lines[last-1]) == "" {
			last-- // empty lines stand between entries
		}
		return first, last, nil
	}
	return 0, 0, ErrForm
}

// within reports whether a line belongs to what is indented deeper.
func within(line string, indent int) bool {
	text := strings.TrimLeft(line, " ")
	return strings.TrimSpace(line) == "" || len(line)-len(text) > indent
}

func below(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// Definitions returns the raw definitions of a catalog file, by tool. It fails
// as [Decode] does.
func Definitions(name string, src []byte, dir string) (map[string][]byte, error) {
	if _, err := Decode(name, src, dir); err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil || len(doc.Content) != 1 {
		return nil, ErrForm
	}
	out := map[string][]byte{}
	tools := below(doc.Content[0], "tools")
	for i := 0; tools != nil && i+1 < len(tools.Content); i += 2 {
		d := below(tools.Content[i+1], "definition")
		if raw := below(d, "raw"); raw != nil {
			out[tools.Content[i].Value] = []byte(raw.Value)
		}
		if file := below(d, "file"); file != nil {
			path := file.Value
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			text, err := readFile(path)
			if err != nil {
				return nil, err
			}
			out[tools.Content[i].Value] = text
		}
	}
	return out, nil
}
