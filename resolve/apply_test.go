package resolve_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func decode(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Decode([]byte(text), canon.Options{Exact: true})
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	return v
}

// refusal returns "rule pointer" of the first violation.
func refusal(t testing.TB, err error) string {
	t.Helper()
	var vs canon.Violations
	if !errors.As(err, &vs) || len(vs) == 0 {
		t.Fatalf("want violations, got %v", err)
	}
	return vs[0].Rule + " " + vs[0].Pointer
}

func vendors(t testing.TB) *resolve.Table {
	t.Helper()
	table, err := resolve.NewTable([]resolve.Row{
		{Alias: "Acme", ID: "VENDOR-001"}, {Alias: "ACME Corp", ID: "VENDOR-001"}, {Alias: "Globex", ID: "VENDOR-002"},
		{Alias: "Smith", ID: "VENDOR-003"}, {Alias: "Smith", ID: "VENDOR-004"},
	}, resolve.TableOptions{Fold: true})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func vendorRule(t testing.TB, from, into string) resolve.Rule {
	return resolve.Rule{Name: "vendors", Resolver: vendors(t),
		From: map[string]string{"value": from}, Into: map[string]string{"value": into}}
}

func moneyRule(t testing.TB, from, into map[string]string) resolve.Rule {
	t.Helper()
	m, err := resolve.NewMoney(resolve.MoneyOptions{Aliases: map[string]string{"$": "USD", "dollars": "USD"}, Fold: true})
	if err != nil {
		t.Fatal(err)
	}
	return resolve.Rule{Name: "money", Resolver: m, From: from, Into: into}
}

func payment(t testing.TB) []resolve.Rule {
	return []resolve.Rule{
		vendorRule(t, "/vendor", "/vendorId"),
		moneyRule(t, map[string]string{"amount": "/amount", "unit": "/unit", "currency": "/currency"},
			map[string]string{"amountMinor": "/amountMinor", "currency": "/currency"}),
	}
}

func TestApplyReplacesWhatWasSaidByWhatIsMeant(t *testing.T) {
	t.Parallel()
	got, changes, answered, err := resolve.Apply(t.Context(), payment(t),
		decode(t, `{"vendor":"acme  corp","amount":8.4,"unit":"thousand","currency":"USD","note":"x"}`), noon)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"amountMinor":840000,"currency":"USD","note":"x","vendorId":"VENDOR-001"}`; string(got.Canonical()) != want {
		t.Errorf("N01: got %s, want %s", got.Canonical(), want)
	}
	want := []canon.Change{
		{Pointer: "/vendorId", Kind: canon.ChangeResolved, By: "vendors"},
		{Pointer: "/amountMinor", Kind: canon.ChangeResolved, By: "money"},
		{Pointer: "/vendor", Kind: canon.ChangeConsumed, By: "vendors"},
		{Pointer: "/amount", Kind: canon.ChangeConsumed, By: "money"},
		{Pointer: "/unit", Kind: canon.ChangeConsumed, By: "money"},
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
	for i, p := range []string{"/vendorId", "/amountMinor"} {
		a := answered[i]
		if a.Pointer != p || a.Version == "" || a.Digest.IsZero() || !a.At.Equal(noon) {
			t.Errorf("evidence %d: %+v", i, a)
		}
	}
}

func TestTwoSpellingsGiveOneTreeAndOneEvidence(t *testing.T) {
	t.Parallel()
	var texts []string
	var evidence [][]resolve.Answered
	for _, args := range []string{
		`{"vendor":"Acme","amount":8.4,"unit":"thousand","currency":"USD"}`,
		`{"currency":"usd","unit":"k","amount":"8.40","vendor":"VENDOR-001"}`,
		`{"currency":"$","amount":"8400.00","vendor":"ACME CORP"}`,
		`{"currency":"Dollars","amount":840000,"unit":"Minor","vendor":"acme"}`,
	} {
		got, _, answered, err := resolve.Apply(t.Context(), payment(t), decode(t, args), noon)
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		texts, evidence = append(texts, string(got.Canonical())), append(evidence, answered)
	}
	for i := range texts {
		if texts[i] != texts[0] {
			t.Errorf("spelling %d gives %s, want %s", i, texts[i], texts[0])
		}
		if at, same := resolve.Compare(evidence[0], evidence[i]); !same {
			t.Errorf("spelling %d: evidence differs at %s", i, at)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args, want string }{
		{"unknown vendor", `{"vendor":"Nobody"}`, "target_unresolved /vendor"},
		{"two vendors of one name", `{"vendor":"smith"}`, "target_ambiguous /vendor"},
		{"vendor that is no name", `{"vendor":{"id":"VENDOR-001"}}`, "target_unresolved /vendor"},
		{"null vendor", `{"vendor":null}`, "target_unresolved /vendor"},
		{"result set by the caller", `{"vendor":"Acme","vendorId":"VENDOR-002"}`, "target_ambiguous /vendorId"},
		{"result set past the resolver", `{"vendorId":"VENDOR-002"}`, "target_ambiguous /vendorId"},
		{"amount without currency", `{"amount":1}`, "currency /currency"},
		{"currency without amount", `{"currency":"USD"}`, "amount /amount"},
		{"unknown unit", `{"amount":1,"unit":"dozen","currency":"USD"}`, "unit /unit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, changes, answered, err := resolve.Apply(t.Context(), payment(t), decode(t, c.args), noon)
			if r := refusal(t, err); r != c.want {
				t.Errorf("got %s, want %s", r, c.want)
			}
			if got.Kind() != canon.Invalid || changes != nil || answered != nil {
				t.Error("a refusal returned a result")
			}
		})
	}
}

func TestApplyWalksArrays(t *testing.T) {
	t.Parallel()
	rules := []resolve.Rule{
		vendorRule(t, "/batches/*/lines/*/vendor", "/batches/*/lines/*/vendorId"),
		vendorRule(t, "/copies/*", "/copies/*"),
		moneyRule(t, map[string]string{"amount": "/batches/*/lines/*/amount", "currency": "/currency"},
			map[string]string{"amountMinor": "/batches/*/lines/*/minor", "currency": "/batches/*/lines/*/currency"}),
	}
	got, _, answered, err := resolve.Apply(t.Context(), rules, decode(t, `{"currency":"JPY","copies":["acme","Globex"],
		"batches":[{"lines":[{"vendor":"Acme","amount":5},{"vendor":"Globex","amount":"7"}]},{"lines":[]},{"lines":[{"vendor":"Acme","amount":1}]}]}`), noon)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"batches":[{"lines":[{"currency":"JPY","minor":5,"vendorId":"VENDOR-001"},{"currency":"JPY","minor":7,"vendorId":"VENDOR-002"}]},` +
		`{"lines":[]},{"lines":[{"currency":"JPY","minor":1,"vendorId":"VENDOR-001"}]}],"copies":["VENDOR-001","VENDOR-002"]}`
	if string(got.Canonical()) != want {
		t.Errorf("got %s\nwant %s", got.Canonical(), want)
	}
	var at []string
	for _, a := range answered {
		at = append(at, a.Pointer)
	}
	wantAt := []string{"/batches/0/lines/0/vendorId", "/batches/0/lines/1/vendorId", "/batches/2/lines/0/vendorId", "/copies/0", "/copies/1",
		"/batches/0/lines/0/currency", "/batches/0/lines/1/currency", "/batches/2/lines/0/currency"}
	if diff := cmp.Diff(wantAt, at); diff != "" {
		t.Error(diff)
	}
	_, _, _, err = resolve.Apply(t.Context(), rules, decode(t, `{"copies":["acme","nobody"]}`), noon)
	if r := refusal(t, err); r != "target_unresolved /copies/1" {
		t.Error(r)
	}
}

