package main

import (
	"errors"
	"log/slog"
	"sync"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// binder binds live tool definitions to the catalog. Compiled tools are kept,
// so that a list costs nothing the second time.
type binder struct {
	log *slog.Logger

	mu      sync.Mutex
	catalog *catalog.Catalog
	bound   map[definition]binding
	latest  map[string]*catalog.Tool // by catalog name, for the page
}

type definition struct {
	server, name string
	digest       canon.Digest
}

type binding struct {
	tool    *catalog.Tool
	refused verbatim.Code
}

func newBinder(c *catalog.Catalog, log *slog.Logger) *binder {
	return &binder{log: log, catalog: c, bound: map[definition]binding{}, latest: map[string]*catalog.Tool{}}
}

// Bind returns the catalogued tool of a live definition, or why it must not
// run.
func (b *binder) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := definition{server, t.Name, t.Digest}
	if found, ok := b.bound[key]; ok {
		return found.tool, found.refused
	}
	tool, err := b.catalog.FromDefinition(server, t.Name, t.Raw)
	found := binding{tool: tool}
	if err != nil {
		found = binding{tool: refusedTool(server, t), refused: refusal(err)}
		b.log.Warn("a tool is closed", "server", server, "tool", t.Name, "reason", err)
	}
	b.bound[key] = found
	b.latest[found.tool.Name] = found.tool
	return found.tool, found.refused
}

// refusedTool stands for a tool that is closed, so that its denial has a name.
func refusedTool(server string, t wire.Tool) *catalog.Tool {
	return &catalog.Tool{Name: server + "." + t.Name, Server: server, UpstreamName: t.Name,
		Mutation: true, Impact: catalog.Irreversible, Definition: t.Digest}
}

func refusal(err error) verbatim.Code {
	if errors.Is(err, catalog.ErrDefinitionChanged) {
		return verbatim.CodeDefinitionChanged
	}
	return verbatim.CodeToolRefused
}

// replace puts another catalog in force.
func (b *binder) replace(c *catalog.Catalog) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.catalog, b.bound = c, map[definition]binding{}
}

// find returns what is known of a tool, for the page.
func (b *binder) find(name string) (*catalog.Tool, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t, ok := b.latest[name]; ok {
		return t, true
	}
	return b.catalog.Tool(name)
}
