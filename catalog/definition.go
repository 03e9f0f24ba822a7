package catalog

import (
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
)

// maxDefinition is the longest tool definition; a longer one is not read.
const maxDefinition = 10 << 20

// DefinitionDigest identifies a tool definition: SHA-256 over the RFC 8785
// form of the tool object, so that member order and white space do not
// matter. A text that has no exact RFC 8785 form is hashed as it is.
func DefinitionDigest(raw []byte) canon.Digest {
	v, err := canon.Decode(raw, canon.Options{MaxBytes: maxDefinition, Exact: true})
	if err != nil {
		return canon.Sum(raw)
	}
	return canon.Sum(v.Canonical())
}

// Definition is what a tool object of tools/list says. Hints are what the
// server says about itself: for display and for a person's review, never for
// a decision.
type Definition struct {
	Name         string
	Title        string
	Description  string
	InputSchema  canon.Value
	ReadOnlyHint bool
}

var errDefinition = errors.New("is not a tool object with name and inputSchema")

// ReadDefinition reads a tool object. It fails for what is not strict JSON,
// such as a member that comes twice.
func ReadDefinition(raw []byte) (Definition, error) {
	v, err := canon.Decode(raw, canon.Options{MaxBytes: maxDefinition})
	if err != nil {
		return Definition{}, err
	}
	name, _ := v.Get("name")
	schema, _ := v.Get("inputSchema")
	if name.Text() == "" || schema.Kind() != canon.Object {
		return Definition{}, errDefinition
	}
	d := Definition{Name: name.Text(), InputSchema: schema}
	title, _ := v.Get("title")
	description, _ := v.Get("description")
	hint, _ := v.Lookup("/annotations/readOnlyHint")
	d.Title, d.Description, d.ReadOnlyHint = title.Text(), description.Text(), hint.Bool()
	return d, nil
}

// ErrDefinitionChanged says that an upstream's tool is not the one that was
// reviewed. The tool must not run until a person pins it again.
var ErrDefinitionChanged = errors.New("definition_changed")

// ErrRefused says that a tool's definition cannot be enforced or confuses it
// with another tool. The tool must not run.
var ErrRefused = errors.New("tool_refused")

// Uncataloged makes the tool of an upstream that no catalog knows: a
// high-impact, blind mutation with the server's schema. It fails with
// [ErrRefused] if the definition cannot be enforced.
func Uncataloged(server, upstreamName string, rawDefinition []byte) (*Tool, error) {
	t, err := Define(Spec{Name: server + "." + upstreamName, Server: server,
		Definition: rawDefinition, Pin: DefinitionDigest(rawDefinition)})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	t.Cataloged = false
	return t, nil
}

// FromDefinition returns the tool for a live definition of an upstream. It
// fails with [ErrDefinitionChanged] if the catalog knows the tool by another
// definition or by none, and with [ErrRefused] if the definition cannot be
// enforced or its name is but for case that of another tool.
func (c *Catalog) FromDefinition(server, upstreamName string, rawDefinition []byte) (*Tool, error) {
	name := server + "." + upstreamName
	t, ok := c.tools[name]
	if !ok {
		if twin, taken := c.folded[foldName(name)]; taken {
			return nil, fmt.Errorf("%w: the name is that of %s but for case", ErrRefused, twin)
		}
		return Uncataloged(server, upstreamName, rawDefinition)
	}
	if digest := DefinitionDigest(rawDefinition); t.Server != server || t.Definition != digest {
		return nil, fmt.Errorf("%w: %s is %s, pinned %s", ErrDefinitionChanged, name, digest, t.Definition)
	}
	return t, nil
}
