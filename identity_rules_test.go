package verbatim_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// place is where a marked member stands; %s is the value as JSON.
type place struct{ name, args string }

// places are all shapes that a mark can follow. Each names only the one value
// that a case varies; what else it marks is honest.
func places(self string) []place {
	return []place{
		{"top level", `{"user":%s}`},
		{"nested", `{"meta":{"by":%s}}`},
		{"two levels deep", `{"deep":{"in":{"by":%s}}}`},
		{"only element", `{"users":[%s]}`},
		{"last of many elements", `{"users":[` + self + `,` + self + `,%s]}`},
		{"member of a later row", `{"rows":[{"by":` + self + `},{},{"by":%s}]}`},
		{"name that needs an escape", `{"a/b~c":%s}`},
		{"beside an honest one", `{"user":` + self + `,"meta":{"by":%s}}`},
	}
}

// anything declares each member without a type, so that no schema stands
// before the comparison.
const anything = `{"type":"object","properties":{"user":{},"meta":{"properties":{"by":{}}},
	"deep":{"properties":{"in":{"properties":{"by":{}}}}},"users":{"items":{}},
	"rows":{"items":{"properties":{"by":{}}}},"a/b~c":{},"note":{},"org":{},"list":{}}}`

func marksOfAnything() []identity.Member {
	var out []identity.Member
	for _, p := range []string{"/user", "/meta/by", "/deep/in/by", "/users/*", "/rows/*/by", "/a~1b~0c"} {
		out = append(out, identity.Member{Pointer: p, Names: identity.NamesPrincipal})
	}
	return append(out, identity.Member{Pointer: "/org", Names: identity.NamesTenant})
}

// somebodyElse are values that are not the principal maria, as JSON.
var somebodyElse = map[string]string{
	"another person":                `"otto"`,
	"another person, escaped":       `"\u006f\u0074\u0074\u006f"`,
	"the tenant":                    `"acme"`,
	"the agent":                     `"Support Agent"`,
	"upper case":                    `"MARIA"`,
	"title case":                    `"Maria"`,
	"case, escaped":                 `"\u004daria"`,
	"full width":                    `"\uff4daria"`,
	"Cyrillic a":                    `"m\u0430ria"`,
	"Greek iota":                    `"mar\u03b9a"`,
	"mathematical letters":          `"\ud835\udc26aria"`,
	"dotless i":                     `"mar\u0131a"`,
	"combining mark":                `"mari\u0301a"`,
	"zero width space":              `"mar\u200bia"`,
	"zero width joiner":             `"maria\u200d"`,
	"word joiner":                   `"\u2060maria"`,
	"byte order mark":               `"\ufeffmaria"`,
	"soft hyphen":                   `"ma\u00adria"`,
	"right to left override":        `"\u202eairam"`,
	"variation selector":            `"maria\ufe0f"`,
	"trailing space":                `"maria "`,
	"leading space":                 `" maria"`,
	"no-break space":                `"maria\u00a0"`,
	"trailing line end":             `"maria\n"`,
	"NUL":                           `"maria\u0000"`,
	"NUL and more":                  `"maria\u0000otto"`,
	"list in one string":            `"maria,otto"`,
	"percent encoded":               `"%6daria"`,
	"HTML entity":                   `"&#109;aria"`,
	"domain added":                  `"maria@acme"`,
	"a prefix":                      `"mari"`,
	"doubled":                       `"mariamaria"`,
	"quoted":                        `"\"maria\""`,
	"wildcard":                      `"*"`,
	"empty":                         `""`,
	"null":                          `null`,
	"number":                        `7`,
	"zero":                          `0`,
	"boolean":                       `true`,
	"false":                         `false`,
	"array with the right name":     `["maria"]`,
	"array with two names":          `["maria","otto"]`,
	"empty array":                   `[]`,
	"object that has the name":      `{"id":"maria"}`,
	"empty object":                  `{}`,
	"JSON in a string":              `"{\"id\":\"maria\"}"`,
	"name of the word for self":     `"me"`,
	"template":                      `"{{principal}}"`,
	"null as text":                  `"null"`,
	"another person, percent (%20)": `"otto%20"`,
}

