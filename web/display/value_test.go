package display_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/web/display"
)

func value(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Decode([]byte(text), canon.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// F08: what a person sees tells the types apart.
func TestF08LiteralsTellTypesApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, text := range []string{`null`, `"null"`, `"None"`, `""`, `0`, `"0"`, `false`, `"false"`, `[]`, `"[]"`, `{}`, `"{}"`, `[null]`, `" "`} {
		shown := display.Plain(display.Literal(value(t, text), "", display.Masks{}))
		if other, taken := seen[shown]; taken {
			t.Errorf("%s and %s both show as %s", text, other, shown)
		}
		seen[shown] = text
	}
}

// K08: a secret is masked before anything is shortened.
func TestK08SecretsAreMaskedWhereTheyStandAndWhereTheyTurnUp(t *testing.T) {
	t.Parallel()
	const secret = "Bearer abcdefghijklmnop"
	args := value(t, `{"auth":"`+secret+`","deep":{"list":[{"pin":1234567},{"pin":7654321}]},"other":"fine"}`)
	requested := value(t, `{"login":"`+secret+`","pins":[1234567,7654321],"other":"fine"}`)
	masks := display.NewMasks([]string{"/auth", "/deep/list/*/pin"}, args, requested)
	all := display.Plain(display.Literal(args, "", masks))
	for _, r := range display.Rows(requested, args, nil, masks) {
		all += "\n" + display.Plain(r.Name) + "=" + display.Plain(r.Requested.Pieces) + " " + display.Plain(r.Effective.Pieces)
	}
	for _, r := range display.Leaves(value(t, `{"echo":"sent `+secret+`","pin":1234567,"ok":true,"`+secret+`":0}`), masks) {
		all += "\n" + display.Plain(r.Name) + "=" + display.Plain(r.Effective.Pieces)
	}
	sentence, ok := display.Sentence("Use {auth}", args, masks)
	if !ok {
		t.Error("no sentence")
	}
	all += display.Plain(sentence) + display.Plain(display.TextMasked("failed with "+secret, masks))
	for _, leak := range []string{"abcdef", "Bearer", "1234567", "7654321"} {
		if strings.Contains(all, leak) {
			t.Errorf("%q is shown in:\n%s", leak, all)
		}
	}
	for _, want := range []string{"[secret text, 23 characters]", "[secret number]", `"fine"`, "true", "[secret name]"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in:\n%s", want, all)
		}
	}
}

// Whoever proposes a call chooses its secrets, and must not be able to hide
// another member with them.
func TestSecretNeverHidesAnotherMemberThatRuns(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"VENDOR-666", "VENDOR-6", "https://evil.example", "vendorId"} {
		args := value(t, `{"auth":"`+secret+`","url":"https://evil.example/x","vendorId":"VENDOR-666"}`)
		masks := display.NewMasks([]string{"/auth"}, args)
		for _, r := range display.Rows(args, args, nil, masks) {
			if r.Pointer != "/auth" && (display.CountMasked(r.Effective.Pieces) > 0 || display.CountMasked(r.Name) > 0) {
				t.Errorf("secret %q hides %s", secret, r.Pointer)
			}
		}
		if shown, _ := display.Sentence("Pay {vendorId}", args, masks.PointersOnly()); display.Plain(shown) != "Pay “VENDOR-666”" {
			t.Errorf("secret %q hides the sentence: %s", secret, display.Plain(shown))
		}
	}
}

func TestManySecretsStayQuick(t *testing.T) {
	t.Parallel()
	var secrets, open []canon.Value
	for i := range 30_000 {
		secrets = append(secrets, canon.StringValue(fmt.Sprintf("secret-number-%d", i)))
		open = append(open, canon.StringValue(fmt.Sprintf("open-number-%d", i)))
	}
	args := canon.ObjectValue(canon.Member{Name: "keys", Value: canon.ArrayValue(secrets...)})
	masks := display.NewMasks([]string{"/keys"}, args)
	for _, r := range display.Leaves(canon.ObjectValue(canon.Member{Name: "list", Value: canon.ArrayValue(append(open, secrets...)...)}), masks) {
		if shown := display.Plain(r.Effective.Pieces); strings.Contains(shown, "secret-number") {
			t.Fatalf("shown %s", shown)
		}
	}
}

func TestWrongSecretPointerMasksEverything(t *testing.T) {
	t.Parallel()
	args := value(t, `{"a":"open"}`)
	if shown := display.Plain(display.Literal(args, "", display.NewMasks([]string{"a"}, args))); strings.Contains(shown, "open") {
		t.Errorf("shown %s", shown)
	}
}

