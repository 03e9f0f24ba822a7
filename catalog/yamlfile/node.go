package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/seed-de4804fb/verbatim/canon"
)

// MaxFileBytes is the longest file that is read.
const MaxFileBytes = 16 << 20

// Fault is one mistake in a file.
type Fault struct {
	File  string
	Line  int    // 0 if the whole file is meant
	Field string // path of names, such as tools.bank.transfer.impact
	Text  string
}

// Error says file, line, field and mistake.
func (f Fault) Error() string {
	where := f.File
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	if f.Field == "" {
		return where + ": " + f.Text
	}
	return where + ": " + f.Field + ": " + f.Text
}

// faults collects the mistakes of one file.
type faults struct {
	file string
	list []error
}

func (f *faults) add(n *yaml.Node, field, format string, args ...any) {
	line := 0
	if n != nil {
		line = n.Line
	}
	f.list = append(f.list, Fault{File: f.file, Line: line, Field: field, Text: fmt.Sprintf(format, args...)})
}

// parse reads exactly one YAML document.
func parse(file string, src []byte) (*yaml.Node, error) {
	switch {
	case len(src) > MaxFileBytes:
		return nil, Fault{File: file, Text: fmt.Sprintf("longer than %d bytes", MaxFileBytes)}
	case !utf8.Valid(src):
		return nil, Fault{File: file, Text: "not valid UTF-8"}
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return nil, syntax(file, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, Fault{File: file, Text: "more than one YAML document"}
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, Fault{File: file, Text: "no YAML document"}
	}
	f := &faults{file: file}
	plain(f, doc.Content[0], "", 0)
	return doc.Content[0], errors.Join(f.list...)
}

// syntax words what is no YAML at all. The library says the line in its text.
func syntax(file string, err error) Fault {
	f := Fault{File: file, Text: strings.TrimPrefix(err.Error(), "yaml: ")}
	if errors.Is(err, io.EOF) {
		f.Text = "empty"
	}
	if said, rest, found := strings.Cut(strings.TrimPrefix(f.Text, "line "), ": "); found {
		if n, err := strconv.Atoi(said); err == nil {
			f.Line, f.Text = n, rest
		}
	}
	return f
}

// maxNesting bounds the recursion over a file.
const maxNesting = 100

// plain refuses what gives one text two readings: aliases and merge keys,
// tags, duplicate keys, keys that are no strings.
func plain(f *faults, n *yaml.Node, field string, depth int) {
	switch {
	case depth > maxNesting:
		f.add(n, field, "nested deeper than %d", maxNesting)
		return
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		f.add(n, field, "anchors and aliases are not read; write the value out")
		return
	case n.Style&yaml.TaggedStyle != 0:
		f.add(n, field, "tags are not read")
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		lines := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" || key.Anchor != "" {
				f.add(key, field, "a key must be a string; quote it")
				continue
			}
			here := join(field, key.Value)
			if first, twice := lines[key.Value]; twice {
				f.add(key, here, "the key comes twice, first in line %d", first)
			}
			lines[key.Value] = key.Line
			plain(f, value, here, depth+1)
		}
	case yaml.SequenceNode:
		for i, x := range n.Content {
			plain(f, x, fmt.Sprintf("%s[%d]", field, i), depth+1)
		}
	}
}

func join(field, name string) string {
	if field == "" {
		return name
	}
	return field + "." + name
}

// value reads a YAML node as the JSON value that it spells.
func value(f *faults, n *yaml.Node, field string) canon.Value {
	switch n.Kind {
	case yaml.MappingNode:
		members := make([]canon.Member, 0, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			members = append(members, canon.Member{Name: name, Value: value(f, n.Content[i+1], join(field, name))})
		}
		return canon.ObjectValue(members...)
	case yaml.SequenceNode:
		elems := make([]canon.Value, len(n.Content))
		for i, x := range n.Content {
			elems[i] = value(f, x, fmt.Sprintf("%s[%d]", field, i))
		}
		return canon.ArrayValue(elems...)
	default:
		return scalar(f, n, field)
	}
}

func scalar(f *faults, n *yaml.Node, field string) canon.Value {
	switch n.ShortTag() {
	case "!!null":
		return canon.NullValue()
	case "!!bool":
		return canon.BoolValue(n.Value == "true" || n.Value == "True" || n.Value == "TRUE")
	case "!!str", "!!timestamp": // JSON has no time; the text is what was written
		return canon.StringValue(n.Value)
	case "!!int", "!!float":
		v, err := canon.ParseNumber(n.Value, true)
		if err != nil {
			f.add(n, field, "write the number as JSON does, or quote it")
		}
		return v
	default:
		f.add(n, field, "not a JSON value")
		return canon.Value{}
	}
}
