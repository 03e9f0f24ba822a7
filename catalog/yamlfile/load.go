package yamlfile

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/resolve"
)

// Load reads the files of one catalog. Files named in them are found from
// the folder of the file that names them. Resolvers are known to the tools of
// their own file. The error names every mistake with file, line and field.
func Load(paths ...string) (*catalog.Catalog, error) {
	if len(paths) == 0 {
		return nil, errors.New("no catalog file")
	}
	var all []*catalog.Tool
	var mistakes []error
	owner := map[string]string{}
	for _, path := range paths {
		src, err := readFile(path)
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		tools, err := Decode(path, src, filepath.Dir(path))
		if err != nil {
			mistakes = append(mistakes, err)
		}
		for _, t := range tools {
			if first, taken := owner[t.Name]; taken {
				mistakes = append(mistakes, Fault{File: path, Field: "tools." + t.Name, Text: "the tool is in " + first + " already"})
				continue
			}
			owner[t.Name] = path
			all = append(all, t)
		}
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	return catalog.New(all...)
}

// Decode reads one catalog file. Its name is for errors; dir is where files
// that it names are. It returns no tool if anything is wrong.
func Decode(name string, src []byte, dir string) ([]*catalog.Tool, error) {
	root, err := parse(name, src)
	if err != nil {
		return nil, err
	}
	r := reader{faults: faults{file: name}, dir: dir, lines: map[string]*yaml.Node{}, resolvers: map[string]resolve.Resolver{},
		limits: map[string]*catalog.Limit{}, counted: map[string]bool{}}
	var file format
	fill(&r.faults, root, reflect.ValueOf(&file).Elem(), "")
	if len(r.list) > 0 {
		return nil, errors.Join(r.list...)
	}
	r.index(root, "")
	if file.Version != formatVersion {
		r.add(r.line("version"), "version", "must be %q", formatVersion)
	}
	for _, name := range slices.Sorted(maps.Keys(file.Resolvers)) {
		r.resolver(name, file.Resolvers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(file.Limits)) {
		r.limit(name, file.Limits[name])
	}
	var tools []*catalog.Tool
	for _, name := range slices.Sorted(maps.Keys(file.Tools)) {
		if t := r.tool(name, file.Tools[name]); t != nil {
			tools = append(tools, t)
		}
	}
	r.uncounted()
	if len(r.list) > 0 {
		return nil, errors.Join(r.list...)
	}
	return tools, nil
}

// reader turns the format into tools.
type reader struct {
	faults
	dir       string
	lines     map[string]*yaml.Node // field to its key
	resolvers map[string]resolve.Resolver
	limits    map[string]*catalog.Limit
	counted   map[string]bool // limits that a tool counts against
}

// index remembers where every field stands.
func (r *reader) index(n *yaml.Node, field string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			here := join(field, n.Content[i].Value)
			r.lines[here] = n.Content[i]
			r.index(n.Content[i+1], here)
		}
	case yaml.SequenceNode:
		for i, x := range n.Content {
			here := fmt.Sprintf("%s[%d]", field, i)
			r.lines[here] = x
			r.index(x, here)
		}
	}
}

func (r *reader) line(field string) *yaml.Node { return r.lines[field] }

func (r *reader) wrong(field, format string, args ...any) {
	r.add(r.line(field), field, format, args...)
}

func (r *reader) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.dir, name)
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	defer file.Close()
	src, err := io.ReadAll(io.LimitReader(file, MaxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	return src, nil
}
