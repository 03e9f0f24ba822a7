package replay

import (
	"slices"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/policy"
)

// Expected is one kind of change that an author means to make.
type Expected struct {
	Tool     string // "" for any
	From, To string // decisions; equal ones mean other terms of an approval
	Rule     string // of the candidate's decision; "" for any
	Count    int    // exactly so many; 0 for any number, none too
}

// ParseExpected reads expected changes:
//
//	{"flips": [{"tool": "bank.pay", "from": "allow", "to": "deny", "rule": "no-mondays", "count": 3}]}
//
// It is strict JSON: unknown members are refused. It fails with
// [canon.Violations].
func ParseExpected(src []byte) ([]Expected, error) {
	root, err := canon.Decode(src, canon.Options{})
	if err != nil {
		return nil, err
	}
	list, ok := root.Get("flips")
	if root.Kind() != canon.Object || root.Len() != 1 || !ok || list.Kind() != canon.Array {
		return nil, canon.Refuse("", "expected", "an object with the one member flips, an array")
	}
	var out []Expected
	for i := range list.Len() {
		e, err := readExpected(list.At(i), canon.JoinIndex("/flips", i))
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

var decisions = []string{policy.Allow.String(), policy.RequireApproval.String(), policy.Deny.String()}

func readExpected(v canon.Value, at string) (e Expected, err error) {
	if v.Kind() != canon.Object {
		return e, canon.Refuse(at, "expected", "an object")
	}
	for _, m := range v.Members() {
		into, text := map[string]*string{"tool": &e.Tool, "from": &e.From, "to": &e.To, "rule": &e.Rule}[m.Name]
		n, whole := m.Value.Int64()
		switch {
		case m.Name == "count" && whole && n > 0:
			e.Count = int(n)
		case m.Name == "count":
			return e, canon.Refuse(at+"/count", "expected", "an integer from 1")
		case !text:
			return e, canon.Refuse(at, "expected", "only the members tool, from, to, rule, count")
		case m.Value.Kind() != canon.String || m.Value.Text() == "":
			return e, canon.Refuse(at+"/"+m.Name, "expected", "a string")
		default:
			*into = m.Value.Text()
		}
	}
	if !slices.Contains(decisions, e.From) || !slices.Contains(decisions, e.To) {
		return e, canon.Refuse(at, "expected", "from and to, each allow, require_approval or deny")
	}
	return e, nil
}

func (e Expected) covers(v Verdict) bool {
	return (e.Tool == "" || e.Tool == v.Tool) && e.From == v.Was.Decision && e.To == v.Is.Decision &&
		(e.Rule == "" || slices.Contains(v.Is.Rules, e.Rule))
}

// Surprise is where a report is not as expected.
type Surprise struct {
	Unexpected []Verdict  `json:"unexpected"` // changes that nothing expects
	Missed     []Expected `json:"missed"`     // expectations with a count that came out otherwise
	Idle       []Expected `json:"idle"`       // expectations without a count that nothing met; no fault
}

// Against holds a report against what is expected. A change counts for every
// expectation that covers it.
func (r Report) Against(expected []Expected) Surprise {
	s := Surprise{Unexpected: []Verdict{}, Missed: []Expected{}, Idle: []Expected{}}
	met := make([]int, len(expected))
	for _, v := range r.Changes {
		covered := false
		for i, e := range expected {
			if e.covers(v) {
				met[i]++
				covered = true
			}
		}
		if !covered {
			s.Unexpected = append(s.Unexpected, v)
		}
	}
	for i, e := range expected {
		switch {
		case e.Count != 0 && e.Count != met[i]:
			s.Missed = append(s.Missed, e)
		case met[i] == 0:
			s.Idle = append(s.Idle, e)
		}
	}
	return s
}

// Clean reports whether everything is as expected.
func (s Surprise) Clean() bool { return len(s.Unexpected)+len(s.Missed) == 0 }
