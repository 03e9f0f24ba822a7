package resolve_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

func quantity(t testing.TB, opt resolve.QuantityOptions) *resolve.Quantity {
	t.Helper()
	q, err := resolve.NewQuantity(opt)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// answerTo asks a resolver with the members of an object as its roles.
func answerTo(t testing.TB, r resolve.Resolver, args string) (resolve.Answer, error) {
	t.Helper()
	in := map[string]canon.Value{}
	for _, member := range decode(t, args).Members() {
		in[member.Name] = member.Value
	}
	return r.Resolve(t.Context(), in)
}

var (
	inBytes  = resolve.QuantityOptions{Dimension: "bytes", Base: "B", Units: map[string]string{"KB": "1024"}}
	inMillis = resolve.QuantityOptions{Dimension: "time", Base: "ms", Unit: "s"}
	inFeet   = resolve.QuantityOptions{Dimension: "length", Base: "ft"}
	inGrams  = resolve.QuantityOptions{Dimension: "mass", Base: "g"}
	inPieces = resolve.QuantityOptions{Base: "piece", Units: map[string]string{"box": "12", "half-box": "6", "pair": "2", "item": "1"}}
)

func TestQuantityIsExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		opt        resolve.QuantityOptions
		want       int64
	}{
		{"IEC", `{"amount":5,"unit":"GiB"}`, inBytes, 5368709120},
		{"SI", `{"amount":5,"unit":"GB"}`, inBytes, 5000000000},
		{"a name for a symbol", `{"amount":"5","unit":"gigabytes"}`, inBytes, 5000000000},
		{"one text", `{"text":"1.5 MiB"}`, inBytes, 1572864},
		{"one text without space", `{"text":"1.5MiB"}`, inBytes, 1572864},
		{"fraction that comes out whole", `{"amount":0.5,"unit":"KiB"}`, inBytes, 512},
		{"decimal that no double holds", `{"amount":0.001,"unit":"MB"}`, inBytes, 1000},
		{"declared unit", `{"amount":2,"unit":"KB"}`, inBytes, 2048},
		{"largest", `{"amount":9007199254740991,"unit":"B"}`, inBytes, 9007199254740991},
		{"default unit", `{"amount":1.5}`, inMillis, 1500},
		{"default unit of a text", `{"text":"1.5"}`, inMillis, 1500},
		{"default unit of a number as text", `{"text":2}`, inMillis, 2000},
		{"week", `{"amount":1,"unit":"week"}`, inMillis, 604800000},
		{"micro sign", "{\"amount\":3000,\"unit\":\"\u00b5s\"}", inMillis, 3},
		{"Greek mu", "{\"amount\":3000,\"unit\":\"\u03bcs\"}", inMillis, 3},
		{"small number in exponent form", `{"amount":1e-7,"unit":"week"}`, resolve.QuantityOptions{Dimension: "time", Base: "ns"}, 60480000},
		{"negative", `{"amount":-2,"unit":"h"}`, inMillis, -7200000},
		{"zero", `{"amount":"0.000","unit":"h"}`, inMillis, 0},
		{"feet in a mile", `{"amount":1,"unit":"mi"}`, inFeet, 5280},
		{"metres that are whole feet", `{"amount":"0.3048","unit":"m"}`, inFeet, 1},
		{"yards", `{"amount":3,"unit":"yards"}`, inFeet, 9},
		{"tonnes", `{"amount":1.25,"unit":"t"}`, inGrams, 1250000},
		{"pounds", `{"amount":100000,"unit":"lb"}`, inGrams, 45359237},
		{"own units", `{"text":"3 box"}`, inPieces, 36},
		{"own base", `{"text":"7 piece"}`, inPieces, 7},
		{"own unit with a hyphen", `{"text":"2half-box"}`, inPieces, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, err := answerTo(t, quantity(t, c.opt), c.args)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := a.Values["value"].Int64(); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestQuantityRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		opt        resolve.QuantityOptions
		want       string
	}{
		{"remainder below the base unit", `{"amount":0.5,"unit":"B"}`, inBytes, "base_unit /amount"},
		{"a third of a foot is no number", `{"amount":1,"unit":"m"}`, inFeet, "base_unit /amount"},
		{"one gram less than an ounce", `{"amount":1,"unit":"oz"}`, inGrams, "base_unit /amount"},
		{"no unit", `{"amount":5}`, inBytes, "unit /unit"},
		{"empty unit is not silence", `{"amount":5,"unit":""}`, inMillis, "unit /unit"},
		{"unit of two sizes", `{"amount":5,"unit":"KB"}`, resolve.QuantityOptions{Dimension: "bytes", Base: "B"}, "unit /unit"},
		{"unit of no fixed size", `{"amount":1,"unit":"month"}`, inMillis, "unit /unit"},
		{"other case is another unit", `{"amount":1,"unit":"mb"}`, inBytes, "unit /unit"},
		{"bits are not bytes", `{"amount":1,"unit":"Mb"}`, inBytes, "unit /unit"},
		{"unit of another dimension", `{"amount":1,"unit":"kg"}`, inBytes, "unit /unit"},
		{"look-alike unit", `{"amount":1,"unit":"\u041cB"}`, inBytes, "unit /unit"},
		{"Kelvin sign", `{"amount":1,"unit":"\u212aiB"}`, inBytes, "unit /unit"},
		{"space around a unit", `{"amount":1,"unit":" B"}`, inBytes, "unit /unit"},
		{"unit as a number", `{"amount":1,"unit":1024}`, inBytes, "unit /unit"},
		{"grouping", `{"amount":"1,000","unit":"B"}`, inBytes, "amount /amount"},
		{"exponent", `{"amount":"1e3","unit":"B"}`, inBytes, "amount /amount"},
		{"plus sign", `{"amount":"+1","unit":"B"}`, inBytes, "amount /amount"},
		{"hexadecimal", `{"amount":"0x10","unit":"B"}`, inBytes, "amount /amount"},
		{"leading zero", `{"amount":"010","unit":"B"}`, inBytes, "amount /amount"},
		{"other digits", `{"amount":"\u0661","unit":"B"}`, inBytes, "amount /amount"},
		{"negative zero", `{"amount":"-0","unit":"B"}`, inBytes, "amount /amount"},
		{"not a number", `{"amount":"NaN","unit":"B"}`, inBytes, "amount /amount"},
		{"infinity", `{"amount":"Infinity","unit":"B"}`, inBytes, "amount /amount"},
		{"empty", `{"amount":"","unit":"B"}`, inBytes, "amount /amount"},
		{"null", `{"amount":null,"unit":"B"}`, inBytes, "amount /amount"},
		{"list", `{"amount":[5],"unit":"B"}`, inBytes, "amount /amount"},
		{"unit alone", `{"unit":"B"}`, inBytes, "amount /amount"},
		{"one too large", `{"amount":"9007199254740992","unit":"B"}`, inBytes, "range /amount"},
		{"one too small", `{"amount":"-9007199254740992","unit":"B"}`, inBytes, "range /amount"},
		{"far too large", `{"amount":"` + strings.Repeat("9", 399) + `","unit":"PiB"}`, inBytes, "range /amount"},
		{"endless", `{"amount":"1` + strings.Repeat("0", 500) + `","unit":"B"}`, inBytes, "amount /amount"},
		{"text and amount", `{"text":"1 B","amount":2}`, inBytes, "target_ambiguous /text"},
		{"text of three words", `{"text":"1 long ton"}`, inGrams, "amount /text"},
		{"empty text", `{"text":""}`, inGrams, "amount /text"},
		{"text without unit", `{"text":"5"}`, inBytes, "unit /text"},
		{"text without amount", `{"text":"GiB"}`, inBytes, "amount /text"},
		{"two amounts in one text", `{"text":"1h30min"}`, inMillis, "unit /text"},
		{"text with exponent", `{"text":"1e3B"}`, inBytes, "unit /text"},
		{"text as a list", `{"text":[1]}`, inBytes, "amount /text"},
		{"text with a remainder", `{"text":"0.1B"}`, inBytes, "base_unit /text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, err := answerTo(t, quantity(t, c.opt), c.args)
			if err == nil {
				t.Fatalf("resolved to %s", a.Values["value"].Canonical())
			}
			if r := refusal(t, err); r != c.want {
				t.Errorf("got %s, want %s", r, c.want)
			}
		})
	}
}

func TestQuantityOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]resolve.QuantityOptions{
		"no base":                   {Dimension: "bytes"},
		"nothing":                   {},
		"unknown dimension":         {Dimension: "volume", Base: "l"},
		"base of another dimension": {Dimension: "bytes", Base: "kg"},
		"unknown default unit":      {Dimension: "bytes", Base: "B", Unit: "KB"},
		"other size of a built-in":  {Dimension: "bytes", Base: "B", Units: map[string]string{"MB": "1048576"}},
		"size of zero":              {Base: "x", Units: map[string]string{"y": "0"}},
		"negative size":             {Base: "x", Units: map[string]string{"y": "-1"}},
		"size that is no decimal":   {Base: "x", Units: map[string]string{"y": "1/3"}},
		"size in exponent form":     {Base: "x", Units: map[string]string{"y": "1e3"}},
		"endless size":              {Base: "x", Units: map[string]string{"y": strings.Repeat("9", 41)}},
		"base of another size":      {Base: "x", Units: map[string]string{"x": "2"}},
		"unit with space":           {Base: "x", Units: map[string]string{"a b": "2"}},
		"unit like an amount":       {Base: "x", Units: map[string]string{"2x": "2"}},
		"empty unit":                {Base: "x", Units: map[string]string{"": "2"}},
		"base with space":           {Base: "a b"},
		"unit that is no text":      {Base: "x", Units: map[string]string{"y\xff": "2"}},
	} {
		if _, err := resolve.NewQuantity(opt); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestQuantityVersionMovesWithItsConfiguration(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, opt := range map[string]resolve.QuantityOptions{
		"bytes": {Dimension: "bytes", Base: "B"}, "other base": {Dimension: "bytes", Base: "kB"},
		"default unit": {Dimension: "bytes", Base: "B", Unit: "MB"}, "unit": {Dimension: "bytes", Base: "B", Units: map[string]string{"KB": "1000"}},
		"other size": {Dimension: "bytes", Base: "B", Units: map[string]string{"KB": "1024"}},
	} {
		a, err := answerTo(t, quantity(t, opt), `{"amount":1,"unit":"MB"}`)
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := seen[a.Version]; twice || !strings.HasPrefix(a.Version, resolve.UnitTable+"+") {
			t.Errorf("%s and %s: version %q", name, other, a.Version)
		}
		seen[a.Version] = name
	}
}

// Two amounts of two units give one answer exactly if they are one quantity,
// computed here in fractions.
func TestQuantitiesAreEqualExactlyIfTheirAnswersAre(t *testing.T) {
	t.Parallel()
	sizes := map[string]*big.Rat{"in": big.NewRat(254, 10000), "ft": big.NewRat(3048, 10000), "yd": big.NewRat(9144, 10000),
		"mi": big.NewRat(1609344, 1000), "mm": big.NewRat(1, 1000), "m": big.NewRat(1, 1), "km": big.NewRat(1000, 1)}
	base := big.NewRat(1, 10000000)
	q := quantity(t, resolve.QuantityOptions{Base: "m/10^7", Units: map[string]string{"in": "254000", "ft": "3048000", "yd": "9144000",
		"mi": "16093440000", "mm": "10000", "m": "10000000", "km": "10000000000"}})
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"in", "ft", "yd", "mi", "mm", "m", "km"}).Draw(t, "unit")
		whole := rapid.Int64Range(-5000, 5000).Draw(t, "whole")
		places := rapid.IntRange(0, 9).Draw(t, "places")
		amount := new(big.Rat).SetFrac(big.NewInt(whole), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
		if amount.Sign() == 0 {
			amount = big.NewRat(0, 1)
		}
		text := amount.FloatString(places)
		want := new(big.Rat).Quo(new(big.Rat).Mul(amount, sizes[unit]), base)
		a, err := q.Resolve(t.Context(), map[string]canon.Value{"amount": canon.StringValue(text), "unit": canon.StringValue(unit)})
		if !want.IsInt() {
			if err == nil {
				t.Fatalf("%s %s is no whole number", text, unit)
			}
			return
		}
		if err != nil || a.Values["value"].NumberText() != want.Num().String() {
			t.Fatalf("%s %s: %v, %v; want %s", text, unit, a.Values["value"].NumberText(), err, want.Num())
		}
		b, err := q.Resolve(t.Context(), map[string]canon.Value{"text": canon.StringValue(fmt.Sprintf("%s  %s", text, unit))})
		if err != nil || !canon.Equal(a.Values["value"], b.Values["value"]) {
			t.Fatalf("%s %s as one text: %v", text, unit, err)
		}
	})
}

func FuzzQuantityText(f *testing.F) {
	for _, s := range []string{"5 GiB", "1.5MiB", "0.1B", "-0", "1h30min", "9007199254740992 B", "\u00b5s", "1\u00a0B"} {
		f.Add(s)
	}
	q, err := resolve.NewQuantity(inBytes)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		a, err := q.Resolve(t.Context(), map[string]canon.Value{"text": canon.StringValue(text)})
		if err != nil {
			refusal(t, err)
			return
		}
		again, err := q.Resolve(t.Context(), map[string]canon.Value{"amount": a.Values["value"], "unit": canon.StringValue("B")})
		if err != nil || !canon.Equal(a.Values["value"], again.Values["value"]) {
			t.Errorf("%q: %s is not its own answer: %v", text, a.Values["value"].Canonical(), err)
		}
	})
}
