package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
)

// declaredIdentity names a declared server by what the configuration says of
// it and the variables that it inherits, where each machine's own environment
// has no part. A secret may be replaced; where it comes from is part of the
// name.
func declaredIdentity(d config.Server, env []string, dir string) canon.Digest {
	texts := append([]string{"declared", d.URL, d.Command, dir}, d.Args...)
	for _, name := range slices.Sorted(maps.Keys(d.Env)) {
		texts = append(texts, "env", name, d.Env[name])
	}
	var inherited []string
	for _, pair := range env {
		if name, _, _ := strings.Cut(pair, "="); slices.Contains(d.Inherit, name) {
			inherited = append(inherited, pair)
		}
	}
	slices.Sort(inherited)
	texts = append(append(texts, "inherited"), inherited...)
	if d.OpenAPI != nil {
		texts = append(texts, "openapi", d.KeyHeader)
	}
	if d.Credential != nil {
		c := *d.Credential
		if c.OAuth != nil {
			texts = append(texts, "oauth", fmt.Sprintf("%+v", *c.OAuth))
			c.OAuth = nil // its address says nothing
		}
		texts = append(texts, "credential", fmt.Sprintf("%+v", c))
	}
	return gate.Identify(texts...)
}
