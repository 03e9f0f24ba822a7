package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/policy/replay"
	"github.com/seed-de4804fb/verbatim/policy/shadow"
	"github.com/seed-de4804fb/verbatim/web"
)

// candidate is the policy beside the live one. It decides nothing; what it
// would have decided is kept in the home.
type candidate struct {
	path    string
	log     *slog.Logger
	current atomic.Pointer[replay.Candidate]
	mistake atomic.Pointer[string] // what keeps the files from being the candidate
	seen    seen
	watcher *shadow.Watcher
	file    *shadow.File
}

// shadowDir is where a home keeps what its candidate would have decided.
func shadowDir(home config.Home) string { return home.Path("shadow") }

// newCandidate starts the candidate of a configuration; nil where there is
// none.
func newCandidate(home config.Home, cfg config.Config, log *slog.Logger) (*candidate, error) {
	if cfg.Candidate == "" {
		return nil, nil
	}
	c := &candidate{path: cfg.Candidate, log: log, seen: seen{home.Path("seen")}}
	var err error
	if c.file, err = shadow.OpenFile(shadowDir(home)); err != nil {
		return nil, fmt.Errorf("keep what the candidate would decide: %w", err)
	}
	if c.watcher, err = shadow.New(shadow.Config{Candidate: c.current.Load, Sink: c.file}); err != nil {
		return nil, errors.Join(err, c.file.Close())
	}
	return c, nil
}

// observer is what a gate tells its decisions to.
func (c *candidate) observer() *shadow.Watcher {
	if c == nil {
		return nil
	}
	return c.watcher
}

// load reads the candidate for a catalog. One that does not load stops nothing:
// that is recorded with every call until it does.
func (c *candidate) load(tools *catalog.Catalog) {
	if c == nil {
		return
	}
	engine, err := candidateEngine(c.path, tools)
	if err != nil {
		why := err.Error()
		c.mistake.Store(&why)
		c.current.Store(nil)
		c.log.Error("the candidate policy does not load; the policy in force is not affected", "error", err)
		return
	}
	c.mistake.Store(nil)
	c.current.Store(&replay.Candidate{Engine: engine, Tool: c.finder(tools), Approvers: ownerApproves(), NoRunContext: true})
}

// finder finds tools of the catalog, and those that were listed and that no
// catalog knows.
func (c *candidate) finder(tools *catalog.Catalog) func(name string) (*catalog.Tool, bool) {
	return (&offline{catalog: tools, seen: c.seen}).find
}

// candidateEngine loads a candidate. One that is not there is a mistake: the
// built-in policy is nobody's candidate.
func candidateEngine(path string, tools *catalog.Catalog) (*cedar.Engine, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	files, err := policyFiles(path)
	if err != nil {
		return nil, err
	}
	return cedar.Load(files, tools.Tools(), cedar.Options{})
}

// How much the page looks at, so that it answers soon.
const (
	mostReplayed = 5000
	mostBeside   = 20_000
)

// diff tells the page what the candidate would change.
func (p *parts) diff(ctx context.Context, tenant string, since time.Time) (web.Diff, error) {
	c := p.beside
	if c == nil {
		return web.Diff{}, nil
	}
	d := web.Diff{Candidate: c.path}
	if why := c.mistake.Load(); why != nil {
		d.Problem = *why
	}
	scope := replay.Scope{Tenant: tenant, Since: since, Most: mostReplayed}
	var engine policy.Engine
	if now := c.current.Load(); now != nil {
		var err error
		engine = now.Engine
		if d.Recorded, err = replay.Run(ctx, p.store, *now, scope); err != nil {
			return web.Diff{}, err
		}
	}
	kept, err := shadow.Read(shadowDir(p.home), mostBeside)
	if err != nil {
		return web.Diff{}, err
	}
	d.Beside = kept.Report(scope, engine)
	return d, nil
}

// close lets the candidate see what waits, for a moment.
func (c *candidate) close() {
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := errors.Join(c.watcher.Close(ctx), c.file.Close()); err != nil {
		c.log.Error("what the candidate policy would have decided is not all kept", "error", err)
	}
}
