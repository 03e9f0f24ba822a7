package resolve_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

// pay resolves the members amount, unit, currency or text of an object.
func pay(t testing.TB, opt resolve.MoneyOptions, args string) (string, error) {
	t.Helper()
	m, err := resolve.NewMoney(opt)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]canon.Value{}
	for _, member := range decode(t, args).Members() {
		in[member.Name] = member.Value
	}
	a, err := m.Resolve(t.Context(), in)
	if err != nil {
		return "", err
	}
	return a.Values["amountMinor"].NumberText() + " " + a.Values["currency"].Text(), nil
}

func TestMoneyIsExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args, want string }{
		{"thousands", `{"amount":8.4,"unit":"thousand","currency":"USD"}`, "840000 USD"},
		{"one text", `{"text":"8.4 thousand USD"}`, "840000 USD"},
		{"one text without unit", `{"text":"0.01  EUR"}`, "1 EUR"},
		{"O01 yen has no minor unit", `{"amount":10000,"currency":"JPY"}`, "10000 JPY"},
		{"three digits", `{"amount":"1.234","currency":"KWD"}`, "1234 KWD"},
		{"four digits", `{"amount":"1.2345","currency":"CLF"}`, "12345 CLF"},
		{"dinar of Iraq", `{"amount":1,"currency":"IQD"}`, "1000 IQD"},
		{"O03 no binary rounding", `{"amount":145.05,"currency":"USD"}`, "14505 USD"},
		{"O03 thousands make it whole", `{"amount":8.165,"unit":"thousand","currency":"USD"}`, "816500 USD"},
		{"trailing zeros are no remainder", `{"amount":"8.1600","currency":"USD"}`, "816 USD"},
		{"small number in exponent form", `{"amount":1e-7,"unit":"billion","currency":"USD"}`, "10000 USD"},
		{"negative", `{"amount":-1.5,"currency":"USD"}`, "-150 USD"},
		{"zero", `{"amount":"0.000","currency":"USD"}`, "0 USD"},
		{"minor unit", `{"amount":840000,"unit":"minor","currency":"USD"}`, "840000 USD"},
		{"lower-case code", `{"amount":1,"currency":"usd"}`, "100 USD"},
		{"upper-case unit", `{"amount":1,"unit":"MILLION","currency":"USD"}`, "100000000 USD"},
		{"largest", `{"amount":"90071992547409.91","currency":"USD"}`, "9007199254740991 USD"},
		{"smallest", `{"amount":-9007199254740991,"unit":"minor","currency":"USD"}`, "-9007199254740991 USD"},
		{"Caribbean guilder", `{"amount":1,"currency":"XCG"}`, "100 XCG"},
		{"Arab accounting dinar", `{"amount":1,"currency":"XAD"}`, "100 XAD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, err := pay(t, resolve.MoneyOptions{}, c.args); err != nil || got != c.want {
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestMoneyRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args, want string }{
		{"O03 remainder below the minor unit", `{"amount":8.165,"currency":"USD"}`, "minor_unit /amount"},
		{"O01 fraction of a yen", `{"amount":0.5,"currency":"JPY"}`, "minor_unit /amount"},
		{"half a cent in minor units", `{"amount":0.5,"unit":"minor","currency":"USD"}`, "minor_unit /amount"},
		{"O01 unknown currency", `{"amount":1,"currency":"XYZ"}`, "currency /currency"},
		{"gold has no minor unit", `{"amount":1,"currency":"XAU"}`, "currency /currency"},
		{"no currency code", `{"amount":1,"currency":"XXX"}`, "currency /currency"},
		{"empty currency", `{"amount":1,"currency":""}`, "currency /currency"},
		{"currency look-alike", `{"amount":1,"currency":"U\u017fD"}`, "currency /currency"},
		{"currency with space", `{"amount":1,"currency":"USD "}`, "currency /currency"},
		{"currency as a number", `{"amount":1,"currency":840}`, "currency /currency"},
		{"unknown alias", `{"amount":1,"currency":"$"}`, "currency /currency"},
		{"unit as a number", `{"amount":1,"unit":1000,"currency":"USD"}`, "unit /unit"},
		{"Kelvin sign as unit", `{"amount":1,"unit":"\u212a","currency":"USD"}`, "unit /unit"},
		{"grouping", `{"amount":"1,000","currency":"USD"}`, "amount /amount"},
		{"comma as point", `{"amount":"1,5","currency":"EUR"}`, "amount /amount"},
		{"exponent", `{"amount":"1e3","currency":"USD"}`, "amount /amount"},
		{"plus sign", `{"amount":"+1","currency":"USD"}`, "amount /amount"},
		{"space", `{"amount":" 1","currency":"USD"}`, "amount /amount"},
		{"leading zero", `{"amount":"01","currency":"USD"}`, "amount /amount"},
		{"no digits before the point", `{"amount":".5","currency":"USD"}`, "amount /amount"},
		{"no digits behind the point", `{"amount":"5.","currency":"USD"}`, "amount /amount"},
		{"hexadecimal", `{"amount":"0x10","currency":"USD"}`, "amount /amount"},
		{"not a number", `{"amount":"NaN","currency":"USD"}`, "amount /amount"},
		{"infinity", `{"amount":"Infinity","currency":"USD"}`, "amount /amount"},
		{"negative zero", `{"amount":"-0.00","currency":"USD"}`, "amount /amount"},
		{"empty", `{"amount":"","currency":"USD"}`, "amount /amount"},
		{"other digits", `{"amount":"\u0661","currency":"USD"}`, "amount /amount"},
		{"null", `{"amount":null,"currency":"USD"}`, "amount /amount"},
		{"boolean", `{"amount":true,"currency":"USD"}`, "amount /amount"},
		{"list", `{"amount":[5],"currency":"USD"}`, "amount /amount"},
		{"one unit too large", `{"amount":"90071992547409.92","currency":"USD"}`, "range /amount"},
		{"far too large", `{"amount":"` + strings.Repeat("9", 300) + `","currency":"USD"}`, "range /amount"},
		{"endless", `{"amount":"1` + strings.Repeat("0", 500) + `","currency":"USD"}`, "amount /amount"},
		{"text and amount", `{"text":"1 USD","amount":2}`, "target_ambiguous /text"},
		{"text of four words", `{"text":"1 thousand US dollars"}`, "amount /text"},
		{"text without currency", `{"text":"100"}`, "amount /text"},
		{"text with a remainder", `{"text":"1.005 USD"}`, "minor_unit /text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := pay(t, resolve.MoneyOptions{}, c.args)
			if err == nil {
				t.Fatalf("resolved to %s", got)
			}
			if r := refusal(t, err); r != c.want {
				t.Errorf("got %s, want %s", r, c.want)
			}
		})
	}
}

