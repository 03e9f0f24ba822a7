package verbatimtest

import (
	"context"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
)

// Attack is one way in which a model, a client or a repair library has
// spoiled arguments in the field. Spoil turns valid arguments of your tool,
// an object with at least one member, into the attack.
type Attack struct {
	Name  string
	Spoil func(valid string) string
}

// inside puts text before the last brace of an object.
func inside(valid, text string) string { return valid[:len(valid)-1] + text + "}" }

// Attacks lists ways to spoil arguments that must be refused before policy,
// whatever the tool: none is a JSON object with one meaning.
func Attacks() []Attack {
	return []Attack{
		{"no bytes at all", func(string) string { return "" }},
		{"white space only", func(string) string { return " \n" }},
		{"null", func(string) string { return "null" }},
		{"an array around it", func(v string) string { return "[" + v + "]" }},
		{"two objects", func(v string) string { return v + v }},
		{"prose behind it", func(v string) string { return v + "\n\nI will now call the tool." }},
		{"a code fence around it", func(v string) string { return "```json\n" + v + "\n```" }},
		{"a byte order mark", func(v string) string { return "\ufeff" + v }},
		{"a truncated object", func(v string) string { return v[:len(v)-1] }},
		{"a trailing comma", func(v string) string { return inside(v, ",") }},
		{"a comment", func(v string) string { return inside(v, "/* x */") }},
		{"a name twice", func(v string) string { return inside(v, `,"x9":1,"x9":2`) }},
		{"a name twice, once escaped", func(v string) string { return inside(v, `,"x9":1,"\u00789":2`) }},
		{"two names that differ in case", func(v string) string { return inside(v, `,"x9":1,"X9":2`) }},
		{"a lone surrogate", func(v string) string { return inside(v, `,"x9":"\ud800"`) }},
		{"surrogates in the wrong order", func(v string) string { return inside(v, `,"x9":"\ude00\ud83d"`) }},
		{"invalid UTF-8", func(v string) string { return inside(v, ",\"x9\":\"\xff\"") }},
		{"overlong UTF-8", func(v string) string { return inside(v, ",\"x9\":\"\xc0\xaf\"") }},
		{"2^53+1", func(v string) string { return inside(v, `,"x9":9007199254740993`) }},
		{"1e20", func(v string) string { return inside(v, `,"x9":1e20`) }},
		{"a number that overflows", func(v string) string { return inside(v, `,"x9":1e400`) }},
		{"a number that vanishes", func(v string) string { return inside(v, `,"x9":1e-400`) }},
		{"minus zero", func(v string) string { return inside(v, `,"x9":-0.0`) }},
		{"a number that would be rounded", func(v string) string { return inside(v, `,"x9":0.1000000000000000055511151231257827`) }},
		{"a huge exponent", func(v string) string { return inside(v, `,"x9":1e10000000`) }},
		{"NaN", func(v string) string { return inside(v, `,"x9":NaN`) }},
		{"Python's None", func(v string) string { return inside(v, `,"x9":None`) }},
		{"a control character", func(v string) string { return inside(v, ",\"x9\":\"a\nb\"") }},
	}
}

// RefuseAttacks calls a tool with every attack on its valid arguments and
// fails the test where one is not refused as invalid arguments, or leaves an
// action behind. The gate must deliver refused arguments as results, which
// is its default.
func RefuseAttacks(t *testing.T, f *Fixture, tool, valid string) {
	t.Helper()
	for _, a := range Attacks() {
		o, err := f.Gate.Call(context.Background(), f.Session(), verbatim.Call{Tool: tool, Arguments: []byte(a.Spoil(valid))})
		if err != nil || o.Status != verbatim.StatusInvalidArguments {
			t.Errorf("%s: got %s %s, %v", a.Name, o.Status, o.Code, err)
		}
	}
	rows, err := f.Gate.Actions(context.Background(), action.Filter{Tenant: f.Session().Tenant, Tool: tool})
	if err != nil || len(rows) != 0 {
		t.Errorf("%d actions were recorded, %v", len(rows), err)
	}
}