func TestRolesOutsideTheArrayAreShared(t *testing.T) {
	t.Parallel()
	rule := resolve.Rule{Name: "f", Resolver: echo, From: map[string]string{"a": "/shared", "b": "/rows/*/b"},
		Into: map[string]string{"a": "/rows/*/a", "b": "/rows/*/b"}}
	got, _, _, err := resolve.Apply(t.Context(), []resolve.Rule{rule}, decode(t, `{"shared":1,"rows":[{"b":2},{"b":3}]}`), noon)
	if err != nil || string(got.Canonical()) != `{"rows":[{"a":1,"b":2},{"a":1,"b":3}]}` {
		t.Errorf("%s, %v", got.Canonical(), err)
	}
	rule.Into["a"] = "/other/*/a"
	if rule.Check() == nil {
		t.Error("a result in another array than its source")
	}
}

func TestRulesMayBuildOnEachOther(t *testing.T) {
	t.Parallel()
	wrap := func(_ context.Context, in map[string]canon.Value) (resolve.Answer, error) {
		return resolve.Answer{Version: "1", Values: map[string]canon.Value{"value": canon.StringValue("urn:" + in["value"].Text())}}, nil
	}
	rules := []resolve.Rule{vendorRule(t, "/vendor", "/step"),
		{Name: "urn", Resolver: resolve.Func(wrap), From: map[string]string{"value": "/step"}, Into: map[string]string{"value": "/to/urn"}}}
	got, _, _, err := resolve.Apply(t.Context(), rules, decode(t, `{"vendor":"Acme"}`), noon)
	if err != nil || string(got.Canonical()) != `{"to":{"urn":"urn:VENDOR-001"}}` {
		t.Errorf("got %s, %v", got.Canonical(), err)
	}
}

