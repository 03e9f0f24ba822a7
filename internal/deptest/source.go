package deptest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Module is a parsed source tree.
type Module struct {
	path  string // module path, such as example.org/m
	fset  *token.FileSet
	files []*file
}

// file is one Go file. dir is the package's directory below the module, "."
// for the root.
type file struct {
	dir, name string
	test      bool
	syntax    *ast.File
	imports   []imported
}

type imported struct {
	path string
	name string // the name it has in the file
	pos  token.Pos
}

// Load parses every Go file of a tree. It leaves out testdata, hidden and
// underscore directories and modules of their own, as the go command does,
// and node_modules.
func Load(tree fs.FS, module string) (*Module, error) {
	m := &Module{path: module, fset: token.NewFileSet()}
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (ignored(d.Name()) || otherModule(tree, p)):
			return fs.SkipDir
		case d.IsDir() || path.Ext(p) != ".go":
			return nil
		}
		return m.add(tree, p)
	})
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", module, err)
	}
	return m, nil
}

func otherModule(tree fs.FS, dir string) bool {
	_, err := fs.Stat(tree, path.Join(dir, "go.mod"))
	return err == nil
}

func ignored(dir string) bool {
	return dir == "testdata" || dir == "node_modules" || dir[0] == '.' || dir[0] == '_'
}

func (m *Module) add(tree fs.FS, p string) error {
	source, err := fs.ReadFile(tree, p)
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(m.fset, p, source, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return err
	}
	f := &file{dir: path.Dir(p), name: p, test: strings.HasSuffix(p, "_test.go"), syntax: syntax}
	for _, spec := range syntax.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		f.imports = append(f.imports, imported{path: target, name: localName(spec, target), pos: spec.Pos()})
	}
	m.files = append(m.files, f)
	return nil
}

// localName is the name of an import in its file. Without a name of its own
// it is the last element of the path that is not a major version; packages
// named otherwise are none of those that the rules ask about.
func localName(spec *ast.ImportSpec, target string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	base := path.Base(target)
	if _, err := strconv.Atoi(strings.TrimPrefix(base, "v")); err == nil && base[0] == 'v' {
		return path.Base(path.Dir(target))
	}
	return base
}

// Packages returns the directories that hold Go files, sorted.
func (m *Module) Packages() []string {
	var out []string
	for _, f := range m.files {
		out = append(out, f.dir)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// own returns the directory of an import of the module itself.
func (m *Module) own(target string) (string, bool) {
	if target == m.path {
		return ".", true
	}
	return strings.CutPrefix(target, m.path+"/")
}

// standard reports whether an import is of the standard library: only there
// does the first element of a path have no dot.
func (m *Module) standard(target string) bool {
	first, _, _ := strings.Cut(target, "/")
	_, ours := m.own(target)
	return !ours && !strings.Contains(first, ".")
}

// matches reports whether a directory is in a pattern: "store" is one
// directory, "store/..." is it and all below.
func matches(pattern, dir string) bool {
	tree, all := strings.CutSuffix(pattern, "/...")
	return dir == tree || all && strings.HasPrefix(dir, tree+"/")
}

func matchesAny(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, dir) })
}
