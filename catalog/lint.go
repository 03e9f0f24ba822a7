package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/schema"
)

// Finding is one thing in a catalog that a person should look at.
type Finding struct {
	Tool    string `json:"tool"`
	Pointer string `json:"pointer,omitempty"`
	Rule    string `json:"rule"`
	Text    string `json:"text"`
	Error   bool   `json:"error"` // it makes lint fail, not only warn
}

// The rules of [Lint].
const (
	LintIdentity   = "identity_unmarked"       // looks like an identity and is not marked
	LintSecret     = "secret_unmarked"         // looks like a secret and is shown
	LintConversion = "conversion_unbounded"    // converts currencies without bounds
	LintID         = "id_without_maximum"      // an integer id that may be rounded elsewhere
	LintMoney      = "money_unresolved"        // a fractional amount that no resolver made exact
	LintSpelling   = "spelling_unresolved"     // a path, URL, address or time that policy sees as it was spelled
	LintUnion      = "invisible_to_policy"     // no single type: policy cannot read it
	LintOpen       = "undeclared_members_pass" // members that nobody looked at reach the tool
	LintTarget     = "mutation_without_target" // policy cannot say on what it acts
	LintRetention  = "class_without_retention" // the effect class says what may be repeated, nothing says how long
	LintLookup     = "class_without_lookup"    // the effect class says that it can be asked, nothing says how
)

// Lint returns what looks wrong, by tool and place.
func Lint(c *Catalog) []Finding {
	var out []Finding
	for _, t := range c.Tools() {
		l := linter{tool: t}
		l.conversion()
		l.class()
		if t.Mutation && len(t.Targets) == 0 {
			l.find("", LintTarget, "it changes something, but no target says what; mark the member that names it", false)
		}
		if t.Own != nil && t.Own.Root() != nil {
			l.members(t.Own.Root())
		}
		out = append(out, l.found...)
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

// class warns of an effect class that settles nothing as it stands.
func (l *linter) class() {
	switch t := l.tool; {
	case slices.Contains([]EffectClass{LocalTx, Keyed, KeyedCancel, Natural}, t.Effect) && t.Retention == 0:
		l.find("", LintRetention, "its effect is "+string(t.Effect)+", but without retention nothing is sent again or cancelled: "+
			"a lost answer waits for a person; say how long the provider remembers", false)
	case t.Effect == Queryable && t.Server != "" && t.Lookup == nil:
		l.find("", LintLookup, "its effect is queryable, but without lookup nobody can ask: a lost answer waits for a person; name the read tool that finds it", false)
	}
}

// Failed reports whether a finding is an error.
func Failed(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Error })
}

type linter struct {
	tool  *Tool
	found []Finding
}

func (l *linter) find(pointer, rule, text string, fails bool) {
	l.found = append(l.found, Finding{Tool: l.tool.Name, Pointer: pointer, Rule: rule, Text: text, Error: fails})
}

func (l *linter) members(root *schema.Node) {
	if root.Open {
		l.find("", LintOpen, "members that the schema does not declare reach the tool; close the schema, or set unknown to reject", false)
	}
	for m := range Members(root) {
		l.member(m)
	}
}

func (l *linter) member(m Member) {
	guess := GuessMember(m.Name, m.Node)
	switch {
	case (guess == GuessPrincipal || guess == GuessTenant) && !l.marked(m.Pointer):
		l.find(m.Pointer, LintIdentity, "looks like a "+string(guess)+"; mark it in identity, or as a target", false)
	case guess == GuessSecret && !slices.Contains(l.tool.Secrets, m.Pointer):
		l.find(m.Pointer, LintSecret, "looks like a secret; list it in secrets, so that it is masked", false)
	case guess == GuessMoney && m.Node.Types&schema.TypeNumber != 0 && !l.resolved(m.Pointer):
		l.find(m.Pointer, LintMoney, "an amount that may have a fraction; resolve it into minor units", false)
	case spelled(guess) && !l.answered(m.Pointer):
		l.find(m.Pointer, LintSpelling, "looks like a "+string(guess)+", and policy sees it as it was spelled; resolve it, so that one thing has one spelling", false)
	}
	if guess != GuessMoney && isID(m.Name) && m.Node.Types&schema.TypeInteger != 0 && m.Node.Maximum == "" {
		l.find(m.Pointer, LintID, "an id that is an integer without a maximum; beyond 2^53-1 it is refused, so send ids as strings", false)
	}
	if m.Node.Union || m.Node.Types == schema.TypeAny {
		l.find(m.Pointer, LintUnion, "has no single type, so policy cannot read it", false)
	} else if m.Node.Types&schema.TypeObject != 0 && m.Node.Open {
		l.find(m.Pointer, LintOpen, "members that the schema does not declare reach the tool and policy cannot read them", false)
	}
}

