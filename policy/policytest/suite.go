package policytest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
)

// Case is one example.
type Case struct {
	Name      string
	Tool      string
	Arguments canon.Value
	Session   identity.Session
	Turn      int
	Now       time.Time // when policy is asked; zero: when the suite runs
	Approval  *policy.ApprovalFacts
	// GrantExact makes the session's grant one for exactly this call.
	GrantExact bool
	Want       Want
}

// Want is the right decision. Only what is given is compared.
type Want struct {
	Decision string   // allow, deny or require_approval
	Code     string   // runtime reason of a deny
	Rules    []string // ids of the rules that determined it
	Groups   []string // of a require_approval: every group that is asked, as name:votes
}

// The members of a suite file, and whether they must be there.
var (
	suiteMembers = map[string]bool{"cases": true}
	caseMembers  = map[string]bool{"name": true, "tool": true, "arguments": false, "session": false, "turn": false,
		"now": false, "approval": false, "expect": true}
	sessionMembers = map[string]bool{"principal": false, "tenant": false, "roles": false, "agent": false, "owner": false,
		"task": false, "grant": false, "grantExact": false, "taint": false}
	approvalMembers = map[string]bool{"id": true, "voters": false, "exact": false}
	expectMembers   = map[string]bool{"decision": true, "code": false, "rules": false, "groups": false}
)

// Parse reads a suite:
//
//	{"cases": [{
//	  "name": "clerks pay small amounts",
//	  "tool": "bank.pay",
//	  "arguments": {"amountMinor": 500, "vendorId": "V1"},
//	  "session": {"principal": "ann", "tenant": "acme", "roles": ["clerk"], "taint": []},
//	  "turn": 3, "now": "2026-05-04T12:00:00Z",
//	  "expect": {"decision": "require_approval", "groups": ["finance:1"]}
//	}]}
//
// It is strict JSON: unknown members are refused. Without a principal, tenant
// or agent, a session is that of "someone" in "default" with "agent".
func Parse(src []byte) ([]Case, error) {
	root, err := canon.Decode(src, canon.Options{})
	if err != nil {
		return nil, err
	}
	r := &reader{}
	list := r.object(root, "", suiteMembers)["cases"]
	names := map[string]bool{}
	var cases []Case
	for i, v := range r.list(list, "/cases") {
		c := r.readCase(v, canon.JoinIndex("/cases", i))
		if names[c.Name] {
			r.fault(canon.JoinIndex("/cases", i)+"/name", "a name that no other case has")
		}
		names[c.Name] = true
		cases = append(cases, c)
	}
	return cases, r.err
}

func (r *reader) readCase(v canon.Value, at string) Case {
	m := r.object(v, at, caseMembers)
	c := Case{Name: r.text(m["name"], at+"/name"), Tool: r.text(m["tool"], at+"/tool"), Arguments: m["arguments"],
		Turn: r.number(m["turn"], at+"/turn"), Now: r.instant(m["now"], at+"/now")}
	if c.Arguments.Kind() == canon.Invalid {
		c.Arguments = canon.ObjectValue()
	}
	c.Session, c.GrantExact = r.session(m["session"], at+"/session")
	if a, given := m["approval"]; given {
		facts := r.object(a, at+"/approval", approvalMembers)
		c.Approval = &policy.ApprovalFacts{ID: r.text(facts["id"], at+"/approval/id"),
			Voters: r.texts(facts["voters"], at+"/approval/voters"), Exact: r.flag(facts["exact"], at+"/approval/exact")}
	}
	expect := r.object(m["expect"], at+"/expect", expectMembers)
	c.Want = Want{Decision: r.text(expect["decision"], at+"/expect/decision"), Code: r.text(expect["code"], at+"/expect/code"),
		Rules: r.texts(expect["rules"], at+"/expect/rules"), Groups: r.texts(expect["groups"], at+"/expect/groups")}
	if !slices.Contains([]string{"allow", "deny", "require_approval"}, c.Want.Decision) {
		r.fault(at+"/expect/decision", "allow, deny or require_approval")
	}
	return c
}

func (r *reader) session(v canon.Value, at string) (s identity.Session, grantExact bool) {
	s = identity.Session{Principal: "someone", Tenant: "default", Agent: "agent"}
	if v.Kind() == canon.Invalid {
		return s, false
	}
	m := r.object(v, at, sessionMembers)
	for name, into := range map[string]*string{"principal": &s.Principal, "tenant": &s.Tenant, "agent": &s.Agent,
		"owner": &s.Owner, "task": &s.Task, "grant": &s.Grant.ID} {
		if given, ok := m[name]; ok {
			*into = r.text(given, at+"/"+name)
		}
	}
	s.Roles, s.Taint = r.texts(m["roles"], at+"/roles"), r.texts(m["taint"], at+"/taint")
	return s, r.flag(m["grantExact"], at+"/grantExact")
}

// reader keeps the first fault, so that reading needs no error at every step.
type reader struct{ err error }

func (r *reader) fault(at, expected string) {
	if r.err == nil {
		r.err = canon.Refuse(at, "suite", expected)
	}
}

func (r *reader) object(v canon.Value, at string, members map[string]bool) map[string]canon.Value {
	out := map[string]canon.Value{}
	if v.Kind() != canon.Object {
		r.fault(at, "an object")
		return out
	}
	for _, m := range v.Members() {
		if _, known := members[m.Name]; !known {
			r.fault(at, "only the members "+strings.Join(sortedNames(members), ", "))
		}
		out[m.Name] = m.Value
	}
	for _, name := range sortedNames(members) {
		if _, given := out[name]; !given && members[name] {
			r.fault(at, fmt.Sprintf("a member %s", name))
		}
	}
	return out
}

func sortedNames(members map[string]bool) []string {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r *reader) list(v canon.Value, at string) []canon.Value {
	if v.Kind() == canon.Invalid {
		return nil
	}
	if v.Kind() != canon.Array {
		r.fault(at, "an array")
	}
	return v.Elements()
}

func (r *reader) text(v canon.Value, at string) string {
	if v.Kind() != canon.String && v.Kind() != canon.Invalid {
		r.fault(at, "a string")
	}
	return v.Text()
}

func (r *reader) flag(v canon.Value, at string) bool {
	if v.Kind() != canon.Bool && v.Kind() != canon.Invalid {
		r.fault(at, "true or false")
	}
	return v.Kind() == canon.Bool && v.Bool()
}

func (r *reader) texts(v canon.Value, at string) []string {
	var out []string
	for i, e := range r.list(v, at) {
		out = append(out, r.text(e, canon.JoinIndex(at, i)))
	}
	return out
}

func (r *reader) number(v canon.Value, at string) int {
	i, ok := v.Int64()
	if v.Kind() != canon.Invalid && (!ok || i < 0) {
		r.fault(at, "an integer from 0")
	}
	return int(i)
}

func (r *reader) instant(v canon.Value, at string) time.Time {
	if v.Kind() == canon.Invalid {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, r.text(v, at))
	if err != nil {
		r.fault(at, "an instant such as 2026-05-04T12:00:00Z")
	}
	return t
}
