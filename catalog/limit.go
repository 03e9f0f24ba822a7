package catalog

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Dimension is what a limit has a window of its own for.
type Dimension string

// The dimensions. The tenant is always one, and for money the currency.
const (
	PerPrincipal Dimension = "principal"
	PerAgent     Dimension = "agent"
	PerTool      Dimension = "tool"
	PerTarget    Dimension = "target" // each target of a call counts the whole amount
)

// dimensions are in the order in which a scope names them.
func dimensions() []Dimension { return []Dimension{PerPrincipal, PerAgent, PerTool, PerTarget} }

// Limit bounds what runs may add up to in one window. Exactly one of Calls,
// Amount and Amounts is set.
type Limit struct {
	Name   string
	Window action.Window
	Per    []Dimension
	Calls  int64 // most calls
	Amount int64 // most units of something that is no money
	// Amounts is the most by ISO 4217 currency, in minor units. A currency
	// that is not named is not allowed at all.
	Amounts map[string]int64
}

// LimitUse counts a tool's runs against a limit.
type LimitUse struct {
	Limit *Limit
	// Amount is the pointer of a member of the resolved arguments, an integer
	// that is not negative; "*" sums over every element. "" for Calls.
	Amount string
	// Currency is the pointer of a member, or a currency by itself. "" but
	// for Amounts.
	Currency string
}

// MaxReservations is how many windows one run may count against.
const MaxReservations = 256

var (
	limitName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	isoCode   = regexp.MustCompile(`^[A-Z]{3}$`)
)

// Check names what is wrong with a limit.
func (l *Limit) Check() error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if !limitName.MatchString(l.Name) {
		add("name: must be 1 to 64 of a-z 0-9 -")
	}
	if (action.Limit{Name: "x", Window: l.Window}).Check() != nil {
		add("window: must be hour, day, week or month")
	}
	for i, d := range l.Per {
		if !slices.Contains(dimensions(), d) || slices.Contains(l.Per[:i], d) {
			add("per: must be principal, agent, tool or target, each once")
		}
	}
	kinds := 0
	for _, set := range []bool{l.Calls != 0, l.Amount != 0, l.Amounts != nil} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		add("needs one of calls, amount and amounts, greater than 0")
	}
	if !inRange(l.Calls) || !inRange(l.Amount) {
		add("calls, amount: must be 1 to 2^53-1")
	}
	for _, code := range slices.Sorted(maps.Keys(l.Amounts)) {
		if !isoCode.MatchString(code) || !inRange(l.Amounts[code]) {
			add("amounts: must be minor units from 0 to 2^53-1 by currency, such as USD")
		}
	}
	return errors.Join(faults...)
}

func inRange(n int64) bool { return n >= 0 && n <= action.MaxAmount }

// Same reports whether two limits of one name are one limit.
func (l *Limit) Same(other *Limit) bool {
	return l.Name == other.Name && l.Window == other.Window && slices.Equal(l.Per, other.Per) && l.Calls == other.Calls &&
		l.Amount == other.Amount && maps.Equal(l.Amounts, other.Amounts)
}

// countLimits checks what the tool counts, and that it can be counted.
func (d *draft) countLimits() {
	t := d.tool
	if len(t.Limits) > 0 && !t.Mutation {
		d.fault("limits: only mutations are counted; this tool only reads")
	}
	for i, u := range t.Limits {
		if u.Limit == nil {
			d.fault("limits: entry %d names no limit", i+1)
			continue
		}
		if err := u.Limit.Check(); err != nil {
			d.fault("limits: %s: %w", u.Limit.Name, err)
		}
		if slices.ContainsFunc(t.Limits[:i], func(v LimitUse) bool { return v.Limit != nil && v.Limit.Name == u.Limit.Name }) {
			d.fault("limits: %s comes twice", u.Limit.Name)
		}
		d.limitMembers(u)
	}
}

// limitMembers: what is counted must be declared, so that its absence shows.
func (d *draft) limitMembers(u LimitUse) {
	name := u.Limit.Name
	if (u.Amount == "") != (u.Limit.Calls != 0) {
		d.fault("limits: %s: amount is the pointer of a member, and is left out where calls are counted", name)
	} else if u.Amount != "" {
		d.declared("limits", d.tool.Own, u.Amount)
		if n := nodeAt(d.tool.Own.Root(), u.Amount); n != nil && n.Types&^(schema.TypeInteger|schema.TypeNull) != 0 {
			d.fault("limits: %s: the schema must declare %s as an integer", name, u.Amount)
		}
	}
	switch {
	case (u.Currency == "") != (u.Limit.Amounts == nil):
		d.fault("limits: %s: currency is a pointer or a code such as USD where the limit has amounts, and is left out otherwise", name)
	case strings.HasPrefix(u.Currency, "/") && strings.Contains(u.Currency+"/", "/"+everyElement+"/"):
		d.fault("limits: %s: currency cannot go through %s", name, everyElement)
	case strings.HasPrefix(u.Currency, "/"):
		d.declared("limits", d.tool.Own, u.Currency)
	case u.Currency != "" && !isoCode.MatchString(u.Currency):
		d.fault("limits: %s: currency must be a pointer such as /currency, or a code such as USD", name)
	}
}

