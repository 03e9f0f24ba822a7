package deptest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// Fault is one breach of a rule.
type Fault struct {
	Place   string // file:line, or the name of a rule that nothing needs
	What    string
	Because string
}

func (f Fault) String() string { return f.Place + ": " + f.What + ": " + f.Because }

// Check returns the faults of a module, in the order of its files.
func (m *Module) Check(r Rules) []Fault {
	c := &checker{m: m, rules: r, used: map[Reviewed]bool{}}
	lean := m.reach(r.Lean.Root)
	for _, f := range m.files {
		c.names(f)
		c.declarations(f)
		if f.test {
			continue
		}
		for _, i := range f.imports {
			c.within(f, i)
			c.library(f, i, lean[f.dir])
		}
		c.calls(f)
	}
	c.unused()
	return c.faults
}

type checker struct {
	m      *Module
	rules  Rules
	used   map[Reviewed]bool
	faults []Fault
}

func (c *checker) fault(pos token.Pos, because, what string, args ...any) {
	p := c.m.fset.Position(pos)
	c.faults = append(c.faults, Fault{fmt.Sprintf("%s:%d", p.Filename, p.Line), fmt.Sprintf(what, args...), because})
}

// reach returns a package and all of the module that its product code pulls in.
func (m *Module) reach(root string) map[string]bool {
	imports := map[string][]string{}
	for _, f := range m.files {
		for _, i := range f.imports {
			if dir, ours := m.own(i.path); ours && !f.test {
				imports[f.dir] = append(imports[f.dir], dir)
			}
		}
	}
	seen := map[string]bool{}
	for queue := []string{root}; len(queue) > 0; queue = queue[1:] {
		if !seen[queue[0]] {
			seen[queue[0]] = true
			queue = append(queue, imports[queue[0]]...)
		}
	}
	return seen
}

// within checks an import of the module itself.
func (c *checker) within(f *file, i imported) {
	dir, ours := c.m.own(i.path)
	if !ours {
		return
	}
	for _, b := range c.rules.Bans {
		if matchesAny(b.From, f.dir) && matchesAny(b.To, dir) {
			c.fault(i.pos, b.Because, "%s imports %s", f.dir, dir)
		}
	}
	for _, k := range c.rules.Closed {
		if k.Package == f.dir && !slices.Contains(k.Only, dir) {
			c.fault(i.pos, k.Because, "%s imports %s", f.dir, dir)
		}
	}
}

// library checks an import from outside.
func (c *checker) library(f *file, i imported, lean bool) {
	if _, ours := c.m.own(i.path); ours {
		return
	}
	switch {
	case i.path == "C":
		c.fault(i.pos, "the product is one static binary", "%s uses cgo", f.dir)
	case i.path == "testing":
		if !strings.HasSuffix(path.Base(f.dir), "test") && f.dir != "internal/needs" {
			c.fault(i.pos, "the product carries no test flags", "%s imports testing", f.dir)
		}
	case c.m.standard(i.path):
	case lean && !slices.Contains(c.rules.Lean.Exceptions[f.dir], i.path):
		c.fault(i.pos, "an embedder pays for nothing unused", "%s imports %s, and the gate pulls it in", f.dir, i.path)
	case !c.mayImport(f.dir, i.path):
		c.fault(i.pos, "one package knows a library; the others know that package", "%s imports %s", f.dir, i.path)
	}
}

func (c *checker) mayImport(dir, target string) bool {
	return slices.ContainsFunc(c.rules.Libraries, func(l Library) bool {
		return matches(l.Path+"/...", target) && matchesAny(l.By, dir)
	})
}

// calls checks every use of a restricted function, called or not.
func (c *checker) calls(f *file) {
	for _, i := range f.imports {
		for _, rule := range c.rules.Calls {
			if rule.Package != i.path {
				continue
			}
			if i.name == "." {
				c.fault(i.pos, "its uses could not be found", "%s imports %s with a dot", f.dir, i.path)
			}
			if !matchesAny(rule.By, f.dir) {
				c.uses(f, i.name, rule)
			}
		}
	}
}

func (c *checker) uses(f *file, name string, rule Call) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(rule.Function, sel.Sel.Name) {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); !ok || x.Name != name {
			return true
		}
		full := name + "." + sel.Sel.Name
		if !c.isReviewed(f.name, full) {
			c.fault(sel.Pos(), rule.Because, "%s uses %s", f.dir, full)
		}
		return true
	})
}

func (c *checker) isReviewed(name, function string) bool {
	for _, r := range c.rules.Reviewed {
		if r.File == name && r.Function == function {
			c.used[r] = true
			return true
		}
	}
	return false
}

// unused finds exceptions that nothing needs any more.
func (c *checker) unused() {
	for _, r := range c.rules.Reviewed {
		if !c.used[r] {
			c.faults = append(c.faults, Fault{r.File, "reviewed use of " + r.Function + " is gone", "lists of exceptions must not rot"})
		}
	}
}

// names checks what a package is called, and that tests stand outside of what
// they test. export_test.go is the place for the few openings they need. Of a
// program nothing can be imported, so its tests stand inside.
func (c *checker) names(f *file) {
	name := f.syntax.Name.Name
	inner := strings.TrimSuffix(name, "_test")
	if slices.Contains(c.rules.Names, inner) || slices.Contains(c.rules.Names, path.Base(f.dir)) {
		c.fault(f.syntax.Name.Pos(), "a name says what a thing is", "package %s", name)
	}
	if f.test && name == inner && name != "main" && !strings.HasPrefix(path.Base(f.name), "export_") {
		c.fault(f.syntax.Name.Pos(), "tests use what users use", "test file in package %s", name)
	}
}

// declarations finds init functions.
func (c *checker) declarations(f *file) {
	for _, d := range f.syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			c.fault(fn.Pos(), "importing a package does nothing", "package %s has an init function", f.syntax.Name.Name)
		}
	}
}
