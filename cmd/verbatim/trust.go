package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// trusting is a binder for a client whose user takes the server's word for
// which tools only read (--trust-read-hints). On first sight such tools are
// written into the catalog, pinned to their definition; from then on the
// catalog decides, and the server's word counts no more.
type trusting struct {
	*binder
	rules *rules
	notes *daemon.Notes
	write *sync.Mutex // one writer of the catalog at a time
}

// Listed is told the tools of a server before they are bound.
func (t *trusting) Listed(server string, tools []wire.Tool) {
	t.write.Lock()
	defer t.write.Unlock()
	var names []string
	var definitions [][]byte
	for _, tool := range tools {
		if t.knows(server+"."+tool.Name) || !saysReadOnly(server, tool) {
			continue
		}
		names, definitions = append(names, tool.Name), append(definitions, tool.Raw)
	}
	if len(names) == 0 {
		return
	}
	if err := pinReads(t.rules.catalogFile(), server, definitions, time.Now()); err != nil {
		t.notes.Say("the catalog was not changed, so reads of %s wait for approval: %v", server, err)
		return
	}
	if err := t.rules.load(); err != nil {
		t.notes.Say("catalog or policy have a mistake, so the new entries are not in force: %v", err)
		return
	}
	t.notes.Say("%d tools of %s are catalogued as reads, because the server says so (%s), in %s",
		len(names), server, strings.Join(names, ", "), t.rules.catalogFile())
}

// saysReadOnly reports the server's hint for a tool that could be enforced.
func saysReadOnly(server string, t wire.Tool) bool {
	d, err := catalog.ReadDefinition(t.Raw)
	if err != nil || !d.ReadOnlyHint {
		return false
	}
	_, err = catalog.Uncataloged(server, t.Name, t.Raw)
	return err == nil
}

// pinReads adds entries for tools that the server calls read-only. It changes
// no entry that is there: if the file cannot be extended without that, it
// fails and the file stays as it is.
func pinReads(path, server string, definitions [][]byte, now time.Time) error {
	added, err := yamlfile.Import(server, definitions, yamlfile.ImportOptions{TrustReadHints: true, Date: now})
	if err != nil {
		return err
	}
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return writeWhole(path, added)
	}
	if err != nil {
		return err
	}
	return extend(path, old, added)
}

func extend(path string, old, added []byte) error {
	_, entries, ok := strings.Cut(string(added), "\ntools:\n")
	if !ok {
		return errors.New("the new entries have no tools")
	}
	before, err := yamlfile.Decode(path, old, filepath.Dir(path))
	if err != nil {
		return err
	}
	fresh, err := yamlfile.Decode(path, added, filepath.Dir(path))
	if err != nil {
		return err
	}
	text := []byte(strings.TrimRight(string(old), "\n") + "\n" + entries)
	after, err := yamlfile.Decode(path, text, filepath.Dir(path))
	if err != nil || len(after) != len(before)+len(fresh) {
		return fmt.Errorf("%s does not end with its tools; add them with verbatim catalog import", path)
	}
	return writeWhole(path, text)
}

// writeWhole replaces a file in one step.
func writeWhole(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
