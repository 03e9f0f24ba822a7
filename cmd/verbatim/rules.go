package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed-de4804fb/verbatim/internal/config"
)

// rules are the catalog and the policy in force, and the files they come
// from. They are put in force together or not at all.
type rules struct {
	cfg    config.Config
	log    *slog.Logger
	policy *livePolicy
	binder *binder
	beside *candidate // nil: none

	mu   sync.Mutex
	seen string // what the files looked like when they were last read
	// mistake is what keeps these files from being in force.
	mistake error
}

// load reads catalog and policy and puts them in force. On an error what was
// in force stays.
func (r *rules) load() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = r.look()
	r.mistake = r.replace()
	return r.mistake
}

func (r *rules) replace() error {
	tools, err := loadCatalog(r.cfg.Catalog)
	if err != nil {
		return err
	}
	if err := r.policy.replace(r.cfg.Policy, tools); err != nil {
		return err
	}
	r.binder.replace(tools)
	r.beside.load(tools)
	return nil
}

// reload loads again if a file has changed since. A mistake in it is logged
// once and returned while it stands; calls go on under what was in force.
func (r *rules) reload() error {
	r.mu.Lock()
	same, mistake := r.seen == r.look(), r.mistake
	r.mu.Unlock()
	if same {
		return mistake
	}
	if err := r.load(); err != nil {
		r.log.Error("catalog or policy were changed and have a mistake; the earlier ones stay in force", "error", err)
		return err
	}
	r.log.Info("catalog and policy were read again")
	return nil
}

// look says which files there are, how long they are and when they changed.
func (r *rules) look() string {
	paths := []string{r.cfg.Catalog, r.cfg.Policy}
	if r.cfg.Candidate != "" {
		paths = append(paths, r.cfg.Candidate)
	}
	for _, dir := range paths[1:] {
		if inside, err := filepath.Glob(filepath.Join(dir, "*.cedar")); err == nil {
			paths = append(paths, inside...)
		}
	}
	var b strings.Builder
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fmt.Fprintf(&b, "%q none\n", p)
		case err != nil:
			fmt.Fprintf(&b, "%q unreadable\n", p)
		default:
			fmt.Fprintf(&b, "%q %d %d\n", p, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}
