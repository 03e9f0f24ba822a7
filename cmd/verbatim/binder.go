package main

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// binder binds live tool definitions to the catalog. Compiled tools are kept,
// so that a list costs nothing the second time.
type binder struct {
	log  *slog.Logger
	seen seen

	mu         sync.Mutex
	catalog    *catalog.Catalog
	generation uint64        // moves when another catalog is put in force
	changed    chan struct{} // closed when clients are told of one
	bound      map[definition]binding
	latest     map[string]*catalog.Tool // by catalog name, for the page
}

type definition struct {
	server, name string
	digest       canon.Digest
}

type binding struct {
	tool    *catalog.Tool
	refused verbatim.Code
}

func newBinder(c *catalog.Catalog, s seen, log *slog.Logger) *binder {
	return &binder{log: log, seen: s, catalog: c, changed: make(chan struct{}), bound: map[definition]binding{}, latest: map[string]*catalog.Tool{}}
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
	b.note(server, t, found)
	return found.tool, found.refused
}

// note keeps what the page needs to know of a tool.
func (b *binder) note(server string, t wire.Tool, found binding) {
	if found.refused != "" {
		return
	}
	b.latest[found.tool.Name] = found.tool
	if found.tool.Cataloged {
		return
	}
	if err := b.seen.remember(server, t.Name, t.Raw); err != nil {
		b.log.Warn("a tool's definition could not be kept for the page", "tool", found.tool.Name, "error", err)
	}
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
	b.catalog, b.bound, b.latest = c, map[definition]binding{}, map[string]*catalog.Tool{}
	b.generation++
}

// tell tells clients that tools are shown differently from now on.
func (b *binder) tell() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.changed)
	b.changed = make(chan struct{})
}

// Changed is closed when clients are told of another catalog.
func (b *binder) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// Generation moves when tools must be bound again.
func (b *binder) Generation() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.generation
}

// knows reports whether the catalog in force has an entry for a tool.
func (b *binder) knows(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.catalog.Tool(name)
	return ok
}

// remembers is the longest time for which a provider of the catalog knows an
// idempotency key.
func (b *binder) remembers() (longest time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.catalog.Tools() {
		longest = max(longest, t.Retention)
	}
	return longest
}

// find returns what is known of a tool, for the page.
func (b *binder) find(name string) (*catalog.Tool, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t, ok := b.latest[name]; ok {
		return t, true
	}
	if t, ok := b.catalog.Tool(name); ok {
		return t, true
	}
	t, ok, err := b.seen.find(name)
	if err != nil {
		b.log.Warn("a remembered tool is of no use", "tool", name, "error", err)
	}
	if ok {
		b.latest[name] = t
	}
	return t, ok
}