func isID(name string) bool {
	text := words(name)
	return text == "id" || strings.HasSuffix(text, " id") || strings.HasSuffix(text, " ids")
}

// marked reports whether somebody has said what an identity-looking member
// is: the session's, or a target that policy looks at.
func (l *linter) marked(pointer string) bool {
	for _, m := range l.tool.Identity {
		if m.Pointer == pointer || m.Pointer == pointer+"/"+everyElement {
			return true
		}
	}
	for _, t := range l.tool.Targets {
		if t.Pointer == pointer || t.Pointer == pointer+"/"+everyElement {
			return true
		}
	}
	return false
}

func (l *linter) resolved(pointer string) bool {
	for _, r := range l.tool.Resolvers {
		for _, p := range r.Into {
			if _, money := r.Resolver.(*resolve.Money); money && p == pointer {
				return true
			}
		}
	}
	return false
}

// spelled reports whether a thing has many spellings and a resolver of its own.
func spelled(g Guess) bool {
	return slices.Contains([]Guess{GuessPath, GuessURL, GuessEmail, GuessInstant}, g)
}

// answered reports whether a resolver sets a member or each of its elements.
func (l *linter) answered(pointer string) bool {
	return slices.ContainsFunc(l.tool.Resolvers, func(r resolve.Rule) bool {
		for _, p := range r.Into {
			if p == pointer || p == pointer+"/"+everyElement {
				return true
			}
		}
		return false
	})
}

// conversion fails for a tool that converts currencies at a rate of its own:
// what was approved must bound what it may do (semantics §3).
func (l *linter) conversion() {
	if !l.tool.Converts && !l.looksConverting() {
		return
	}
	if len(l.tool.Bounds) > 0 {
		return
	}
	l.find("", LintConversion, "it converts between currencies; name the arguments that bound the result in bounds", true)
}

// looksConverting reports whether the arguments name two currencies.
func (l *linter) looksConverting() bool {
	if l.tool.Own == nil {
		return false
	}
	currencies := map[string]bool{}
	for m := range Members(l.tool.Own.Root()) {
		if text := strings.TrimSuffix(words(m.Name), " code"); text == "currency" || strings.HasSuffix(text, " currency") {
			parent := m.Pointer[:strings.LastIndexByte(m.Pointer, '/')]
			if currencies[parent] {
				return l.tool.Mutation
			}
			currencies[parent] = true
		}
	}
	return false
}

// Mark is a member that an importer would point out, with the reason.
type Mark struct {
	Pointer string
	Guess   Guess
}

// Marks returns the members of a schema whose names make one think of
// something, in schema order.
func Marks(root *schema.Node) []Mark {
	var out []Mark
	for m := range Members(root) {
		if g := GuessMember(m.Name, m.Node); g != GuessNothing {
			out = append(out, Mark{m.Pointer, g})
		}
	}
	return out
}

// DryRunArgument returns the pointer of a boolean argument that looks like a
// dry run; "" if none.
func DryRunArgument(root *schema.Node) string {
	if root == nil {
		return ""
	}
	for _, p := range root.Properties {
		text := strings.ReplaceAll(words(p.Name), " ", "")
		if p.Node.Types == schema.TypeBoolean && slices.Contains([]string{"dryrun", "preview", "simulate", "validateonly", "whatif"}, text) {
			return canon.JoinPointer("", p.Name)
		}
	}
	return ""
}