// asked counts how often policy is asked, and allows.
func asked(n *atomic.Int64) policy.Engine {
	allow := answer(policy.Allow)
	return policy.FromFunc("v1", func(ctx context.Context, in policy.Input) (policy.Decision, error) {
		n.Add(1)
		return allow(ctx, in)
	})
}

func identityStage(t *testing.T, n *atomic.Int64, change func(*catalog.Spec)) *stage {
	t.Helper()
	spec := ordinary("note", anything)
	spec.Identity = marksOfAnything()
	if change != nil {
		change(&spec)
	}
	return newStage(t, parts{spec: spec, policy: asked(n)})
}

// spoofed proposes arguments that must end as a recorded denial of which
// policy never hears.
func spoofed(t *testing.T, s *stage, n *atomic.Int64, session verbatim.Session, args string) {
	t.Helper()
	before, ran := n.Load(), len(s.probe.ran())
	o := s.as(session, verbatim.Call{Arguments: []byte(args)})
	if o.Status != verbatim.StatusDenied || o.Code != verbatim.CodeIdentitySpoof {
		t.Fatalf("got %s %s %s", o.Status, o.Code, o.Violations.Error())
	}
	if n.Load() != before || len(s.probe.ran()) != ran {
		t.Fatal("policy was asked, or the tool ran")
	}
	a, err := s.Store.Action(t.Context(), session.Tenant, o.ActionID)
	if err != nil || a.State != action.Denied || a.Decision.Code != string(verbatim.CodeIdentitySpoof) || a.Hash == (snapshot.ProposalHash{}) {
		t.Fatalf("the row is %s %s with hash %s (%v)", a.State, a.Decision.Code, a.Hash, err)
	}
}

// unheard proposes arguments that are refused before there is a proposal.
func unheard(t *testing.T, s *stage, n *atomic.Int64, args string) {
	t.Helper()
	before, ran := n.Load(), len(s.probe.ran())
	o := s.call(args)
	if o.Status != verbatim.StatusInvalidArguments || n.Load() != before || len(s.probe.ran()) != ran {
		t.Fatalf("got %s %s", o.Status, o.Code)
	}
}

// honest proposes arguments that must run.
func honest(t *testing.T, s *stage, session verbatim.Session, args string) {
	t.Helper()
	ran := len(s.probe.ran())
	o := s.as(session, verbatim.Call{Arguments: []byte(args)})
	if o.Status != verbatim.StatusOK || len(s.probe.ran()) != ran+1 {
		t.Fatalf("an honest call got %s %s %s", o.Status, o.Code, o.Violations.Error())
	}
}

func TestIdentityThatIsNotTheSessionsNeverReachesPolicy(t *testing.T) {
	t.Parallel()
	cases := 0
	for _, p := range places(`"maria"`) {
		cases += len(somebodyElse)
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			s := identityStage(t, &n, nil)
			for name, value := range somebodyElse {
				t.Run(name, func(t *testing.T) { spoofed(t, s, &n, s.Session(), fmt.Sprintf(p.args, value)) })
			}
			if n.Load() != 0 {
				t.Errorf("policy was asked %d times", n.Load())
			}
		})
	}
	if cases < 200 {
		t.Errorf("only %d cases", cases)
	}
}

// dressings are honest values and surroundings of a call of maria; the first
// %s of each is the marked member's place.
func dressings() []string {
	out := []string{`"maria"`}
	for i := range "maria" { // each letter, then all, as an escape
		out = append(out, `"`+"maria"[:i]+fmt.Sprintf(`\u%04x`, "maria"[i])+"maria"[i+1:]+`"`)
	}
	return append(out, `"\u006d\u0061\u0072\u0069\u0061"`, `"\u006D\u0061\u0072\u0069\u0061"`)
}

