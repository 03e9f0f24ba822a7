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
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/policy/replay"
	"github.com/seed-de4804fb/verbatim/policy/shadow"
)

// candidate is the policy beside the live one. It decides nothing; what it
// would have decided is kept in the home.
type candidate struct {
	path    string
	log     *slog.Logger
	current atomic.Pointer[replay.Candidate]
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
	c := &candidate{path: cfg.Candidate, log: log}
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
		c.current.Store(nil)
		c.log.Error("the candidate policy does not load; the policy in force is not affected", "error", err)
		return
	}
	c.current.Store(&replay.Candidate{Engine: engine, Tool: tools.Tool, Approvers: ownerApproves(), NoRunContext: true})
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