// echo answers every source under its own role.
var echo = resolve.Func(func(_ context.Context, in map[string]canon.Value) (resolve.Answer, error) {
	return resolve.Answer{Version: "1", Values: in}, nil
})

func TestResultsInPlaceHideNoOthers(t *testing.T) {
	t.Parallel()
	rule := resolve.Rule{Name: "f", Resolver: echo, From: map[string]string{"a": "/a", "b": "/b", "c": "/c"},
		Into: map[string]string{"a": "/a", "b": "/x", "c": "/y"}}
	_, _, _, err := resolve.Apply(t.Context(), []resolve.Rule{rule}, decode(t, `{"a":1,"b":2,"c":3,"x":4}`), noon)
	if r := refusal(t, err); r != "target_ambiguous /x" {
		t.Errorf("a result behind one in place: %s", r)
	}
	got, changes, _, err := resolve.Apply(t.Context(), []resolve.Rule{rule}, decode(t, `{"a":1,"b":2,"c":3}`), noon)
	if err != nil || string(got.Canonical()) != `{"a":1,"x":2,"y":3}` || len(changes) != 4 {
		t.Errorf("results behind one that did not change: %s, %v, %v", got.Canonical(), changes, err)
	}
}

func TestPrefilledResultsAreListedAllAtOnce(t *testing.T) {
	t.Parallel()
	rule := vendorRule(t, "/rows/*/name", "/rows/*/id")
	row := `{"name":"Acme","id":"VENDOR-002"}`
	_, _, _, err := resolve.Apply(t.Context(), []resolve.Rule{rule}, decode(t, `{"rows":[`+strings.Repeat(row+",", 30)+row+`]}`), noon)
	var vs canon.Violations
	if !errors.As(err, &vs) || len(vs) != canon.MaxViolations || vs[1].Pointer != "/rows/1/id" {
		t.Errorf("%d violations: %v", len(vs), err)
	}
}

func TestSourceThatIsAnArrayElementIsNotLeftBehind(t *testing.T) {
	t.Parallel()
	rule := vendorRule(t, "/pair/0", "/id")
	_, _, _, err := resolve.Apply(t.Context(), []resolve.Rule{rule}, decode(t, `{"pair":["Acme","x"]}`), noon)
	if r := refusal(t, err); r != "target_unresolved /pair/0" {
		t.Error(r)
	}
	_, _, _, err = resolve.Apply(t.Context(), []resolve.Rule{vendorRule(t, "/a", "/b/id")}, decode(t, `{"a":"Acme","b":"text"}`), noon)
	if r := refusal(t, err); r != "target_unresolved /b/id" {
		t.Errorf("a result below a scalar: %s", r)
	}
}

func TestViolationsOfAResolverPointIntoTheArguments(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]string{"/b": "x /to/b", "/b/0/c": "x /to/b/0/c", "/nobody": "x /a", "": "x /a"} {
		f := resolve.Func(func(context.Context, map[string]canon.Value) (resolve.Answer, error) {
			return resolve.Answer{}, canon.Violations{{Pointer: role, Rule: "x", Expected: "y", Offset: 7}}
		})
		rule := resolve.Rule{Name: "f", Resolver: f, From: map[string]string{"b": "/to/b", "a": "/a"}, Into: map[string]string{"value": "/z"}}
		_, _, _, err := resolve.Apply(t.Context(), []resolve.Rule{rule}, decode(t, `{"a":1,"to":{"b":2}}`), noon)
		var vs canon.Violations
		if r := refusal(t, err); r != want || errors.As(err, &vs) && vs[0].Offset != -1 {
			t.Errorf("%s: %s, %v", role, r, err)
		}
	}
}