// beside are values of a member that nobody marked: whatever they look like,
// they are no claim about who acts.
func beside() []string {
	out := []string{`"user"`}
	for _, value := range somebodyElse {
		out = append(out, value)
	}
	return out
}

func TestHonestIdentityIsNeverRefused(t *testing.T) {
	t.Parallel()
	cases := 0
	for _, p := range places(`"maria"`) {
		values, others := dressings(), beside()
		cases += len(values) + len(others)
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			s := identityStage(t, &n, nil)
			for _, value := range values {
				honest(t, s, s.Session(), fmt.Sprintf(p.args, value))
			}
			for i, value := range others {
				args := strings.TrimSuffix(fmt.Sprintf(p.args, values[i%len(values)]), "}")
				honest(t, s, s.Session(), args+`,"note":`+value+`}`)
			}
		})
	}
	if cases < len(places(""))*len(somebodyElse) {
		t.Errorf("only %d cases", cases)
	}
}

func TestIdentityThatIsAbsentIsNoClaim(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	s := identityStage(t, &n, nil)
	for _, args := range []string{`{}`, `{"note":"otto"}`, `{"meta":{}}`, `{"meta":null}`, `{"users":[]}`, `{"rows":[]}`,
		`{"rows":[{},{}]}`, `{"deep":{"in":{}}}`, `{"deep":null}`, `{"org":"acme"}`, `{"list":["otto"]}`} {
		honest(t, s, s.Session(), args)
	}
}

// A mark that cannot be followed might hide a claim; a name that is nearly
// the marked one might be read as it.
func TestIdentityInTheWrongShapeIsRefused(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	s := identityStage(t, &n, nil)
	for _, args := range []string{`{"meta":"otto"}`, `{"meta":7}`, `{"meta":true}`, `{"meta":[{"by":"otto"}]}`, `{"meta":["otto"]}`,
		`{"deep":{"in":"otto"}}`, `{"deep":"otto"}`, `{"users":"maria"}`, `{"users":"otto"}`, `{"users":7}`, `{"users":{"0":"otto"}}`,
		`{"users":[["maria"]]}`, `{"rows":["otto"]}`, `{"rows":{"0":{"by":"otto"}}}`, `{"rows":[[{"by":"otto"}]]}`, `{"rows":"otto"}`,
		`{"org":"ACME"}`, `{"org":"maria"}`, `{"org":null}`, `{"org":["acme"]}`, `{"org":"other","user":"maria"}`} {
		spoofed(t, s, &n, s.Session(), args)
	}
	for _, args := range []string{`{"User":"otto"}`, `{"USER":"otto"}`, `{"user":"maria","User":"otto"}`, `{"User":"otto","user":"maria"}`,
		`{"user":"maria","u\u0073er":"otto"}`, `{"user":"otto","user":"maria"}`, `{"meta":{"By":"otto"}}`, `{"meta":{"by":"maria","BY":"otto"}}`,
		`{"u\u017fer":"otto"}`, `{"rows":[{"by":"maria","bY":"otto"}]}`, `{"uſer":"otto"}`, `{"user ":"otto"}`, `{"user_id":"otto"}`, `{"us\u200ber":"otto"}`} {
		unheard(t, s, &n, args)
	}
}

func TestIdentityIsComparedInItsOwnNormalForm(t *testing.T) {
	t.Parallel()
	const composed, decomposed = "jos\u00e9", "jose\u0301"
	for _, c := range []struct{ name, principal, equal, other string }{
		{"session in NFC", composed, `"jos\u00e9"`, decomposed},
		{"session in NFD", decomposed, `"jose\u0301"`, composed},
		{"session in full width", "\uff4dary", `"\uff4dary"`, "mary"},
		{"session with a space at its end", "mary ", `"mary\u0020"`, "mary"},
		{"session that is a number", "42", `"42"`, "42.0"},
		{"session that is a word of JSON", "null", `"null"`, "nul"},
		{"session outside of the first plane", "\U0001d426ary", `"\ud835\udc26ary"`, "mary"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			s := identityStage(t, &n, nil)
			session := s.Session()
			session.Principal = c.principal
			for _, p := range places(`"` + c.principal + `"`) {
				spoofed(t, s, &n, session, fmt.Sprintf(p.args, `"`+c.other+`"`))
				honest(t, s, session, fmt.Sprintf(p.args, c.equal))
			}
			spoofed(t, s, &n, session, `{"user":42}`)
			spoofed(t, s, &n, session, `{"user":null}`)
		})
	}
}