func TestMoneyIsSpelledExactly(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ amount, currency, want string }{
		{"840000", `"USD"`, "USD 8,400.00"}, {"5", `"USD"`, "USD 0.05"}, {"0", `"EUR"`, "EUR 0.00"}, {"-1250", `"EUR"`, "EUR -12.50"},
		{"1000", `"JPY"`, "JPY 1,000"}, {"1234567", `"KWD"`, "KWD 1,234.567"}, {"9007199254740991", `"USD"`, "USD 90,071,992,547,409.91"},
		{"1", `"XXX"`, ""}, {"1.5", `"USD"`, ""}, {`"5"`, `"USD"`, ""}, {"5", `"usd"`, ""}, {"5", "null", ""}, {"5", `"U\u202eSD"`, ""},
	} {
		got, ok := display.Money(value(t, test.amount), value(t, test.currency))
		if got != test.want || ok != (test.want != "") {
			t.Errorf("Money(%s, %s) = %q, %v; want %q", test.amount, test.currency, got, ok, test.want)
		}
	}
}

func TestSentenceIsWholeOrMissing(t *testing.T) {
	t.Parallel()
	args := value(t, `{"amountMinor":840000,"currency":"USD","vendorId":"V-1","deep":{"amountMinor":100,"currency":"JPY"},"evil":"\u202e\"}","list":[1,2],"long":"`+
		strings.Repeat("y", 400)+`","a.b":"dot"}`)
	for template, want := range map[string]string{
		"Pay {amountMinor|money} to {vendorId}": "Pay USD 8,400.00 to “V-1”",
		"Pay {/deep/amountMinor|money}":         "Pay JPY 100",
		"Say {evil}":                            `Say “\u{202E}\"}”`,
		"Do {list}":                             "Do [array of 2, below]",
		"Write {long}":                          "Write [text of 400 characters, below]",
		"Key {a.b}":                             "Key “dot”",
		"No place holder":                       "No place holder",
		"":                                      "",
		"Missing {nothing}":                     "",
		"Not money {vendorId|money}":            "",
		"Unknown {vendorId|shout}":              "",
		"Open {vendorId":                        "",
	} {
		got, ok := display.Sentence(template, args, display.Masks{})
		if display.Plain(got) != want || ok != (want != "") {
			t.Errorf("%q gives %q, %v; want %q", template, display.Plain(got), ok, want)
		}
	}
}

