package gate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// Binder makes catalogued tools of a server's definitions. A tool that must
// not run comes with the code that says why.
type Binder interface {
	Bind(server string, t wire.Tool) (tool *catalog.Tool, refused verbatim.Code)
}

// Lister is a Binder that wants to see the tools of a page before they are
// bound one by one.
type Lister interface {
	Listed(server string, tools []wire.Tool)
}

// Generational is a Binder whose catalog can be replaced: when its generation
// moves, tools are bound again.
type Generational interface {
	Generation() uint64
}

// listing is what the server says it offers, bound to the catalog.
type listing struct {
	mu     sync.Mutex
	loaded bool
	bound  uint64            // generation of the binder
	tools  map[string]listed // by the server's name
}

type listed struct {
	tool    *catalog.Tool
	refused verbatim.Code
	shaped  bool // it declares an output schema
}

func (l *listing) stale() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loaded = false
}

// maxPages bounds a server that never ends its list.
const maxPages = 200

// load asks the server for all its tools, once until the list changes.
func (c *conn) load(ctx context.Context) error {
	c.loading.Lock()
	defer c.loading.Unlock()
	generation := c.generation()
	c.list.mu.Lock()
	done := c.list.loaded && c.list.bound == generation
	c.list.loaded, c.list.bound = true, generation // a change that comes while listing makes it stale again
	c.list.mu.Unlock()
	if done {
		return nil
	}
	tools, err := c.fetch(ctx)
	c.list.mu.Lock()
	defer c.list.mu.Unlock()
	if err != nil {
		c.list.loaded = false
		return err
	}
	c.list.tools = tools
	return nil
}

func (c *conn) generation() uint64 {
	if g, ok := c.cfg.Binder.(Generational); ok {
		return g.Generation()
	}
	return 0
}

// listed tells the binder what is about to be bound.
func (c *conn) listed(page wire.ToolList) {
	if l, ok := c.cfg.Binder.(Lister); ok {
		l.Listed(c.cfg.Server, page.Tools)
	}
}

func (c *conn) fetch(ctx context.Context) (map[string]listed, error) {
	tools := map[string]listed{}
	cursor := ""
	for range maxPages {
		page, err := c.page(ctx, cursor)
		if err != nil {
			return nil, err
		}
		c.listed(page)
		for _, t := range page.Tools {
			if _, twice := tools[t.Name]; twice {
				return nil, fmt.Errorf("the server lists a tool twice")
			}
			tool, refused := c.cfg.Binder.Bind(c.cfg.Server, t)
			tools[t.Name] = listed{tool, refused, t.OutputSchema != nil}
		}
		if cursor = page.NextCursor; cursor == "" {
			return tools, nil
		}
	}
	return nil, errors.New("the server's tool list does not end")
}

func (c *conn) page(ctx context.Context, cursor string) (wire.ToolList, error) {
	params := []byte("{}")
	if cursor != "" {
		params = []byte(`{"cursor":` + strconv.Quote(cursor) + `}`)
	}
	m, err := wire.NewRequest(wire.NumberID(0), "tools/list", params)
	if err != nil {
		return wire.ToolList{}, err
	}
	if m, err = c.inEra(m); err != nil {
		return wire.ToolList{}, err
	}
	answer, err := c.up.ask(ctx, m, nil)
	if err != nil {
		return wire.ToolList{}, err
	}
	if answer.Kind() != wire.KindResult {
		return wire.ToolList{}, errors.New("the server does not list its tools")
	}
	return wire.ToolDefinitions(answer.Result())
}

// inEra gives a request of ours the per-request _meta that the client's
// latest request had: in the stateless era a server refuses one without.
func (c *conn) inEra(m *wire.Message) (*wire.Message, error) {
	c.mu.Lock()
	meta := c.meta
	c.mu.Unlock()
	if meta == nil {
		return m, nil
	}
	m, err := m.WithMember("/params/_meta", meta)
	if err != nil {
		return nil, err
	}
	return m.Without("/params/_meta/progressToken")
}

// show edits a list for the client: a tool whose catalog entry proposes its
// own schema is shown with that; a refused tool is not shown.
func (c *conn) show(answer *wire.Message) (*wire.Message, error) {
	page, err := wire.ToolDefinitions(answer.Result())
	if err != nil {
		return nil, err
	}
	c.listed(page)
	shown := answer
	for i, t := range page.Tools {
		tool, refused := c.cfg.Binder.Bind(c.cfg.Server, t)
		if refused != "" || tool.Proposal == nil || tool.Own == nil || tool.Proposal == tool.Own {
			continue
		}
		at := fmt.Sprintf("/result/tools/%d/inputSchema", i)
		if shown, err = shown.WithMember(at, tool.Proposal.Source()); err != nil {
			return nil, err
		}
	}
	return shown.FilterTools(func(t wire.Tool) (string, bool) {
		_, refused := c.bindByName(page, t.Name)
		return t.Name, refused == ""
	})
}

func (c *conn) bindByName(page wire.ToolList, name string) (*catalog.Tool, verbatim.Code) {
	for _, t := range page.Tools {
		if t.Name == name {
			return c.cfg.Binder.Bind(c.cfg.Server, t)
		}
	}
	return nil, verbatim.CodeUnknownTool
}
