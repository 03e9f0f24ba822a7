package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
)

// policyFiles reads a policy file, or the *.cedar files of a directory. A
// path that does not exist means the built-in policy; an empty directory is
// a mistake, not a policy.
func policyFiles(path string) (map[string][]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		name, text := cedar.Builtin()
		return map[string][]byte{name: text}, nil
	}
	if err != nil {
		return nil, err
	}
	names := []string{path}
	if info.IsDir() {
		if names, err = filepath.Glob(filepath.Join(path, "*.cedar")); err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%s: no *.cedar file in the policy directory", path)
		}
	}
	files := make(map[string][]byte, len(names))
	for _, name := range names {
		if files[name], err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// loadCatalog reads a catalog file; a file that does not exist is a catalog
// without tools.
func loadCatalog(path string) (*catalog.Catalog, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return catalog.New()
	}
	return yamlfile.Load(path)
}

// replace loads policy for a catalog. On an error the engine in force stays.
func (l *livePolicy) replace(path string, c *catalog.Catalog) error {
	engine, err := loadPolicy(path, c)
	if err == nil {
		l.engine.Store(engine)
	}
	return err
}

// livePolicy is the engine in force; it is replaced as a whole.
type livePolicy struct{ engine atomic.Pointer[cedar.Engine] }

// loadPolicy reads the policy for a catalog.
func loadPolicy(path string, c *catalog.Catalog) (*cedar.Engine, error) {
	files, err := policyFiles(path)
	if err != nil {
		return nil, err
	}
	return cedar.Load(files, c.Tools(), cedar.Options{})
}

// Current returns the engine for one call.
func (l *livePolicy) Current() policy.Engine { return l.engine.Load() }

// Decide and Version answer by the engine in force.
func (l *livePolicy) Decide(ctx context.Context, in policy.Input) (policy.Decision, error) {
	return l.engine.Load().Decide(ctx, in)
}

func (l *livePolicy) Version(tool string) string { return l.engine.Load().Version(tool) }
