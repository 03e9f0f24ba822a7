package cedar

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/seed-de4804fb/verbatim/catalog"
)

// Options of [Load]. The zero value is fine.
type Options struct {
	// Groups are the approver groups that exist. If any are given, a rule
	// that names another one does not load.
	Groups []string
}

// Engine decides by Cedar policies. It is immutable and safe for concurrent
// use.
type Engine struct {
	actions map[types.EntityUID]*operation
	tools   map[string]*operation // those of actions that are tools of the catalog, by name
	rules   []*rule
	groups  map[types.EntityUID]types.Entity
}

// Load reads policy files, by name, for the tools of a catalog. Pass tools
// that are listed but not catalogued too (Cataloged false): they count as
// high-impact mutations. It fails with a [*LoadError], which lists every
// problem with file, line and column, or with an error about the catalog.
func Load(files map[string][]byte, tools []*catalog.Tool, opt Options) (*Engine, error) {
	known := make([]tool, len(tools))
	for i, t := range tools {
		known[i] = fromCatalog(t)
	}
	return load(files, known, opt)
}

func load(files map[string][]byte, tools []tool, opt Options) (*Engine, error) {
	if err := checkTools(tools); err != nil {
		return nil, err
	}
	e := &Engine{actions: map[types.EntityUID]*operation{}, tools: map[string]*operation{}, groups: groupEntities()}
	for _, t := range tools {
		a := newAction(t)
		e.actions[a.uid], e.tools[t.name] = a, a
	}
	handoff := handoffAction()
	e.actions[handoff.uid] = handoff
	problems := e.parse(files, opt)
	problems = append(problems, sameIDs(e.rules)...)
	problems = append(problems, e.check()...)
	if err := loadError(problems); err != nil {
		return nil, err
	}
	for _, a := range e.actions {
		e.bind(a)
		a.program = compileProgram(a)
	}
	return e, nil
}

// parse reads all files, in the order of their names.
func (e *Engine) parse(files map[string][]byte, opt Options) (problems []Problem) {
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if p := tooLarge(file, files[file]); p != nil {
			problems = append(problems, *p)
			continue
		}
		rules, err := parse(file, files[file])
		if err != nil {
			problems = append(problems, syntaxProblem(file, err))
			continue
		}
		for _, r := range rules {
			problems = append(problems, r.annotate(opt.Groups)...)
			r.says = r.decision()
		}
		e.rules = append(e.rules, rules...)
	}
	return problems
}

// parsePosition is how the Cedar parser and scanner say where.
var parsePosition = regexp.MustCompile(`(?s)^(?:parser error: )?(?:parse error at )?(?:<input>:)?(\d+):(\d+):? ?(.*)$`)

// syntaxProblem takes line and column out of a parser error.
func syntaxProblem(file string, err error) Problem {
	p := Problem{File: file, Line: 1, Column: 1, Message: "syntax error: " + err.Error()}
	if m := parsePosition.FindStringSubmatch(err.Error()); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		p.Column, _ = strconv.Atoi(m[2])
		p.Message = "syntax error near " + m[3]
	}
	return p
}

// sameIDs refuses two rules of one name: a record could not tell them apart.
func sameIDs(rules []*rule) (problems []Problem) {
	seen := map[string]*rule{}
	for _, r := range rules {
		if strings.TrimSpace(r.id) == "" || len(r.id) > 200 {
			problems = append(problems, r.problem("@id", "@id: want a name"))
			continue
		}
		if first, ok := seen[r.id]; ok {
			problems = append(problems, r.problem("@id", "the id is taken by %s:%d", first.file, first.line))
			continue
		}
		seen[r.id] = r
	}
	return problems
}

// bind gives an action its rules and version.
func (e *Engine) bind(a *operation) {
	a.byID = map[string]*rule{}
	for _, r := range e.rules {
		if r.reaches(a) {
			a.rules = append(a.rules, r)
			a.byID[r.id] = r
		}
	}
	for _, r := range a.rules {
		a.facts = append(a.facts, r.reads.facts...)
	}
	slices.Sort(a.facts)
	a.facts = slices.Compact(a.facts)
	a.wanted = wanted(a.rules)
	a.self = a.entity()
	a.version = a.digest()
}

// wanted returns the members of the arguments that rules read, nil if one of
// them reads the arguments as a whole.
func wanted(rules []*rule) []string {
	names := []string{}
	for _, r := range rules {
		for _, place := range r.reads.args {
			if len(place.path) == 0 {
				return nil
			}
			if !slices.Contains(names, place.path[0]) {
				names = append(names, place.path[0])
			}
		}
	}
	return names
}

// action returns what is asked for. A tool that was not there when the
// policies were loaded is a stranger.
func (e *Engine) action(name string) *operation {
	if a, ok := e.actions[actionUID(name)]; ok {
		return a
	}
	a := stranger(name)
	e.bind(a)
	return a
}

// Version is the lowercase hex digest of the rules that can apply to the
// tool, in canonical form, and of what they can see of it. Comments, layout,
// file names and rules for other tools do not change it.
func (e *Engine) Version(tool string) string { return e.action(tool).version }

// Rules returns the ids of all rules, in load order.
func (e *Engine) Rules() []string {
	ids := make([]string, len(e.rules))
	for i, r := range e.rules {
		ids[i] = r.id
	}
	return ids
}

// RulesFor returns the ids of the rules that can apply to the tool.
func (e *Engine) RulesFor(tool string) []string {
	a := e.action(tool)
	ids := make([]string, len(a.rules))
	for i, r := range a.rules {
		ids[i] = r.id
	}
	return ids
}

// sorted returns the actions by name.
func (e *Engine) sorted() []*operation {
	out := slices.Collect(maps.Values(e.actions))
	slices.SortFunc(out, func(a, b *operation) int { return strings.Compare(string(a.uid.ID), string(b.uid.ID)) })
	return out
}

// Describe writes what policy sees of a tool's arguments, as a Cedar type.
func (e *Engine) Describe(tool string) (string, error) {
	a, ok := e.actions[actionUID(tool)]
	if !ok {
		return "", fmt.Errorf("no tool %q in the catalog", tool)
	}
	var b strings.Builder
	a.args.write(&b)
	return b.String(), nil
}
