package cedar

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/schema/resolved"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"
)

// check returns what is wrong with the rules against the catalog.
func (e *Engine) check() (problems []Problem) {
	actions := e.sorted()
	validator := validate.New(cedarSchema(actions))
	// A rule for a group that has no tool yet is for those that are listed
	// later; it is checked against one that shows no arguments.
	later := validate.New(cedarSchema(append(actions, stranger("(listed later)"))))
	for _, r := range e.rules {
		var reached []*operation
		for _, a := range actions {
			if r.reaches(a) {
				reached = append(reached, a)
			}
		}
		v := validator
		if len(reached) == 0 && r.reaches(stranger("(listed later)")) {
			v = later
		}
		found := e.checkReads(r, reached)
		found = append(found, e.checkEntities(r, reached)...)
		if len(found) == 0 {
			found = r.validate(v, reached)
		}
		problems = append(problems, found...)
	}
	return problems
}

// checkReads refuses a rule that looks at what no tool has. Cedar itself
// takes `has` on an unknown member for false, and skips the rule.
func (e *Engine) checkReads(r *rule, reached []*operation) (problems []Problem) {
	for _, o := range r.reads.odd {
		problems = append(problems, r.problem(o.about, "%s", o.message))
	}
	if len(reached) == 0 {
		return problems
	}
	for _, place := range r.reads.args {
		if len(place.path) == 0 {
			continue
		}
		last := place.path[len(place.path)-1]
		best, why, where := unknown, "", ""
		for _, a := range reached {
			if s, reason := a.args.look(place.path); s > best {
				best, why, where = s, reason, string(a.uid.ID)
			}
		}
		switch best {
		case hidden:
			problems = append(problems, r.problem(last, "member %s of %s is not visible to policy: %s", place, where, why))
		case unknown:
			problems = append(problems, r.problem(last, "no tool that the rule applies to has the member %s", place))
		}
	}
	facts := contextType(&shape{form: formRecord})
	for _, place := range r.reads.context {
		if !hasFact(facts, place.path) {
			problems = append(problems, r.problem(place.path[len(place.path)-1], "context has no member %s", place))
		}
	}
	return problems
}

func hasFact(t resolved.IsType, path []string) bool {
	if len(path) == 0 {
		return true
	}
	record, ok := t.(resolved.RecordType)
	if !ok {
		return false
	}
	attribute, ok := record[types.String(path[0])]
	return ok && hasFact(attribute.Type, path[1:])
}

// checkEntities refuses a rule that names a tool or type which the catalog
// does not have. Cedar's own schema does not list entities.
func (e *Engine) checkEntities(r *rule, reached []*operation) (problems []Problem) {
	for _, uid := range r.reads.entities {
		if uid.Type != typeTool && uid.Type != typeAction {
			continue
		}
		if _, isGroup := e.groups[uid]; isGroup {
			continue
		}
		a, ok := e.actions[actionUID(string(uid.ID))]
		if !ok || uid.Type == typeTool && a.group == "" {
			problems = append(problems, r.problem(string(uid.ID), "no tool %s in the catalog", uid.ID))
		}
	}
	known := e.entityTypes()
	for _, et := range r.reads.types {
		if !known[et] {
			problems = append(problems, r.problem(lastPart(string(et)), "unknown entity type %s", et))
		}
	}
	for _, uid := range r.reads.entities {
		if !known[uid.Type] {
			problems = append(problems, r.problem(lastPart(string(uid.Type)), "unknown entity type %s", uid.Type))
		}
	}
	if len(problems) == 0 && len(reached) == 0 && !r.reaches(stranger("(listed later)")) {
		problems = append(problems, r.problem("", "the rule can apply to no tool"))
	}
	return problems
}

// validate runs Cedar's own type checker.
func (r *rule) validate(v *validate.Validator, reached []*operation) (problems []Problem) {
	for _, err := range r.typeErrors(v) {
		message := err.Error()
		problems = append(problems, r.problem(subject(message), "%s", message))
	}
	if len(problems) == 0 || len(reached) < 2 {
		return problems
	}
	// Say for which tool, where the rule is right for others.
	for _, a := range reached {
		if len(r.typeErrors(validate.New(cedarSchema(only(a, r))))) > 0 {
			for i := range problems {
				problems[i].Message += fmt.Sprintf(" (for %s)", a.uid.ID)
			}
			break
		}
	}
	return problems
}

// only returns the action with strangers for every other one that the rule
// names, so that its scope stays known.
func only(a *operation, r *rule) []*operation {
	out := []*operation{a}
	for _, uid := range r.reads.entities {
		if uid.Type == typeAction && uid != a.uid && !slices.Contains(groupNames, string(uid.ID)) {
			other := *a
			other.uid = uid
			out = append(out, &other)
		}
	}
	return out
}

var groupNames = []string{groupRead, groupMutation, groupHigh}

// typeErrors keeps a defect of the type checker from taking the process down.
func (r *rule) typeErrors(v *validate.Validator) (errs []error) {
	defer func() {
		if recover() != nil {
			errs = []error{errors.New("the type checker failed on this rule")}
		}
	}()
	err := v.Policy("", r.ast)
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}

var quoted = regexp.MustCompile("`([^`]*)`")

// subject is the word that a message of the type checker is about: the last
// part of the first quoted name.
func subject(message string) string {
	m := quoted.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	return strings.Trim(lastPart(m[1]), `"`)
}

func lastPart(name string) string { return name[strings.LastIndexAny(name, ".:")+1:] }

// entityTypes are the types that a rule may name.
func (e *Engine) entityTypes() map[types.EntityType]bool {
	known := map[types.EntityType]bool{typeAction: true, typeUser: true, typeRole: true, typeTenant: true, typeTool: true}
	for _, a := range e.actions {
		for _, et := range a.resources {
			known[et] = true
		}
	}
	return known
}
