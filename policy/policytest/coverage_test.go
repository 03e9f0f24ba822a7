package policytest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/policy/policytest"
)

func TestCoverageNamesRulesThatDecidedNoCase(t *testing.T) {
	t.Parallel()
	e, tools := engine(t)
	cases, err := policytest.Parse([]byte(`{"cases":[
{"name":"clerk","tool":"bank.pay","arguments":{"amount":500,"vendor":"V"},"session":{"roles":["clerk"]},"expect":{"decision":"require_approval"}},
{"name":"boss and clerk","tool":"bank.pay","arguments":{"amount":5,"vendor":"V"},"session":{"roles":["boss","clerk"]},"expect":{"decision":"allow"}},
{"name":"guest","tool":"bank.pay","arguments":{"amount":1,"vendor":"V"},"expect":{"decision":"deny"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got := policytest.Cover(e.Rules(), policytest.Run(t.Context(), e, tools, nil, cases))
	// The clerk's rule asks, which beats the boss's allow: it decides both
	// cases, the second one otherwise than its suite says.
	want := policytest.Coverage{Fired: []policytest.Fired{{Rule: "clerks", Cases: 2}}, Silent: []string{"boss", "tainted"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Percent() != 33 {
		t.Errorf("%d %%", got.Percent())
	}
}

func TestPolicyWithoutRulesIsCovered(t *testing.T) {
	t.Parallel()
	if c := policytest.Cover(nil, nil); c.Percent() != 100 || c.Fired == nil || c.Silent == nil {
		t.Errorf("%+v", c)
	}
}
