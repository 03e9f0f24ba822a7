package cedar

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/policy"
)

// terms are what the annotations of a rule say.
type terms struct {
	ask          bool
	approval     policy.Approval
	high         bool
	publicReason string
}

// annotate reads the annotations. An unknown or misplaced one is a problem:
// a misspelt @decision would else allow what it should ask about.
func (r *rule) annotate(known []string) (problems []Problem) {
	values := map[string]string{}
	for _, a := range r.ast.Annotations {
		values[string(a.Key)] = string(a.Value)
	}
	refuse := func(key, format string, args ...any) {
		problems = append(problems, r.problem("@"+key, format, args...))
	}
	decision, decided := values["decision"]
	r.terms.ask = decided && decision == policy.RequireApproval.String()
	for _, a := range r.ast.Annotations {
		key := string(a.Key)
		if where := r.misplaced(key); where != "" {
			refuse(key, "%s", where)
			continue
		}
		if err := r.set(key, values[key], known); err != nil {
			refuse(key, "@%s: %v", key, err)
		}
	}
	return problems
}

// misplaced says why the annotation has no business on this rule; "" if it
// has.
func (r *rule) misplaced(key string) string {
	switch key {
	case "id", "public_reason":
		return ""
	case "decision", "impact":
		if !r.permit() {
			return fmt.Sprintf("@%s is for permit only", key)
		}
	case "groups", "ttl", "pending_ttl", "step_up":
		if !r.terms.ask {
			return fmt.Sprintf(`@%s is for @decision("require_approval") only`, key)
		}
	default:
		return fmt.Sprintf("unknown annotation @%s", key)
	}
	return ""
}

func (r *rule) set(key, value string, known []string) (err error) {
	switch key {
	case "decision":
		if value != policy.RequireApproval.String() && value != policy.Allow.String() {
			return fmt.Errorf(`want "require_approval" or "allow"`)
		}
	case "impact":
		if r.terms.high = value == "high"; !r.terms.high {
			return fmt.Errorf(`want "high": policy can only raise the class`)
		}
	case "step_up":
		if r.terms.approval.StepUp = value == "" || value == "true"; !r.terms.approval.StepUp {
			return fmt.Errorf(`want no value, or "true"`)
		}
	case "public_reason":
		if r.terms.publicReason = value; strings.TrimSpace(value) == "" {
			return fmt.Errorf("want a text")
		}
	case "groups":
		r.terms.approval.Requirements, err = parseGroups(value, known)
	case "ttl":
		r.terms.approval.TTL, err = parseClock(value, policy.MaxTTL)
	case "pending_ttl":
		r.terms.approval.PendingTTL, err = parseClock(value, policy.MaxPendingTTL)
	}
	return err
}

func parseClock(value string, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < time.Second || d > most {
		return 0, fmt.Errorf("want a duration from 1s to %s, such as 10m", most)
	}
	return d, nil
}

// parseGroups reads "admin:1|finance:2": any one of the groups with so many
// votes is enough.
func parseGroups(value string, known []string) ([]action.Requirement, error) {
	var r action.Requirement
	for part := range strings.SplitSeq(value, "|") {
		name, votes, counted := strings.Cut(strings.TrimSpace(part), ":")
		n := 1
		if counted {
			var err error
			if n, err = strconv.Atoi(votes); err != nil || n < 1 || n > policy.MaxVotes {
				return nil, fmt.Errorf("want a number of votes from 1 to %d after the colon", policy.MaxVotes)
			}
		}
		if !groupName(name) {
			return nil, fmt.Errorf(`want groups such as "admin:1|finance:2"`)
		}
		if len(known) > 0 && !slices.Contains(known, name) {
			return nil, fmt.Errorf("group %q is not one that is configured", name)
		}
		r.AnyOf = append(r.AnyOf, action.Group{Name: name, Votes: n})
	}
	return []action.Requirement{r}, nil
}

func groupName(name string) bool {
	if name == "" {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !wordByte(c) && c != '-' && c != '.' {
			return false
		}
	}
	return true
}
