package catalog

import (
	"github.com/seed-de4804fb/verbatim/canon"
)

// dryRun checks how the preview is made. The argument itself is checked where
// the schema is at hand.
func (d *draft) dryRun() {
	if d.spec.DryRun == nil {
		return
	}
	dry := *d.spec.DryRun
	d.tool.DryRun = &dry
	ways := 0
	for _, said := range []bool{dry.Argument != "", dry.Tool != "", dry.Func != nil} {
		if said {
			ways++
		}
	}
	if ways != 1 {
		d.fault("dryRun: exactly one of argument, tool and a Go function makes the preview")
	}
	if !d.tool.Mutation {
		d.fault("dryRun: a tool that only reads needs no preview")
	}
	if dry.Tool == d.spec.Name {
		d.fault("dryRun: tool must be another tool, one that only reads")
	}
	dry.Timeout = d.duration("dryRun: timeout", dry.Timeout, DefaultDryRunTimeout)
	for _, p := range dry.Compare {
		if _, ok := canon.SplitPointer(p); !ok {
			d.fault("dryRun: compare %q is not a JSON Pointer", p)
		}
	}
	if dry.Argument != "" {
		d.dryRunArgument(dry.Argument)
	}
}

// dryRunArgument checks the argument that makes a call a preview: a boolean
// at the top of the tool's own schema, without which the tool really runs.
func (d *draft) dryRunArgument(pointer string) {
	tokens, ok := canon.SplitPointer(pointer)
	if !ok || len(tokens) != 1 {
		d.fault("dryRun: argument must be a JSON Pointer to a member at the top, such as /dryRun")
		return
	}
	if d.own.Kind() != canon.Object {
		return // reported already
	}
	member, declared := property(d.own, tokens[0])
	if kind, _ := member.Get("type"); !declared || kind.Text() != "boolean" {
		d.fault("dryRun: argument %s must be declared as a boolean in the tool's schema", pointer)
	}
	if fallback, _ := member.Get("default"); fallback.Bool() {
		d.fault("dryRun: argument %s is true where it is absent, so the tool would never run", pointer)
	}
	if required, _ := d.own.Get("required"); holds(required, tokens[0]) {
		d.fault("dryRun: argument %s is required, so a call without it would never run", pointer)
	}
}

func property(schema canon.Value, name string) (canon.Value, bool) {
	properties, _ := schema.Get("properties")
	return properties.Get(name)
}

func holds(list canon.Value, text string) bool {
	for _, x := range list.Elements() {
		if x.Kind() == canon.String && x.Text() == text {
			return true
		}
	}
	return false
}

// withoutArgument is the tool's own schema for the model, which cannot send
// the dry-run argument. Where undeclared members are kept, the member is
// forbidden by name.
func (d *draft) withoutArgument(pointer string) []byte {
	at := "/properties" + pointer
	if d.keepsUndeclared() {
		if closed, ok := d.own.With(at, canon.BoolValue(false)); ok {
			return closed.Canonical()
		}
	}
	return d.own.Without(at).Canonical()
}

// keepsUndeclared reports whether a member that is not declared could pass:
// the schema, or the way it is normalized, may keep or strip it.
func (d *draft) keepsUndeclared() bool {
	if d.spec.Normalize.Unknown != "" {
		return true
	}
	for _, keyword := range []string{"additionalProperties", "unevaluatedProperties"} {
		if v, said := d.own.Get(keyword); said && (v.Kind() != canon.Bool || v.Bool()) {
			return true
		}
	}
	for _, keyword := range []string{"patternProperties", "$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"} {
		if _, said := d.own.Get(keyword); said {
			return true
		}
	}
	properties, _ := d.own.Get("properties")
	return properties.Len() <= 1 // without it, nothing is declared and a bare object keeps all
}