// A01: what was requested stands beside what runs, and each change has a name.
func TestA01RowsPutRequestedBesideEffective(t *testing.T) {
	t.Parallel()
	requested := value(t, `{"amount":100,"extra":true,"id":"7","list":[1,2],"nested":{"x":null},"same":1}`)
	effective := value(t, `{"amount":50,"id":7,"list":[1],"mode":"fast","nested":{},"same":1}`)
	changes := []canon.Change{{Pointer: "/amount", Kind: canon.ChangeTransformed, By: "halve"}, {Pointer: "/extra", Kind: canon.ChangeStripped},
		{Pointer: "/id", Kind: canon.ChangeCoerced}, {Pointer: "/mode", Kind: canon.ChangeDefault}, {Pointer: "/nested/x", Kind: canon.ChangeNullDropped}}
	var got []string
	for _, r := range display.Rows(requested, effective, changes, display.Masks{}) {
		kinds := []string{}
		for _, c := range r.Changes {
			kinds = append(kinds, string(c.Kind))
		}
		got = append(got, fmt.Sprintf("%s: %s -> %s %v differs=%t unexplained=%t", display.Plain(r.Name), cell(r.Requested), cell(r.Effective), kinds, r.Differs, r.Unexplained))
	}
	want := []string{
		"amount: 100 -> 50 [transformed] differs=true unexplained=false",
		`id: "7" -> 7 [coerced] differs=true unexplained=false`,
		"list.0: 1 -> 1 [] differs=false unexplained=false",
		"list.1: 2 -> absent [] differs=true unexplained=true",
		`mode: absent -> "fast" [default] differs=true unexplained=false`,
		"nested.x: null -> absent [null_dropped] differs=true unexplained=false",
		"same: 1 -> 1 [] differs=false unexplained=false",
		"extra: true -> absent [stripped] differs=true unexplained=false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func cell(c display.Cell) string {
	if c.Absent {
		return "absent"
	}
	return display.Plain(c.Pieces)
}

func TestNamesThatAreNoPlainWordsAreQuoted(t *testing.T) {
	t.Parallel()
	args := value(t, `{"a.b":{"\u202e":1},"":2,"x/y":3}`)
	var got []string
	for _, r := range display.Leaves(args, display.Masks{}) {
		got = append(got, display.Plain(r.Name))
	}
	want := []string{`["a.b"]["\u{202E}"]`, `[""]`, `["x/y"]`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestEmptyArgumentsAreOneRow(t *testing.T) {
	t.Parallel()
	rows := display.Rows(value(t, `{}`), value(t, `{}`), nil, display.Masks{})
	if len(rows) != 1 || display.Plain(rows[0].Effective.Pieces) != "{}" {
		t.Errorf("rows = %+v", rows)
	}
}

func TestLongValuesAreCountedWhole(t *testing.T) {
	t.Parallel()
	args := value(t, `{"command":"`+strings.Repeat("z", display.LongValue)+`tail"}`)
	r := display.Leaves(args, display.Masks{})[0]
	if !r.Effective.Long || r.Effective.Length != display.LongValue+6 || !strings.HasSuffix(display.Plain(r.Effective.Pieces), `tail"`) {
		t.Errorf("long %t, length %d", r.Effective.Long, r.Effective.Length)
	}
}

func TestWideArgumentsStayLinear(t *testing.T) {
	t.Parallel()
	var members []canon.Member
	var changes []canon.Change
	for i := range 30_000 {
		name := fmt.Sprintf("m%05d", i)
		members = append(members, canon.Member{Name: name, Value: canon.IntValue(int64(i))})
		changes = append(changes, canon.Change{Pointer: "/" + name, Kind: canon.ChangeCoerced})
	}
	if rows := display.Rows(canon.ObjectValue(), canon.ObjectValue(members...), changes, display.Masks{}); len(rows) != 30_000 || rows[9].Unexplained {
		t.Errorf("%d rows", len(rows))
	}
}

func FuzzRowsNeverPanicAndShowEveryMember(f *testing.F) {
	f.Add(`{"a":1}`, `{"a":{"b":[]}}`)
	f.Add(`{}`, `{"a":null}`)
	f.Fuzz(func(t *testing.T, before, after string) {
		requested, err := canon.Decode([]byte(before), canon.Options{})
		effective, err2 := canon.Decode([]byte(after), canon.Options{})
		if err != nil || err2 != nil {
			return
		}
		rows := display.Rows(requested, effective, nil, display.Masks{})
		differs := false
		for _, r := range rows {
			differs = differs || r.Differs
		}
		if differs == canon.Equal(requested, effective) {
			t.Errorf("%s and %s: differs is %t", before, after, differs)
		}
	})
}

func FuzzSentenceShowsNothingUnseen(f *testing.F) {
	f.Add("Pay {amountMinor|money} to {vendorId}", `{"amountMinor":5,"currency":"USD","vendorId":"\u202e"}`)
	f.Add("{/a/0}{", `{"a":["x"]}`)
	f.Fuzz(func(t *testing.T, template, args string) {
		v, err := canon.Decode([]byte(args), canon.Options{})
		if err != nil {
			return
		}
		pieces, ok := display.Sentence(template, v, display.Masks{})
		if r, found := unseen(display.Plain(pieces)); found || ok && template == "" {
			t.Errorf("%+q with %+q shows %U", template, args, r)
		}
	})
}

func TestChunksLeaveNothingOut(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"short": "abc", "empty": "", "one word": strings.Repeat("W", 100_000), "marks": strings.Repeat("<\u202e", 20_000),
		"accents": strings.Repeat("e\u0301", 30_000), "mixed": strings.Repeat("word \u200b", 3_000) + strings.Repeat("long", 9_000) + "\n end",
	} {
		pieces := display.Text(text)
		chunks := display.Cell{Pieces: pieces}.Chunks()
		all := ""
		for _, chunk := range chunks {
			if first := chunk[0].Text; strings.HasPrefix(first, "\u0301") {
				t.Errorf("%s: a block begins with an accent", name)
			}
			if n := len(display.Plain(chunk)); len(chunk) > 400 || n > 60_000 {
				t.Errorf("%s: a block of %d pieces and %d bytes", name, len(chunk), n)
			}
			all += display.Plain(chunk)
		}
		if all != display.Plain(pieces) {
			t.Errorf("%s: the blocks are not the text", name)
		}
	}
}