func TestBrokenResolversRefuseWithoutTheirWords(t *testing.T) {
	t.Parallel()
	secret := errors.New("lookup of secret-value failed")
	one := map[string]canon.Value{"value": canon.StringValue("x")}
	for name, f := range map[string]resolve.Func{
		"error": func(context.Context, map[string]canon.Value) (resolve.Answer, error) { return resolve.Answer{}, secret },
		"panic": func(context.Context, map[string]canon.Value) (resolve.Answer, error) { panic("secret-value") },
		"empty violations": func(context.Context, map[string]canon.Value) (resolve.Answer, error) {
			return resolve.Answer{}, canon.Violations{}
		},
		"no version": func(context.Context, map[string]canon.Value) (resolve.Answer, error) {
			return resolve.Answer{Values: one}, nil
		},
		"no value": func(context.Context, map[string]canon.Value) (resolve.Answer, error) {
			return resolve.Answer{Version: "1"}, nil
		},
		"invalid value": func(context.Context, map[string]canon.Value) (resolve.Answer, error) {
			return resolve.Answer{Version: "1", Values: map[string]canon.Value{"value": {}}}, nil
		},
		"bad UTF-8": func(context.Context, map[string]canon.Value) (resolve.Answer, error) {
			return resolve.Answer{Version: "1", Values: map[string]canon.Value{"value": canon.StringValue("\xff")}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule := resolve.Rule{Name: "f", Resolver: f, From: map[string]string{"value": "/a"}, Into: map[string]string{"value": "/b"}}
			_, _, _, err := resolve.Apply(t.Context(), []resolve.Rule{rule}, decode(t, `{"a":"secret-value"}`), noon)
			if r := refusal(t, err); r != "target_unresolved /a" {
				t.Error(r)
			}
			if strings.Contains(err.Error(), "secret-value") {
				t.Errorf("prints a value: %v", err)
			}
			var failure *resolve.Failure
			if !errors.As(err, &failure) || failure.Cause == nil {
				t.Error("the operator cannot see the cause")
			}
			if name == "error" && !errors.Is(err, secret) {
				t.Error("the cause is lost")
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, _, err := resolve.Apply(ctx, payment(t), decode(t, `{"vendor":"Acme"}`), noon)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestRuleCheckRefusesWhatCannotBeFollowed(t *testing.T) {
	t.Parallel()
	table := vendors(t)
	value := func(p string) map[string]string { return map[string]string{"value": p} }
	for name, rules := range map[string][]resolve.Rule{
		"no resolver":             {{Name: "x", From: value("/a"), Into: value("/b")}},
		"no source":               {{Name: "x", Resolver: table, Into: value("/b")}},
		"no result":               {{Name: "x", Resolver: table, From: value("/a")}},
		"no source at all":        {{Name: "x", Resolver: echo, Into: value("/b")}},
		"no result at all":        {{Name: "x", Resolver: echo, From: value("/a")}},
		"bad escape":              {{Name: "x", Resolver: table, From: value("/~2"), Into: value("/b")}},
		"unknown source role":     {{Name: "x", Resolver: table, From: map[string]string{"name": "/a"}, Into: value("/b")}},
		"unknown result role":     {{Name: "x", Resolver: table, From: value("/a"), Into: map[string]string{"id": "/b"}}},
		"half of an answer":       {moneyRule(t, map[string]string{"amount": "/a", "currency": "/c"}, map[string]string{"amountMinor": "/m"})},
		"money without amount":    {moneyRule(t, map[string]string{"currency": "/c"}, map[string]string{"amountMinor": "/m", "currency": "/c"})},
		"no pointer":              {{Name: "x", Resolver: table, From: value("a"), Into: value("/b")}},
		"root":                    {{Name: "x", Resolver: table, From: value(""), Into: value("/b")}},
		"two arrays":              {{Name: "x", Resolver: table, From: value("/a/*"), Into: value("/b/*")}},
		"many into one":           {{Name: "x", Resolver: table, From: value("/a/*"), Into: value("/b")}},
		"one into many":           {{Name: "x", Resolver: table, From: value("/a"), Into: value("/b/*/c")}},
		"element into new":        {{Name: "x", Resolver: table, From: value("/a/*/b"), Into: value("/a/*")}},
		"two results in a place":  {moneyRule(t, map[string]string{"amount": "/a"}, map[string]string{"amountMinor": "/m", "currency": "/m"})},
		"two rules for one place": {vendorRule(t, "/a", "/id"), vendorRule(t, "/b", "/id")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if resolve.CheckAll(rules) == nil {
				t.Error("accepted")
			}
			if _, _, _, err := resolve.Apply(t.Context(), rules, decode(t, `{"a":"Acme"}`), noon); err == nil {
				t.Error("applied")
			}
		})
	}
}