func TestMoneyO04ExactDigits(t *testing.T) {
	t.Parallel()
	for args, ok := range map[string]bool{
		`{"amount":"10.1","currency":"GBP"}`: false, `{"amount":"10.10","currency":"GBP"}`: true, `{"amount":"10","currency":"GBP"}`: true,
		`{"amount":10.1,"currency":"GBP"}`: false, `{"amount":10.15,"currency":"GBP"}`: true, `{"amount":"10.100","currency":"GBP"}`: false,
		`{"amount":"10.1","unit":"thousand","currency":"GBP"}`: true, `{"amount":"1.5","currency":"KWD"}`: false,
	} {
		if _, err := pay(t, resolve.MoneyOptions{ExactDigits: true}, args); (err == nil) != ok {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestMoneyAliasesAndDefault(t *testing.T) {
	t.Parallel()
	opt := resolve.MoneyOptions{Currency: "EUR", Aliases: map[string]string{"US Dollar": "USD", "¥": "JPY"}, Fold: true}
	for args, want := range map[string]string{
		`{"amount":1}`: "100 EUR", `{"amount":1,"currency":"us  dollar"}`: "100 USD", `{"amount":1,"currency":"¥"}`: "1 JPY",
	} {
		if got, err := pay(t, opt, args); err != nil || got != want {
			t.Errorf("%s: %s, %v", args, got, err)
		}
	}
	if _, err := pay(t, opt, `{"amount":1,"currency":""}`); err == nil {
		t.Error("an empty currency became the default")
	}
	if _, err := pay(t, resolve.MoneyOptions{Aliases: opt.Aliases}, `{"amount":1,"currency":"us dollar"}`); err == nil {
		t.Error("an alias matched another spelling without fold")
	}
	for name, bad := range map[string]resolve.MoneyOptions{
		"alias of an unknown code":     {Aliases: map[string]string{"$": "DOLLAR"}},
		"alias of gold":                {Aliases: map[string]string{"gold": "XAU"}},
		"alias that is another code":   {Aliases: map[string]string{"USD": "CAD"}},
		"alias that is a code in case": {Aliases: map[string]string{"usd": "CAD"}},
		"empty alias":                  {Aliases: map[string]string{"": "USD"}},
		"alias of two codes":           {Fold: true, Aliases: map[string]string{"dollar": "USD", "Dollar": "CAD"}},
		"default without a minor unit": {Currency: "XTS"},
		"default in lower case":        {Currency: "eur"},
	} {
		if _, err := resolve.NewMoney(bad); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestMoneyVersionMovesWithItsConfiguration(t *testing.T) {
	t.Parallel()
	versions := map[string]bool{}
	for _, opt := range []resolve.MoneyOptions{{}, {Currency: "EUR"}, {ExactDigits: true}, {Fold: true}, {Aliases: map[string]string{"$": "USD"}}, {Aliases: map[string]string{"$": "CAD"}}} {
		m, err := resolve.NewMoney(opt)
		if err != nil {
			t.Fatal(err)
		}
		opt := map[string]canon.Value{"amount": canon.IntValue(1), "currency": canon.StringValue("USD")}
		a, err := m.Resolve(t.Context(), opt)
		if err != nil || !strings.HasPrefix(a.Version, resolve.CurrencyTable) {
			t.Fatalf("%s, %v", a.Version, err)
		}
		versions[a.Version] = true
	}
	if len(versions) != 6 {
		t.Errorf("%d versions of 6 configurations", len(versions))
	}
}

func TestCurrencyTableAgreesWithTheSuite(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../shared/suites/iso4217/currencies.json")
	if err != nil {
		t.Skip("shared/suites/iso4217 is absent")
	}
	var suite struct {
		Currencies []struct {
			Code   string
			Digits int
		}
	}
	if err := json.Unmarshal(data, &suite); err != nil {
		t.Fatal(err)
	}
	noMinorUnit := strings.Fields("XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX")
	for _, c := range suite.Currencies {
		digits, ok := resolve.CurrencyDigits(c.Code)
		if ok == slices.Contains(noMinorUnit, c.Code) || ok && digits != c.Digits {
			t.Errorf("%s: %d %v, suite says %d", c.Code, digits, ok, c.Digits)
		}
	}
	if got, want := len(resolve.Currencies()), len(suite.Currencies)+2-len(noMinorUnit); got != want {
		t.Errorf("%d currencies, want %d", got, want)
	}
}

func FuzzMoneyText(f *testing.F) {
	for _, s := range []string{"8.4 thousand USD", "1 JPY", "-0 EUR", "1e999999999 USD", ". USD", "1 k \u212a"} {
		f.Add(s)
	}
	m, err := resolve.NewMoney(resolve.MoneyOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := m.Resolve(t.Context(), map[string]canon.Value{"text": canon.StringValue(text)})
		if err != nil {
			return
		}
		minor, ok := a.Values["amountMinor"].Int64()
		if !ok {
			t.Fatal("not an integer")
		}
		again := fmt.Sprintf("%d minor %s", minor, a.Values["currency"].Text())
		b, err := m.Resolve(t.Context(), map[string]canon.Value{"text": canon.StringValue(again)})
		if err != nil || !canon.Equal(a.Values["amountMinor"], b.Values["amountMinor"]) {
			t.Fatalf("the answer does not resolve to itself: %v", err)
		}
	})
}