// sharedLimits: one name is one limit, in whatever file it stands.
func sharedLimits(tools []*Tool) []error {
	var faults []error
	known := map[string]*Limit{}
	for _, t := range tools {
		for _, u := range t.Limits {
			if first, ok := known[u.Limit.Name]; ok && !first.Same(u.Limit) {
				faults = append(faults, fmt.Errorf("tool %s: limits: %s is another limit elsewhere", t.Name, u.Limit.Name))
				continue
			}
			known[u.Limit.Name] = u.Limit
		}
	}
	return faults
}

// Uncountable says that a run cannot be counted against a limit: the member
// is absent, no such integer, or names a currency that is none.
type Uncountable struct{ Limit string }

func (e *Uncountable) Error() string {
	return "the call cannot be counted against the limit " + e.Limit
}

// Counted is who and what a run is counted for.
type Counted struct {
	Principal string
	Agent     string
	Targets   []snapshot.Target
	Args      canon.Value // resolved, as they run
}

// Reservations says what one run takes from the tool's limits. It fails with
// *Uncountable.
func (t *Tool) Reservations(c Counted) ([]action.Limit, error) {
	var out []action.Limit
	for _, u := range t.Limits {
		l, err := u.take(c.Args)
		if err != nil {
			return nil, err
		}
		for _, scope := range u.Limit.scopes(t.Name, c) {
			l.Scope = scope
			out = append(out, l)
		}
		if len(out) > MaxReservations {
			return nil, &Uncountable{u.Limit.Name}
		}
	}
	return out, nil
}

// take measures one run.
func (u LimitUse) take(args canon.Value) (action.Limit, error) {
	l := action.Limit{Name: u.Limit.Name, Window: u.Limit.Window, Amount: 1, Most: u.Limit.Calls + u.Limit.Amount}
	if u.Amount != "" {
		sum, ok := total(args, u.Amount)
		if !ok {
			return l, &Uncountable{u.Limit.Name}
		}
		l.Amount = sum
	}
	if u.Limit.Amounts == nil {
		return l, nil
	}
	code, ok := u.Currency, true
	if strings.HasPrefix(u.Currency, "/") {
		var v canon.Value
		v, ok = args.Lookup(u.Currency)
		code = v.Text()
	}
	if !ok || !isoCode.MatchString(code) {
		return l, &Uncountable{u.Limit.Name}
	}
	l.Currency, l.Most = code, u.Limit.Amounts[code]
	return l, nil
}

// total sums the integers at a pointer with "*". None of them may be absent,
// negative or no integer: what cannot be counted must not run.
func total(v canon.Value, pointer string) (int64, bool) {
	tokens, ok := canon.SplitPointer(pointer)
	if !ok {
		return 0, false
	}
	return sum(v, tokens)
}

func sum(v canon.Value, tokens []string) (int64, bool) {
	if len(tokens) == 0 {
		n, ok := v.Int64()
		return n, ok && v.Kind() == canon.Number && inRange(n)
	}
	if tokens[0] == everyElement && v.Kind() == canon.Array {
		all := int64(0)
		for i := range v.Len() {
			n, ok := sum(v.At(i), tokens[1:])
			if all += n; !ok || !inRange(all) {
				return 0, false
			}
		}
		return all, true
	}
	next, found := v.Lookup(canon.JoinPointer("", tokens[0]))
	if !found {
		return 0, false
	}
	return sum(next, tokens[1:])
}

// scopes are the windows of a limit that one run counts in: one, or one for
// each distinct target. A call without a target shares one window with its
// like, so that it is bounded too.
func (l *Limit) scopes(tool string, c Counted) []string {
	var fixed []canon.Value
	add := func(d Dimension, value string) {
		if slices.Contains(l.Per, d) {
			fixed = append(fixed, canon.StringValue(string(d)), canon.StringValue(value))
		}
	}
	add(PerPrincipal, c.Principal)
	add(PerAgent, c.Agent)
	add(PerTool, tool)
	if !slices.Contains(l.Per, PerTarget) || len(c.Targets) == 0 {
		return []string{scopeText(fixed)}
	}
	var out []string
	for _, t := range c.Targets {
		scope := scopeText(slices.Concat(fixed, []canon.Value{canon.StringValue(string(PerTarget)),
			canon.StringValue(t.Type), canon.StringValue(t.ID)}))
		if !slices.Contains(out, scope) {
			out = append(out, scope)
		}
		if len(out) > MaxReservations { // refused by the caller
			return out
		}
	}
	return out
}

func scopeText(words []canon.Value) string { return string(canon.ArrayValue(words...).Canonical()) }
