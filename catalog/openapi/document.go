package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/seed-de4804fb/verbatim/canon"
)

// The limits of a document.
const (
	MaxBytes      = 16 << 20
	MaxOperations = 2000
	maxDepth      = 100
	maxNodes      = 1_000_000
	maxHops       = 32 // references in a row
)

var (
	errVersion  = errors.New("it is no OpenAPI document of version 3.0 or 3.1")
	errExternal = errors.New("a reference leaves the document")
	errCircle   = errors.New("references lead in a circle")
	errNowhere  = errors.New("a reference leads nowhere")
)

// document is a whole OpenAPI document.
type document struct {
	root canon.Value
	old  bool // 3.0: schemas are not quite JSON Schema
}

// parse reads JSON or YAML.
func parse(src []byte) (document, error) {
	if len(src) > MaxBytes {
		return document{}, fmt.Errorf("longer than %d bytes", MaxBytes)
	}
	var root canon.Value
	var err error
	if text := bytes.TrimLeft(src, " \t\r\n"); len(text) > 0 && text[0] == '{' {
		root, err = canon.Decode(src, canon.Options{MaxBytes: MaxBytes, MaxDepth: maxDepth, MaxNodes: maxNodes})
	} else {
		root, err = fromYAML(src)
	}
	if err != nil {
		return document{}, err
	}
	version, _ := root.Lookup("/openapi")
	text := ""
	if version.Kind() == canon.String {
		text = version.Text()
	}
	switch {
	case strings.HasPrefix(text, "3.0."):
		return document{root, true}, nil
	case strings.HasPrefix(text, "3.1."):
		return document{root, false}, nil
	default:
		return document{}, errVersion
	}
}

// fromYAML reads one YAML document as the JSON value that it spells.
func fromYAML(src []byte) (canon.Value, error) {
	if !utf8.Valid(src) {
		return canon.Value{}, errors.New("not valid UTF-8")
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return canon.Value{}, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return canon.Value{}, errors.New("more than one YAML document")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return canon.Value{}, errors.New("no YAML document")
	}
	c := yamlReader{left: maxNodes}
	return c.value(doc.Content[0], 0)
}

type yamlReader struct{ left int }

func (c *yamlReader) value(n *yaml.Node, depth int) (canon.Value, error) {
	c.left--
	switch {
	case depth > maxDepth || c.left < 0:
		return canon.Value{}, fmt.Errorf("line %d: nested too deep, or too long", n.Line)
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return canon.Value{}, fmt.Errorf("line %d: anchors and aliases are not read; write the value out", n.Line)
	case n.Style&yaml.TaggedStyle != 0:
		return canon.Value{}, fmt.Errorf("line %d: tags are not read", n.Line)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return c.mapping(n, depth)
	case yaml.SequenceNode:
		elems := make([]canon.Value, len(n.Content))
		for i, x := range n.Content {
			var err error
			if elems[i], err = c.value(x, depth+1); err != nil {
				return canon.Value{}, err
			}
		}
		return canon.ArrayValue(elems...), nil
	default:
		return scalar(n), nil
	}
}

func (c *yamlReader) mapping(n *yaml.Node, depth int) (canon.Value, error) {
	members := make([]canon.Member, 0, len(n.Content)/2)
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Anchor != "" || key.ShortTag() == "!!merge" || seen[key.Value] {
			return canon.Value{}, fmt.Errorf("line %d: a key comes twice, or is no plain text", key.Line)
		}
		seen[key.Value] = true // a status code is a number in YAML; the text counts
		v, err := c.value(n.Content[i+1], depth+1)
		if err != nil {
			return canon.Value{}, err
		}
		members = append(members, canon.Member{Name: key.Value, Value: v})
	}
	return canon.ObjectValue(members...), nil
}

// scalar: a number that JSON cannot spell stays text, which no schema takes
// for a number.
func scalar(n *yaml.Node) canon.Value {
	switch n.ShortTag() {
	case "!!null":
		return canon.NullValue()
	case "!!bool":
		return canon.BoolValue(strings.EqualFold(n.Value, "true"))
	case "!!int", "!!float":
		if v, err := canon.ParseNumber(n.Value, false); err == nil {
			return v
		}
	}
	return canon.StringValue(n.Value)
}

// follow returns what a value stands for: itself, or what its $ref leads to.
func (d document) follow(v canon.Value) (canon.Value, error) {
	for range maxHops {
		ref, found := v.Get("$ref")
		if v.Kind() != canon.Object || !found {
			return v, nil
		}
		var err error
		if v, err = d.at(ref); err != nil {
			return canon.Value{}, err
		}
	}
	return canon.Value{}, errCircle
}

// at finds what a reference of this document names.
func (d document) at(ref canon.Value) (canon.Value, error) {
	if ref.Kind() != canon.String || !strings.HasPrefix(ref.Text(), "#/") {
		return canon.Value{}, errExternal
	}
	pointer, err := url.PathUnescape(ref.Text()[1:])
	if err != nil {
		return canon.Value{}, errNowhere
	}
	v, found := d.root.Lookup(pointer)
	if !found {
		return canon.Value{}, errNowhere
	}
	return v, nil
}

func textOf(v canon.Value, name string) string {
	x, found := v.Get(name)
	if !found || x.Kind() != canon.String {
		return ""
	}
	return x.Text()
}

// flagOf is a member that is a boolean; absent is what it is without one.
func flagOf(v canon.Value, name string, absent bool) (bool, error) {
	x, found := v.Get(name)
	if !found {
		return absent, nil
	}
	if x.Kind() != canon.Bool {
		return false, fmt.Errorf("%s is neither true nor false", name)
	}
	return x.Bool(), nil
}
