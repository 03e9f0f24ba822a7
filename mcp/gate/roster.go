package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

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

// Announcing is a Binder that tells when its catalog is replaced. The channel
// is closed then, and Changed returns another one.
type Announcing interface {
	Changed() <-chan struct{}
}

// Changes is closed when tools must be listed again for clients; nil never is.
func Changes(b Binder) <-chan struct{} {
	if a, ok := b.(Announcing); ok {
		return a.Changed()
	}
	return nil
}

// Roster is what one server says it offers, bound to the catalog. It is safe
// for concurrent use; all clients of one server may share it.
type Roster struct {
	server string
	binder Binder
	// Patience is how long the server may take to list all its tools; 0 means
	// 30 s. It is set before use.
	Patience time.Duration
	fetch    func(ctx context.Context, cursor string) (*wire.Message, error)
	// loading lets one listing run at a time.
	loading sync.Mutex

	mu     sync.Mutex
	loaded bool
	at     time.Time         // when it was loaded
	loads  int               // how often
	shown  bool              // it was listed for a client
	bound  uint64            // generation of the binder
	tools  map[string]listed // by the server's name
	order  []wire.Tool       // as the server listed them
}

// NewRoster returns the roster of a server. fetch asks it for one page of
// tools/list; an empty cursor means the first.
func NewRoster(server string, b Binder, fetch func(ctx context.Context, cursor string) (*wire.Message, error)) *Roster {
	return &Roster{server: server, binder: b, fetch: fetch}
}

type listed struct {
	tool    *catalog.Tool
	refused verbatim.Code
	shaped  bool // it declares an output schema
}

// Stale makes the next use list the tools again.
func (r *Roster) Stale() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loaded = false
}

// maxPages bounds a server that never ends its list.
const maxPages = 200

// maxAge is how long a list is believed of a server that does not tell of
// changes, and missAge how long where a tool is asked for that is not in it.
const (
	maxAge  = time.Minute
	missAge = time.Second
)

// LoadFor is Load for the use of one tool: if the list has none of that name,
// the server is asked again.
func (r *Roster) LoadFor(ctx context.Context, name string) error {
	if err := r.Load(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	_, known := r.tools[name]
	if !known && time.Since(r.at) > missAge {
		r.loaded = false
	}
	r.mu.Unlock()
	return r.Load(ctx)
}

// Load asks the server for all its tools, once until the list changes or is
// old.
func (r *Roster) Load(ctx context.Context) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	generation := r.generation()
	r.mu.Lock()
	done := r.loaded && r.bound == generation && time.Since(r.at) < maxAge
	r.loaded, r.bound = true, generation // a change that comes while listing makes it stale again
	r.mu.Unlock()
	if done {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.patience())
	defer cancel()
	tools, order, err := r.pages(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.loaded = false
		return err
	}
	r.tools, r.order, r.at = tools, order, time.Now()
	r.loads++
	return nil
}

// DefaultPatience is how long a server may take to list its tools.
const DefaultPatience = 30 * time.Second

func (r *Roster) patience() time.Duration {
	if r.Patience <= 0 {
		return DefaultPatience
	}
	return r.Patience
}

func (r *Roster) generation() uint64 {
	if g, ok := r.binder.(Generational); ok {
		return g.Generation()
	}
	return 0
}

// announce tells the binder what is about to be bound.
func (r *Roster) announce(page wire.ToolList) {
	if l, ok := r.binder.(Lister); ok {
		l.Listed(r.server, page.Tools)
	}
}

func (r *Roster) pages(ctx context.Context) (map[string]listed, []wire.Tool, error) {
	tools := map[string]listed{}
	var order []wire.Tool
	cursor := ""
	for range maxPages {
		page, err := r.page(ctx, cursor)
		if err != nil {
			return nil, nil, err
		}
		r.announce(page)
		for _, t := range page.Tools {
			if _, twice := tools[t.Name]; twice {
				return nil, nil, fmt.Errorf("the server lists a tool twice")
			}
			tool, refused := r.binder.Bind(r.server, t)
			tools[t.Name] = listed{tool, refused, t.OutputSchema != nil}
		}
		order = append(order, page.Tools...)
		if cursor = page.NextCursor; cursor == "" {
			return tools, order, nil
		}
	}
	return nil, nil, errors.New("the server's tool list does not end")
}

func (r *Roster) page(ctx context.Context, cursor string) (wire.ToolList, error) {
	answer, err := r.fetch(ctx, cursor)
	if err != nil {
		return wire.ToolList{}, err
	}
	if answer.Kind() != wire.KindResult {
		return wire.ToolList{}, errors.New("the server does not list its tools")
	}
	return wire.ToolDefinitions(answer.Result())
}

// find returns what is known of a tool by the server's name.
func (r *Roster) find(name string) (listed, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.tools[name]
	return found, ok
}

// ListTools builds the request for one page of a server's tools.
func ListTools(cursor string) (*wire.Message, error) {
	params := []byte("{}")
	if cursor != "" {
		v, err := json.Marshal(cursor)
		if err != nil {
			return nil, err
		}
		params = append(append([]byte(`{"cursor":`), v...), '}')
	}
	return wire.NewRequest(wire.NumberID(0), "tools/list", params)
}

// Show edits an answer to tools/list for a client: a tool whose catalog entry
// proposes its own schema is shown with that; a refused tool is not shown.
func (r *Roster) Show(answer *wire.Message) (*wire.Message, error) {
	page, err := wire.ToolDefinitions(answer.Result())
	if err != nil {
		return nil, err
	}
	r.announce(page)
	shown, open := answer, map[string]bool{}
	for i, t := range page.Tools {
		tool, refused := r.binder.Bind(r.server, t)
		open[t.Name] = refused == ""
		if refused != "" || !proposes(tool) {
			continue
		}
		at := fmt.Sprintf("/result/tools/%d/inputSchema", i)
		if shown, err = shown.WithMember(at, tool.Proposal.Source()); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	r.shown = true
	r.mu.Unlock()
	return shown.FilterTools(func(t wire.Tool) (string, bool) { return t.Name, open[t.Name] })
}

// proposes reports whether the model is shown another schema than the tool's.
func proposes(t *catalog.Tool) bool {
	return t.Proposal != nil && t.Own != nil && t.Proposal != t.Own
}

// answers reports whether the server has listed its tools on this connection
// before, so that it is greeted and may be asked again.
func (r *Roster) answers() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown || r.loads > 0
}

// Tools returns the definitions as the server last listed them, and a number
// that moves with each listing.
func (r *Roster) Tools() ([]wire.Tool, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.order, r.loads
}