// Names of people are resolved before they are compared (semantics §4).
func TestAliasOfThePrincipalIsThePrincipal(t *testing.T) {
	t.Parallel()
	people, err := resolve.NewTable([]resolve.Row{{Alias: "me", ID: "maria"}, {Alias: "Maria Rossi", ID: "maria"},
		{Alias: "Otto", ID: "otto"}, {Alias: "Maria Bianchi", ID: "maria2"}, {Alias: "boss", ID: "otto"},
		{Alias: "M. R.", ID: "maria"}, {Alias: "M. R.", ID: "marco"}, {Alias: "m\u0430ria", ID: "eve"}}, resolve.TableOptions{Fold: true})
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	s := identityStage(t, &n, func(spec *catalog.Spec) {
		value := func(p string) map[string]string { return map[string]string{"value": p} }
		spec.Resolvers = []resolve.Rule{{Name: "people", From: value("/user"), Into: value("/user"), Resolver: people},
			{Name: "people", From: value("/users/*"), Into: value("/users/*"), Resolver: people},
			{Name: "people", From: value("/rows/*/by"), Into: value("/rows/*/by"), Resolver: people},
			{Name: "people", From: value("/note"), Into: value("/meta/by"), Resolver: people}}
	})
	shapes := []string{`{"user":%s}`, `{"users":["me",%s]}`, `{"rows":[{"by":"maria"},{"by":%s}]}`, `{"meta":{},"note":%s}`}
	for _, shape := range shapes {
		for _, value := range []string{`"maria"`, `"me"`, `"ME"`, `"Maria Rossi"`, `"maria  rossi"`, `"MARIA ROSSI"`, `" me "`, `"\u006de"`} {
			honest(t, s, s.Session(), fmt.Sprintf(shape, value))
		}
		for _, value := range []string{`"otto"`, `"Otto"`, `"OTTO"`, `"boss"`, `"Maria Bianchi"`, `"maria bianchi"`, `"maria2"`, `"m\u0430ria"`, `"marco"`, `"eve"`} {
			spoofed(t, s, &n, s.Session(), fmt.Sprintf(shape, value))
		}
		for _, value := range []string{`"M. R."`, `"Maria"`, `"maria\u200b"`, `"nobody"`, `""`, `null`, `7`, `true`, `["me"]`, `{"id":"me"}`} {
			unheard(t, s, &n, fmt.Sprintf(shape, value))
		}
	}
	unheard(t, s, &n, `{"note":"me","meta":{"by":"maria"}}`) // a result that the caller sets itself
}

func TestFilledIdentityIsTheSessionsInEveryPlace(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	s := identityStage(t, &n, func(spec *catalog.Spec) {
		spec.Identity = []identity.Member{{Pointer: "/user", Names: identity.NamesPrincipal, Fill: true},
			{Pointer: "/org", Names: identity.NamesTenant, Fill: true}}
	})
	honest(t, s, s.Session(), `{}`)
	honest(t, s, s.Session(), `{"user":"maria"}`)
	for _, args := range s.probe.ran() {
		if args != `{"org":"acme","user":"maria"}` {
			t.Errorf("it ran %s", args)
		}
	}
	for _, value := range []string{`null`, `""`, `"otto"`, `0`, `[]`} {
		spoofed(t, s, &n, s.Session(), `{"user":`+value+`}`)
		spoofed(t, s, &n, s.Session(), `{"org":`+value+`}`)
	}
}
