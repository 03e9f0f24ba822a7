package catalog_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

const payments = `{"type":"object","properties":{"amountMinor":{"type":"integer"},"currency":{"type":"string"},"fee":{"type":"number"},
	"lines":{"type":"array","items":{"type":"object","properties":{"minor":{"type":"integer"}}}}}}`

func spend(per ...catalog.Dimension) *catalog.Limit {
	return &catalog.Limit{Name: "spend", Window: action.Day, Per: per, Amounts: map[string]int64{"USD": 1000}}
}

func counting(uses ...catalog.LimitUse) catalog.Spec {
	return catalog.Spec{Name: "pay", Schema: []byte(payments), Limits: uses}
}

func value(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Decode([]byte(text), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDefineRefusesLimitsThatWouldCountNothing(t *testing.T) {
	t.Parallel()
	calls := &catalog.Limit{Name: "calls", Window: action.Hour, Calls: 3}
	units := &catalog.Limit{Name: "units", Window: action.Hour, Amount: 3}
	good := catalog.LimitUse{Limit: spend(), Amount: "/amountMinor", Currency: "/currency"}
	tests := []struct {
		name string
		spec catalog.Spec
		want string
	}{
		{"a read", func() catalog.Spec {
			s := counting(good)
			s.Read, s.Reason = true, "it looks"
			return s
		}(), "only mutations are counted"},
		{"no limit", counting(catalog.LimitUse{}), "names no limit"},
		{"the same twice", counting(good, good), "comes twice"},
		{"no amount", counting(catalog.LimitUse{Limit: spend(), Currency: "USD"}), "amount is the pointer"},
		{"an amount of calls", counting(catalog.LimitUse{Limit: calls, Amount: "/amountMinor"}), "amount is the pointer"},
		{"no currency", counting(catalog.LimitUse{Limit: spend(), Amount: "/amountMinor"}), "currency is a pointer"},
		{"a currency of units", counting(catalog.LimitUse{Limit: units, Amount: "/amountMinor", Currency: "USD"}), "currency is a pointer"},
		{"a currency in small letters", counting(catalog.LimitUse{Limit: spend(), Amount: "/amountMinor", Currency: "usd"}), "a code such as USD"},
		{"a starred currency", counting(catalog.LimitUse{Limit: spend(), Amount: "/amountMinor", Currency: "/lines/*/minor"}), "cannot go through *"},
		{"an undeclared amount", counting(catalog.LimitUse{Limit: units, Amount: "/amount"}), "declares no member /amount"},
		{"a fraction", counting(catalog.LimitUse{Limit: units, Amount: "/fee"}), "declare /fee as an integer"},
		{"a text", counting(catalog.LimitUse{Limit: units, Amount: "/currency"}), "declare /currency as an integer"},
		{"a limit of nothing", counting(catalog.LimitUse{Limit: &catalog.Limit{Name: "n", Window: action.Day}}), "needs one of"},
		{"a limit of two things", counting(catalog.LimitUse{Limit: &catalog.Limit{Name: "n", Window: action.Day, Calls: 1, Amount: 1},
			Amount: "/amountMinor"}), "needs one of"},
		{"a negative limit", counting(catalog.LimitUse{Limit: &catalog.Limit{Name: "n", Window: action.Day, Calls: -1}}), "must be 1 to"},
		{"a window of its own", counting(catalog.LimitUse{Limit: &catalog.Limit{Name: "n", Window: "year", Calls: 1}}), "window: must be"},
		{"a dimension of its own", counting(catalog.LimitUse{Limit: &catalog.Limit{Name: "n", Window: action.Day, Calls: 1,
			Per: []catalog.Dimension{"color"}}}), "per: must be"},
		{"a currency that is none", counting(catalog.LimitUse{Limit: &catalog.Limit{Name: "n", Window: action.Day,
			Amounts: map[string]int64{"dollars": 1}}, Amount: "/amountMinor", Currency: "USD"}), "amounts: must be"},
		{"a name with capitals", counting(catalog.LimitUse{Limit: &catalog.Limit{Name: "N", Window: action.Day, Calls: 1}}), "name: must be"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := catalog.Define(tt.spec); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestOneNameIsOneLimit(t *testing.T) {
	t.Parallel()
	a, b := counting(catalog.LimitUse{Limit: spend(), Amount: "/amountMinor", Currency: "USD"}), counting()
	other := spend()
	other.Amounts = map[string]int64{"USD": 2000}
	b.Name, b.Limits = "pay2", []catalog.LimitUse{{Limit: other, Amount: "/amountMinor", Currency: "USD"}}
	if _, err := catalog.New(define(t, a), define(t, b)); err == nil || !strings.Contains(err.Error(), "spend is another limit elsewhere") {
		t.Errorf("error %v", err)
	}
	b.Limits[0].Limit = spend()
	if _, err := catalog.New(define(t, a), define(t, b)); err != nil {
		t.Error(err)
	}
}

func TestRunTakesFromTheWindowsThatItIsFor(t *testing.T) {
	t.Parallel()
	targets := []snapshot.Target{{Type: "vendor", ID: "V1"}, {Type: "vendor", ID: "V2"}, {Type: "vendor", ID: "V1"}}
	for name, tc := range map[string]struct {
		use  catalog.LimitUse
		args string
		want []action.Limit
	}{
		"money of a member, for a principal": {catalog.LimitUse{Limit: spend(catalog.PerPrincipal), Amount: "/amountMinor", Currency: "/currency"},
			`{"amountMinor":5,"currency":"USD"}`,
			[]action.Limit{{Name: "spend", Window: "day", Scope: `["principal","maria"]`, Currency: "USD", Amount: 5, Most: 1000}}},
		"a currency without a limit": {catalog.LimitUse{Limit: spend(), Amount: "/amountMinor", Currency: "EUR"}, `{"amountMinor":5}`,
			[]action.Limit{{Name: "spend", Window: "day", Scope: `[]`, Currency: "EUR", Amount: 5}}},
		"calls, for all dimensions": {catalog.LimitUse{Limit: &catalog.Limit{Name: "n", Window: action.Hour, Calls: 3,
			Per: []catalog.Dimension{catalog.PerTarget, catalog.PerTool, catalog.PerAgent, catalog.PerPrincipal}}}, `{}`,
			[]action.Limit{
				{Name: "n", Window: "hour", Scope: `["principal","maria","agent","helper","tool","pay","target","vendor","V1"]`, Amount: 1, Most: 3},
				{Name: "n", Window: "hour", Scope: `["principal","maria","agent","helper","tool","pay","target","vendor","V2"]`, Amount: 1, Most: 3}}},
		"a sum over elements": {catalog.LimitUse{Limit: &catalog.Limit{Name: "n", Window: action.Week, Amount: 100}, Amount: "/lines/*/minor"},
			`{"lines":[{"minor":20},{"minor":0},{"minor":22}]}`,
			[]action.Limit{{Name: "n", Window: "week", Scope: `[]`, Amount: 42, Most: 100}}},
		"no element": {catalog.LimitUse{Limit: &catalog.Limit{Name: "n", Window: action.Week, Amount: 100}, Amount: "/lines/*/minor"},
			`{"lines":[]}`, []action.Limit{{Name: "n", Window: "week", Scope: `[]`, Most: 100}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := define(t, counting(tc.use)).Reservations(catalog.Counted{Principal: "maria", Agent: "helper", Targets: targets, Args: value(t, tc.args)})
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestWhatCannotBeCountedIsRefused(t *testing.T) {
	t.Parallel()
	sums := catalog.LimitUse{Limit: &catalog.Limit{Name: "spend", Window: action.Week, Amount: 100}, Amount: "/lines/*/minor"}
	one := catalog.LimitUse{Limit: spend(), Amount: "/amountMinor", Currency: "/currency"}
	for args, use := range map[string]catalog.LimitUse{
		`{"currency":"USD"}`:                                 one,
		`{"amountMinor":null,"currency":"USD"}`:              one,
		`{"amountMinor":-1,"currency":"USD"}`:                one,
		`{"amountMinor":1.5,"currency":"USD"}`:               one,
		`{"amountMinor":"5","currency":"USD"}`:               one,
		`{"amountMinor":5}`:                                  one,
		`{"amountMinor":5,"currency":"Usd"}`:                 one,
		`{"amountMinor":5,"currency":840}`:                   one,
		`{}`:                                                 sums,
		`{"lines":{"minor":5}}`:                              sums,
		`{"lines":[{"minor":5},{}]}`:                         sums,
		`{"lines":[{"minor":5},{"minor":-5}]}`:               sums,
		`{"lines":[{"minor":9007199254740991},{"minor":1}]}`: sums,
	} {
		_, err := define(t, counting(use)).Reservations(catalog.Counted{Args: value(t, args)})
		var no *catalog.Uncountable
		if !errors.As(err, &no) || no.Limit != "spend" {
			t.Errorf("%s: error %v", args, err)
		}
	}
}

func TestTooManyTargetsCannotBeCounted(t *testing.T) {
	t.Parallel()
	tool := define(t, counting(catalog.LimitUse{Limit: &catalog.Limit{Name: "n", Window: action.Day, Calls: 1, Per: []catalog.Dimension{catalog.PerTarget}}}))
	for n, fine := range map[int]bool{catalog.MaxReservations: true, catalog.MaxReservations + 1: false} {
		targets := make([]snapshot.Target, n)
		for i := range targets {
			targets[i] = snapshot.Target{Type: "t", ID: strconv.Itoa(i)}
		}
		got, err := tool.Reservations(catalog.Counted{Targets: targets, Args: value(t, `{}`)})
		if (err == nil) != fine || fine && len(got) != n {
			t.Errorf("%d targets: %d windows, %v", n, len(got), err)
		}
	}
}

// Two runs share a window only where they are for the same things: the scope
// joins them by structure.
func TestScopesNeverRunTogether(t *testing.T) {
	t.Parallel()
	tool := define(t, counting(catalog.LimitUse{Limit: &catalog.Limit{Name: "n", Window: action.Day, Calls: 1,
		Per: []catalog.Dimension{catalog.PerPrincipal, catalog.PerAgent, catalog.PerTarget}}}))
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune{'a', '"', ',', '[', '\\'}), 0, 3, -1)
		var who [2][4]string
		var scopes [2]string
		for i := range who {
			who[i] = [4]string{text.Draw(r, "principal"), text.Draw(r, "agent"), text.Draw(r, "type"), text.Draw(r, "id")}
			got, err := tool.Reservations(catalog.Counted{Principal: who[i][0], Agent: who[i][1],
				Targets: []snapshot.Target{{Type: who[i][2], ID: who[i][3]}}, Args: canon.ObjectValue()})
			if err != nil {
				r.Fatal(err)
			}
			scopes[i] = got[0].Scope
		}
		if (scopes[0] == scopes[1]) != (who[0] == who[1]) {
			r.Fatalf("%q and %q have the scopes %s and %s", who[0], who[1], scopes[0], scopes[1])
		}
	})
}
