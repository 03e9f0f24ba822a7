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

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
)

// rules are the catalog and the policy in force, and the files they come
// from. They are put in force together or not at all.
type rules struct {
	log    *slog.Logger
	policy *livePolicy
	binder *binder
	beside *candidate // nil: none

	mu    sync.Mutex
	files ruleFiles
	seen  string       // what the files looked like when they were last read
	text  canon.Digest // of the catalog in force
	// mistake is what keeps these files from being in force.
	mistake error
}

// ruleFiles are where catalog and policy are.
type ruleFiles struct{ catalog, policy, candidate string }

func filesOf(c config.Config) ruleFiles { return ruleFiles{c.Catalog, c.Policy, c.Candidate} }

// ruleSet is what was read from there.
type ruleSet struct {
	files  ruleFiles
	looks  string       // what the files looked like before they were read
	text   canon.Digest // of the catalog's file
	tools  *catalog.Catalog
	engine *cedar.Engine
}

// read reads catalog and policy, and holds them against one another.
func (f ruleFiles) read() (s ruleSet, err error) {
	s = ruleSet{files: f, looks: f.look()}
	text, err := os.ReadFile(f.catalog)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	s.text = canon.Sum(text)
	if s.tools, err = loadCatalog(f.catalog); err != nil {
		return s, err
	}
	s.engine, err = loadPolicy(f.policy, s.tools)
	return s, err
}

// put puts a set in force.
func (r *rules) put(s ruleSet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files, r.seen, r.mistake = s.files, s.looks, nil
	r.take(s, true)
}

// take puts a set in force. Clients are told of another catalog if tell says so.
func (r *rules) take(s ruleSet, tell bool) {
	r.policy.engine.Store(s.engine)
	r.binder.replace(s.tools)
	r.beside.load(s.tools)
	if tell && s.text != r.text {
		r.binder.tell()
	}
	r.text = s.text
}

// catalogFile is where entries are written that somebody adds.
func (r *rules) catalogFile() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.files.catalog
}

// load reads catalog and policy and puts them in force. On an error what was
// in force stays. Clients are not told: who calls this has just begun, or has
// added entries that change nothing of what a client is shown.
func (r *rules) load() error { return r.again(false) }

func (r *rules) again(tell bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.files.read()
	r.seen, r.mistake = s.looks, err
	if err == nil {
		r.take(s, tell)
	}
	return err
}

// reload loads again if a file has changed since. A mistake in it is logged
// once and returned while it stands; calls go on under what was in force.
func (r *rules) reload() error {
	r.mu.Lock()
	same, mistake := r.seen == r.files.look(), r.mistake
	r.mu.Unlock()
	if same {
		return mistake
	}
	if err := r.again(true); err != nil {
		r.log.Error("catalog or policy were changed and have a mistake; the earlier ones stay in force", "stage", "rules", "error", err)
		return err
	}
	r.log.Info("catalog and policy were read again")
	return nil
}

// look says which files there are, how long they are and when they changed.
func (f ruleFiles) look() string {
	paths := []string{f.catalog, f.policy}
	if f.candidate != "" {
		paths = append(paths, f.candidate)
	}
	for _, dir := range paths[1:] {
		if inside, err := filepath.Glob(filepath.Join(dir, "*.cedar")); err == nil {
			paths = append(paths, inside...)
		}
	}
	return lookAt(paths)
}

// lookAt says of files whether they are there, how long they are and when they
// were changed.
func lookAt(paths []string) string {
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
