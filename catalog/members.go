package catalog

import (
	"regexp"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/schema"
)

// members checks every pointer of the entry against the schema that it will
// meet: a mark on a member that is not declared marks nothing.
func (d *draft) members() {
	t := d.tool
	if err := resolve.CheckAll(t.Resolvers); err != nil {
		d.fault("resolve: %w", err)
	}
	for _, r := range t.Resolvers {
		for _, p := range r.From {
			d.sourceDeclared(p)
		}
		for _, p := range r.Into {
			d.declared("resolve", t.Own, p)
		}
	}
	for _, m := range t.Identity {
		d.identity(m)
	}
	for _, rule := range t.Targets {
		if rule.Type == "" || strings.ContainsFunc(rule.Type, func(r rune) bool { return !nameRune(r) }) {
			d.fault("targets: type must be of A-Z a-z 0-9 _ - . /")
		}
		d.declared("targets", t.Own, rule.Pointer)
	}
	for _, p := range t.Secrets {
		if !knows(t.Proposal, p) {
			d.declared("secrets", t.Own, p)
		}
	}
	for _, p := range t.Bounds {
		d.declared("bounds", t.Own, p)
	}
	d.lookupArguments()
	d.countLimits()
	d.argumentClosed()
	d.leftovers()
	d.sentence()
}

// leftovers refuses members that the model may send, that no resolver
// consumes and that the tool does not declare: they would reach the tool
// without anybody having said what they do there.
func (d *draft) leftovers() {
	t := d.tool
	if t.Own == t.Proposal {
		return
	}
	reported, count := "\x00", 0
	for m := range Members(t.Proposal.Root()) {
		if count++; count == MaxMembers {
			d.fault("proposalSchema: more than %d members", MaxMembers-1)
		}
		if strings.HasPrefix(m.Pointer, reported+"/") || knows(t.Own, m.Pointer) || consumed(t.Resolvers, m.Pointer) {
			continue
		}
		parent := m.Pointer[:strings.LastIndexByte(m.Pointer, '/')]
		if n := nodeAt(t.Own.Root(), parent); n == nil || n.Open || n.Union {
			continue
		}
		reported = m.Pointer
		d.fault("proposalSchema: %s would reach the tool, which does not declare it, and no resolver consumes it", m.Pointer)
	}
}

func consumed(rules []resolve.Rule, pointer string) bool {
	for _, r := range rules {
		for _, p := range r.From {
			if p == pointer {
				return true
			}
		}
	}
	return false
}

// nodeAt returns the view at a pointer with "*"; nil if there is none.
func nodeAt(n *schema.Node, pointer string) *schema.Node {
	tokens, _ := canon.SplitPointer(pointer)
	for _, token := range tokens {
		if n == nil {
			return nil
		}
		if p, ok := n.Property(token); ok {
			n = p.Node
			continue
		}
		if token != everyElement {
			return nil
		}
		n = n.Items
	}
	return n
}

// sourceDeclared accepts a source that the model may send or that an earlier
// resolver sets.
func (d *draft) sourceDeclared(pointer string) {
	for _, r := range d.tool.Resolvers {
		for _, p := range r.Into {
			if p == pointer {
				return
			}
		}
	}
	d.declared("resolve", d.tool.Proposal, pointer)
}

// declared refuses a pointer to a member that the schema does not declare.
func (d *draft) declared(field string, s *schema.Schema, pointer string) {
	tokens, ok := canon.SplitPointer(pointer)
	switch {
	case !ok || len(tokens) == 0:
		d.fault("%s: %q is not a JSON Pointer to a member, such as /amount", field, pointer)
	case !knows(s, pointer):
		d.fault("%s: the schema declares no member %s", field, pointer)
	}
}

// knows is Schema.Knows for pointers with "*".
func knows(s *schema.Schema, pointer string) bool {
	if s.Knows(pointer) {
		return true
	}
	parts := strings.Split(pointer, "/")
	for i, p := range parts {
		if p == everyElement {
			parts[i] = "0"
		}
	}
	return s.Knows(strings.Join(parts, "/"))
}

const everyElement = "*"

func (d *draft) identity(m identity.Member) {
	if m.Names != identity.NamesPrincipal && m.Names != identity.NamesTenant {
		d.fault("identity: names must be principal or tenant")
	}
	d.declared("identity", d.tool.Own, m.Pointer)
	if !m.Fill {
		return
	}
	d.declared("identity", d.tool.Proposal, m.Pointer)
	if strings.Contains(m.Pointer+"/", "/"+everyElement+"/") {
		d.fault("identity: fill cannot go through %s", everyElement)
	}
}

// argumentClosed makes sure that the model cannot send the dry-run argument.
func (d *draft) argumentClosed() {
	dry := d.tool.DryRun
	if dry == nil || dry.Argument == "" || len(d.spec.ProposalSchema) == 0 {
		return
	}
	if root := d.tool.Proposal.Root(); d.tool.Proposal.Knows(dry.Argument) || root == nil || root.Open {
		d.fault("proposalSchema: must neither declare nor let through the dry-run argument %s", dry.Argument)
	}
}

// placeholder is one {member} or {member|format} of a sentence; a nested
// member is written with slashes.
var placeholder = regexp.MustCompile(`^([^{}|]+)(\|[a-z]+)?$`)

// sentence checks that the template for people names members that exist.
func (d *draft) sentence() {
	rest := d.tool.Sentence
	for {
		before, after, open := strings.Cut(rest, "{")
		if strings.Contains(before, "}") {
			d.fault("sentence: a } without its {")
		}
		if !open {
			return
		}
		inside, tail, closed := strings.Cut(after, "}")
		parts := placeholder.FindStringSubmatch(inside)
		if !closed || parts == nil {
			d.fault("sentence: write a member as {name} or {name|format}")
			return
		}
		if pointer := "/" + strings.TrimPrefix(parts[1], "/"); !knows(d.tool.Own, pointer) {
			d.fault("sentence: the schema declares no member %s", pointer)
		}
		rest = tail
	}
}
