package policy_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
)

func someFacts(t *rapid.T) policy.Facts {
	texts := rapid.SliceOfN(rapid.StringMatching(`[a-zäß"\\ ]{0,6}`), 0, 3)
	in := policy.Input{Turn: rapid.IntRange(0, 1<<40).Draw(t, "turn"),
		Now:     time.Unix(0, rapid.Int64Range(0, 1<<62).Draw(t, "now")).UTC(),
		Session: identity.Session{Roles: texts.Draw(t, "roles"), Taint: texts.Draw(t, "taint")}}
	if rapid.Bool().Draw(t, "context") {
		in.RunContext = 1
	}
	if rapid.Bool().Draw(t, "tool") {
		in.Tool = policy.Tool{Name: "bank.pay", Impact: "financial", Effect: "keyed", Mutation: rapid.Bool().Draw(t, "mutation"),
			HighImpact: rapid.Bool().Draw(t, "high"), Cataloged: rapid.Bool().Draw(t, "cataloged")}
	}
	return in.Facts()
}

func TestRecordedFactsReadBackAsTheyWere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := someFacts(t)
		got, err := policy.ReadFacts(f.Text())
		if err != nil {
			t.Fatal(err)
		}
		if got.Text() != f.Text() || got.Turn != f.Turn || !got.Now.Equal(f.Now) || got.Tool != f.Tool || got.RunContext != f.RunContext {
			t.Fatalf("read %+v, recorded %+v", got, f)
		}
		if len(f.Roles) > 0 {
			if diff := cmp.Diff(f.Roles, got.Roles); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// TestFactsAreWrittenAsTheirTreeOfValues holds the writer of fixed names to the
// canonical form of the same members, for texts that nobody would write too.
func TestFactsAreWrittenAsTheirTreeOfValues(t *testing.T) {
	t.Parallel()
	odd := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\xff", "", "\u2028", `"\`}))
	rapid.Check(t, func(t *rapid.T) {
		f := someFacts(t)
		f.Roles = append(f.Roles, rapid.SliceOfN(odd, 0, 2).Draw(t, "more roles")...)
		if f.Tool != (policy.Tool{}) {
			f.Tool.Name, f.Tool.Impact, f.Tool.Effect = odd.Draw(t, "name"), odd.Draw(t, "impact"), odd.Draw(t, "effect")
		}
		texts := func(list []string) canon.Value {
			out := make([]canon.Value, len(list))
			for i, x := range list {
				out[i] = canon.StringValue(x)
			}
			return canon.ArrayValue(out...)
		}
		members := []canon.Member{{Name: "v", Value: canon.IntValue(1)}, {Name: "turn", Value: canon.IntValue(int64(f.Turn))},
			{Name: "roles", Value: texts(f.Roles)}, {Name: "taint", Value: texts(f.Taint)}, {Name: "runContext", Value: canon.BoolValue(f.RunContext)},
			{Name: "now", Value: canon.StringValue(f.Now.UTC().Format(time.RFC3339Nano))}}
		if f.Tool != (policy.Tool{}) {
			members = append(members, canon.Member{Name: "tool", Value: canon.ObjectValue(
				canon.Member{Name: "name", Value: canon.StringValue(f.Tool.Name)}, canon.Member{Name: "impact", Value: canon.StringValue(f.Tool.Impact)},
				canon.Member{Name: "effect", Value: canon.StringValue(f.Tool.Effect)}, canon.Member{Name: "mutation", Value: canon.BoolValue(f.Tool.Mutation)},
				canon.Member{Name: "highImpact", Value: canon.BoolValue(f.Tool.HighImpact)}, canon.Member{Name: "cataloged", Value: canon.BoolValue(f.Tool.Cataloged)})})
		}
		if diff := cmp.Diff(string(canon.ObjectValue(members...).Canonical()), f.Text()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestFactsOfAnotherFormAreNotGuessedAt(t *testing.T) {
	t.Parallel()
	const whole = `{"now":"2030-01-02T03:04:05Z","roles":["clerk"],"runContext":false,"taint":[],"turn":2,"v":1}`
	if _, err := policy.ReadFacts(whole); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty":               ``,
		"another version":     `{"now":"2030-01-02T03:04:05Z","roles":["clerk"],"runContext":false,"taint":[],"turn":2,"v":2}`,
		"without roles":       `{"now":"2030-01-02T03:04:05Z","runContext":false,"taint":[],"turn":2,"v":1}`,
		"roles are an object": `{"now":"2030-01-02T03:04:05Z","roles":{"a":"b"},"runContext":false,"taint":[],"turn":2,"v":1}`,
		"a role is a number":  `{"now":"2030-01-02T03:04:05Z","roles":[1],"runContext":false,"taint":[],"turn":2,"v":1}`,
		"one member more":     `{"more":1,"now":"2030-01-02T03:04:05Z","roles":["clerk"],"runContext":false,"taint":[],"turn":2,"v":1}`,
		"a broken turn":       `{"now":"2030-01-02T03:04:05Z","roles":["clerk"],"runContext":false,"taint":[],"turn":2.5,"v":1}`,
		"no instant":          `{"now":"noon","roles":["clerk"],"runContext":false,"taint":[],"turn":2,"v":1}`,
		"another time zone":   `{"now":"2030-01-02T04:04:05+01:00","roles":["clerk"],"runContext":false,"taint":[],"turn":2,"v":1}`,
		"a flag as text":      `{"now":"2030-01-02T03:04:05Z","roles":["clerk"],"runContext":"false","taint":[],"turn":2,"v":1}`,
		"other white space":   `{"now":"2030-01-02T03:04:05Z","roles":["clerk"],"runContext":false,"taint":[],"turn":2, "v":1}`,
		"a tool without name": `{"now":"2030-01-02T03:04:05Z","roles":[],"runContext":false,"taint":[],"tool":{},"turn":2,"v":1}`,
	} {
		if _, err := policy.ReadFacts(text); !errors.Is(err, policy.ErrFacts) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadFacts(f *testing.F) {
	f.Add(`{"now":"2030-01-02T03:04:05Z","roles":["clerk"],"runContext":false,"taint":[],"turn":2,"v":1}`)
	f.Add(`{"now":"2030-01-02T03:04:05Z","roles":{},"runContext":false,"taint":[],"tool":{"name":"x"},"turn":2,"v":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := policy.ReadFacts(text)
		if err == nil && got.Text() != text {
			t.Errorf("%q was read as %q", text, got.Text())
		}
	})
}
