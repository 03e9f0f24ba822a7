package schema

import (
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// The rules that a violation of this package can name beside the keywords of
// JSON Schema and the rules of package canon.
const (
	RuleBudget    = "schema_budget"   // the work needed is beyond the bound
	RuleUnknown   = "unknown_member"  // a member that the schema does not declare
	RuleUnstable  = "schema_unstable" // normalizing twice would give another value
	RuleTransform = "transform"       // a transform refused the value
	RuleBroken    = "schema_broken"   // the engine failed; nothing is accepted
)

// maxSteps bounds the work of one call: subschemas met, patterns tried,
// elements hashed. It is some hundred times what ordinary arguments need.
const maxSteps = 2_000_000

// maxPath bounds the depth of the value, the decoder's own bound included.
const maxPath = canon.DefaultMaxDepth * 2

// run is one walk over one value. It is not shared.
type run struct {
	s       *Schema
	formats bool // assert formats
	quiet   bool // stop at the first violation and do not list it
	steps   int
	spent   bool
	path    []step
	found   canon.Violations
	place   int // number of the place in the value, for memo
	places  map[placeKey]int
	memo    map[memoKey]bool
	scopes  map[scope]*scope

	pathSpace [12]step  // most values are not deeper
	setSpace  [32]*node // nor have more subschemas in force
}

func (s *Schema) newRun(formats bool) *run {
	r := &run{s: s, formats: formats}
	r.path = r.pathSpace[:0]
	return r
}

// step is one token of the path; unknown names are never printed.
type step struct {
	name    string
	index   int // -1 for members
	unknown bool
	place   int // the place above
}

type placeKey struct {
	parent, index int
	name          string
}

type memoKey struct {
	n     *node
	place int
	sc    *scope
}

// scope is the dynamic scope, innermost first (2020-12 core §7.1).
type scope struct {
	res   *resource
	outer *scope
}

// push enters a resource. Equal scopes are one pointer, so that memo works.
func (r *run) push(outer *scope, res *resource) *scope {
	if r.scopes == nil {
		r.scopes = map[scope]*scope{}
	}
	key := scope{res, outer}
	sc, ok := r.scopes[key]
	if !ok {
		sc = &scope{res, outer}
		r.scopes[key] = sc
	}
	return sc
}

// forget drops verdicts about a value that is about to be replaced.
func (r *run) forget() { clear(r.memo) }

func (r *run) spend(n int) bool {
	r.steps += n
	if r.steps > maxSteps {
		r.spent = true
	}
	return !r.spent
}

func (r *run) enter(name string, index int, unknown bool) {
	r.path = append(r.path, step{name, index, unknown, r.place})
	if !r.s.remembers {
		return
	}
	r.place = r.numberPlace(placeKey{r.place, index, name})
}

// asName is the index of the place of a member's name, seen as a value.
const asName = -2

func (r *run) numberPlace(key placeKey) int {
	if r.places == nil {
		r.places = map[placeKey]int{}
	}
	id, ok := r.places[key]
	if !ok {
		id = len(r.places) + 1
		r.places[key] = id
	}
	return id
}

func (r *run) leave() {
	r.place = r.path[len(r.path)-1].place
	r.path = r.path[:len(r.path)-1]
}

// pointer is the RFC 6901 pointer of the present place, real names included.
func (r *run) pointer() string { return r.render(false) }

func (r *run) render(hide bool) string {
	ptr := ""
	for i := range r.path {
		switch s := &r.path[i]; {
		case s.index >= 0:
			ptr = canon.JoinIndex(ptr, s.index)
		case s.unknown && hide:
			ptr = canon.JoinPointer(ptr, canon.UnknownName)
		default:
			ptr = canon.JoinPointer(ptr, s.name)
		}
	}
	return ptr
}

// report lists a violation at the present place and returns false.
func (r *run) report(rule, expected string) bool {
	if !r.quiet {
		r.add(r.render(true), rule, expected)
	}
	return false
}

func (r *run) add(pointer, rule, expected string) {
	if len(r.found) >= canon.MaxViolations {
		return
	}
	v := canon.Violation{Pointer: pointer, Rule: rule, Expected: expected, Offset: -1}
	for _, old := range r.found {
		// What step 5 refused as unknown, the keywords need not refuse again.
		again := old.Rule == RuleUnknown && (rule == "additionalProperties" || rule == "unevaluatedProperties")
		if old == v || again && old.Pointer == pointer {
			return
		}
	}
	r.found = append(r.found, v)
}

// full reports whether nothing more can be learned from going on.
func (r *run) full() bool {
	return r.spent || r.quiet || len(r.found) >= canon.MaxViolations
}

// result turns what was found into the error of the step.
func (r *run) result(ok bool) error {
	if r.spent {
		return canon.Refuse("", RuleBudget, "a value that takes less work to check")
	}
	if len(r.found) > 0 {
		return r.found
	}
	if !ok {
		return canon.Refuse("", "schema", "a value that the schema accepts")
	}
	return nil
}

// holds judges v against n in silence.
func (r *run) holds(n *node, v canon.Value, sc *scope, out *seen) bool {
	was := r.quiet
	r.quiet = true
	ok := r.eval(n, v, sc, out)
	r.quiet = was
	return ok
}

// eval judges v against n. Marks of evaluated members and elements go to out,
// which is nil where nobody asks.
func (r *run) eval(n *node, v canon.Value, sc *scope, out *seen) bool {
	switch {
	case n.truth == anything:
		return true
	case n.truth == never:
		return r.report("false", "nothing: the schema admits no value here")
	case !r.spend(1):
		return false
	}
	if !r.s.remembers || !n.shared || !r.quiet || out != nil {
		return r.judge(n, v, sc, out)
	}
	if r.memo == nil {
		r.memo = map[memoKey]bool{}
	}
	key := memoKey{n, r.place, sc}
	ok, known := r.memo[key]
	if !known {
		ok = r.judge(n, v, sc, out)
		r.memo[key] = ok
	}
	return ok
}

func (r *run) judge(n *node, v canon.Value, sc *scope, out *seen) bool {
	if r.s.dynamic && (sc == nil || sc.res != n.res) {
		sc = r.push(sc, n.res)
	}
	var local *seen
	if out != nil || n.unevaluatedMem != nil || n.unevaluatedEl != nil {
		local = newSeen(v)
	}
	ok := r.own(n, v)
	if ok || !r.quiet {
		ok = r.inPlace(n, v, sc, local) && ok
	}
	if ok || !r.quiet {
		ok = r.below(n, v, sc, local) && ok
	}
	if ok || !r.quiet {
		ok = r.unevaluated(n, v, sc, local) && ok
	}
	if ok && out != nil {
		out.merge(local)
	}
	return ok
}

// own checks what n says about the value itself.
func (r *run) own(n *node, v canon.Value) bool {
	if n.types != 0 && !n.types.has(v) {
		return r.report("type", n.types.String())
	}
	ok := true
	if n.enum != nil && !r.inEnum(n, v) {
		ok = r.report(enumRule(n), enumText(n))
	}
	switch v.Kind() {
	case canon.Number:
		if n.num != nil && (ok || !r.quiet) {
			ok = r.number(n.num, v) && ok
		}
	case canon.String:
		if n.str != nil && (ok || !r.quiet) {
			ok = r.text(n.str, v.Text()) && ok
		}
		if r.formats && n.format != "" && (ok || !r.quiet) {
			ok = r.formatted(n, v.Text()) && ok
		}
	}
	return ok
}

func (r *run) inEnum(n *node, v canon.Value) bool {
	if n.enumSet != nil {
		form := v.Canonical()
		_, ok := n.enumSet[string(form)]
		return r.spend(1+len(form)/16) && ok
	}
	for i := range n.enum {
		if n.enum[i].Kind() == v.Kind() && r.spend(1+v.Len()) && canon.Equal(n.enum[i], v) {
			return true
		}
	}
	return false
}

func (r *run) number(rules *numberRules, v canon.Value) bool {
	d, ok := parseDecimal(v.NumberText())
	if !ok {
		return r.report("type", "a number")
	}
	for i := range rules.bounds {
		if b := &rules.bounds[i]; !b.admits(&d) {
			ok = r.report(b.keyword, b.phrase())
		}
	}
	if rules.multiple != nil && !(r.spend(1) && d.multipleOf(rules.multiple)) {
		ok = r.report("multipleOf", "a multiple of "+rules.multiple.String())
	}
	return ok
}

func (b *bound) admits(d *decimal) bool {
	switch c := d.compare(&b.limit); b.keyword {
	case "minimum":
		return c >= 0
	case "maximum":
		return c <= 0
	case "exclusiveMinimum":
		return c > 0
	default:
		return c < 0
	}
}

func (r *run) text(rules *stringRules, s string) bool {
	ok := true
	if rules.min > 0 || rules.max >= 0 {
		r.spend(len(s) / 64)
		length := utf8.RuneCountInString(s)
		if length < rules.min {
			ok = r.report("minLength", atLeast(rules.min, "character"))
		}
		if rules.max >= 0 && length > rules.max {
			ok = r.report("maxLength", atMost(rules.max, "character"))
		}
	}
	if rules.pattern != nil && (ok || !r.quiet) {
		if !rules.pattern.match(r, s) {
			ok = r.report("pattern", "text that matches "+clip(rules.source))
		}
	}
	return ok
}

func (r *run) formatted(n *node, s string) bool {
	f, ok := formats[n.format]
	if !ok || r.spend(1+len(s)/64) && f.holds(s) {
		return true
	}
	return r.report("format", f.expected)
}
