package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
)

// seen remembers the definitions of tools that no catalog knows, so that what
// waits for people can still be shown and approved after a restart, before
// the client is back. A remembered definition proves itself: an action holds
// the digest of the one it was decided on.
type seen struct{ dir string }

type seenTool struct {
	Server     string `json:"server"`
	Name       string `json:"name"`
	Definition string `json:"definition"` // the tool object, exact bytes
}

func (s seen) path(tool string) string {
	return filepath.Join(s.dir, canon.Sum([]byte(tool)).String()+".json")
}

// remember keeps the latest definition of a tool.
func (s seen) remember(server, name string, definition []byte) error {
	text, err := json.Marshal(seenTool{server, name, string(definition)})
	if err != nil {
		return err
	}
	path := s.path(server + "." + name)
	if old, err := os.ReadFile(path); err == nil && string(old) == string(text) {
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// find returns the remembered tool of a name, or false.
func (s seen) find(tool string) (*catalog.Tool, bool, error) {
	text, err := os.ReadFile(s.path(tool))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	v, err := canon.Decode(text, canon.Options{MaxBytes: canon.CeilingBytes})
	if err != nil {
		return nil, false, fmt.Errorf("a remembered tool cannot be read: %w", err)
	}
	member := func(name string) string { m, _ := v.Get(name); return m.Text() }
	t, err := catalog.Uncataloged(member("server"), member("name"), []byte(member("definition")))
	if err != nil || t.Name != tool {
		return nil, false, err
	}
	return t, true, nil
}
