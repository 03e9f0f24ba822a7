package warrant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// spelling is one way to write arguments.
type spelling struct{ name, text string }

// argumentVectors are spellings of one value, and what only looks like it.
func argumentVectors(t testing.TB) (out []vector) {
	t.Helper()
	const simple = `{"a":1,"b":"x","c":0.1}`
	equal, changed := []spelling{
		{"the canonical form", simple},
		{"members in another order", `{"c":0.1,"b":"x","a":1}`},
		{"white space", " \t\r\n{ \"a\" : 1 ,\"b\":\"x\", \"c\":0.1 }\n"},
		{"1 as 1.0", `{"a":1.0,"b":"x","c":0.1}`},
		{"1 as 1e0", `{"a":1e0,"b":"x","c":0.1}`},
		{"1 as 10E-1", `{"a":10E-1,"b":"x","c":0.1}`},
		{"1 as 0.01e+2", `{"a":0.01e+2,"b":"x","c":0.1}`},
		{"0.1 as 0.100", `{"a":1,"b":"x","c":0.100}`},
		{"0.1 as 1e-1", `{"a":1,"b":"x","c":1e-1}`},
		{"a letter as an escape", `{"a":1,"b":"\u0078","c":0.1}`},
		{"a name as an escape", `{"\u0061":1,"b":"x","c":0.1}`},
	}, []spelling{
		{"1 in a string", `{"a":"1","b":"x","c":0.1}`},
		{"1 as true", `{"a":true,"b":"x","c":0.1}`},
		{"1 as a list", `{"a":[1],"b":"x","c":0.1}`},
		{"1 as 2", `{"a":2,"b":"x","c":0.1}`},
		{"1 as -1", `{"a":-1,"b":"x","c":0.1}`},
		{"1 as 1.0000000000000001", `{"a":1.0000000000000001,"b":"x","c":0.1}`},
		{"0.1 with what binary adds", `{"a":1,"b":"x","c":0.1000000000000000055511151231257827}`},
		{"another letter case", `{"a":1,"b":"X","c":0.1}`},
		{"another name case", `{"A":1,"b":"x","c":0.1}`},
		{"a space more", `{"a":1,"b":"x ","c":0.1}`},
		{"a member twice, the last right", `{"a":2,"a":1,"b":"x","c":0.1}`},
		{"a member twice, the first right", `{"a":1,"b":"x","c":0.1,"a":2}`},
		{"a member twice, both right", `{"a":1,"a":1,"b":"x","c":0.1}`},
		{"a member twice by escape", `{"a":1,"\u0061":1,"b":"x","c":0.1}`},
		{"a name in two cases", `{"a":1,"A":1,"b":"x","c":0.1}`},
		{"a prototype", `{"a":1,"b":"x","c":0.1,"__proto__":{"a":2}}`},
		{"a number with a plus", `{"a":+1,"b":"x","c":0.1}`},
		{"a number with a zero before it", `{"a":01,"b":"x","c":0.1}`},
		{"a number that ends with a point", `{"a":1.,"b":"x","c":0.1}`},
		{"a number that begins with a point", `{"a":1,"b":"x","c":.1}`},
		{"a hexadecimal number", `{"a":0x1,"b":"x","c":0.1}`},
		{"not a number", `{"a":NaN,"b":"x","c":0.1}`},
		{"infinity", `{"a":Infinity,"b":"x","c":0.1}`},
		{"a number beyond all", `{"a":1e400,"b":"x","c":0.1}`},
		{"a comma at the end", `{"a":1,"b":"x","c":0.1,}`},
		{"a comment", `{"a":1,/**/"b":"x","c":0.1}`},
		{"other quotes", `{'a':1,"b":"x","c":0.1}`},
		{"a raw line break in a string", "{\"a\":1,\"b\":\"x\n\",\"c\":0.1}"},
		{"an escape that does not exist", `{"a":1,"b":"\x78","c":0.1}`},
		{"half of a pair", `{"a":1,"b":"\ud800","c":0.1}`},
		{"the other half of a pair", `{"a":1,"b":"\udc00","c":0.1}`},
		{"bytes that are no UTF-8", "{\"a\":1,\"b\":\"\xff\",\"c\":0.1}"},
		{"an overlong form", "{\"a\":1,\"b\":\"\xc1\xb8\",\"c\":0.1}"},
		{"a byte order mark", "\ufeff" + simple},
		{"a no-break space", "\u00a0" + simple},
		{"something behind", simple + "x"},
		{"a second object", simple + simple},
		{"half of it", simple[:len(simple)-1]},
		{"nothing", ""},
		{"only white space", " "},
		{"null", "null"},
		{"an array around it", "[" + simple + "]"},
		{"a string around it", string(canon.StringValue(simple).Canonical())},
		{"an empty object", "{}"},
		{"deeper than any arguments", `{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`},
	}
	envelope := sign(t, sample(t, simple))
	for _, s := range equal {
		out = append(out, once("arguments, equal: "+s.name, envelope, s.text, warrant.OK))
	}
	for _, s := range changed {
		out = append(out, once("arguments, changed: "+s.name, envelope, s.text, warrant.ArgumentsChanged))
	}
	return append(out, valueVectors(t)...)
}

// valueVectors are values of which two are near each other: what was agreed,
// what is the same, and what is not.
func valueVectors(t testing.TB) (out []vector) {
	t.Helper()
	for _, v := range []struct{ agreed, same, other string }{
		{"0", "0.0e5", "-0"},
		{"0", "0e-400", "1e-400"},
		{"0", "0.00", "-0.0"},
		{"9007199254740991", "9007199254740991.0", "9007199254740992"},
		{"-9007199254740991", "-9.007199254740991e15", "-9007199254740993"},
		{"100", "1e2", "1e3"},
		{"1e-7", "0.0000001", "0.00000010000000000000001"},
		{"0.000001", "1e-6", "1e-06 1"},
		{"5e-324", "5E-324", "4.9e-324"},
		{"123456789.125", "1.23456789125e8", "123456789.1250000001"},
		{"333333.3333333333", "3333333.333333333e-1", "333333.33333333329"},
		{"4.5", "45e-1", "4.50000000000000000001"},
		{`"\u00e9"`, `"é"`, `"e\u0301"`},
		{`"\u20ac"`, `"€"`, `"\u20AD"`},
		{`"\ud83d\ude00"`, `"😀"`, `"\ud83d\ude01"`},
		{`"/"`, `"\/"`, `"\\/"`},
		{`"\u0000\u001f\u007f"`, `"\u0000\u001F\u007f"`, `"\u0001\u001f\u007f"`},
		{`"\b\f\n\r\t\"\\"`, `"\u0008\u000C\u000a\u000d\u0009\u0022\u005c"`, `"\b\f\n\r\t\"/"`},
		{`"\u2028"`, "\"\u2028\"", `"\u2029"`},
		{`{"\ud83d\ude00":1,"\ufb33":2}`, `{"\ufb33":2,"\ud83d\ude00":1}`, `{"\ud83d\ude00":2,"\ufb33":1}`},
		{`{"":1}`, `{"" : 1}`, `{" ":1}`},
		{`{"10":1,"9":2}`, `{"9":2,"10":1}`, `{"10":2,"9":1}`},
		{`{"__proto__":1}`, `{"__proto__":1.0}`, `{"proto":1}`},
		{`{"A":1,"a":2}`, `{"a":2,"A":1}`, `{"A":2,"a":1}`},
		{`[]`, `[ ]`, `{}`},
		{`[1,2]`, `[1.0,2]`, `[2,1]`},
		{`[[],{}]`, `[ [ ] , { } ]`, `[{},[]]`},
		{`true`, ` true`, `"true"`},
		{`null`, ` null`, `"null"`},
		{`[null]`, `[ null ]`, `[]`},
	} {
		wrap := func(x string) string { return `{"v":` + x + `}` }
		envelope := sign(t, sample(t, wrap(v.agreed)))
		out = append(out, once(fmt.Sprintf("value %s is %s", v.agreed, v.same), envelope, wrap(v.same), warrant.OK),
			once(fmt.Sprintf("value %s is not %s", v.agreed, v.other), envelope, wrap(v.other), warrant.ArgumentsChanged))
	}
	return out
}

// changeVectors change one place of the agreed arguments each.
func changeVectors(t testing.TB) (out []vector) {
	t.Helper()
	root, err := canon.DecodeText(agreed, canon.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	envelope := sign(t, sample(t, agreed))
	out = append(out, once("one change: none", envelope, agreed, warrant.OK))
	add := func(name string, v canon.Value) {
		out = append(out, once("one change: "+name, envelope, string(v.Canonical()), warrant.ArgumentsChanged))
	}
	for _, p := range places("", root) {
		v, _ := root.Lookup(p)
		if p != "" {
			add(p+" is another", must(root.With(p, other(v))))
			add(p+" is null or not", must(root.With(p, toggled(v))))
			if less := root.Without(p); !canon.Equal(less, root) {
				add(p+" is missing", less)
			}
		}
		switch {
		case v.Kind() == canon.Object:
			add(p+" has one more", grown(root, p, canon.ObjectValue(append(v.Members(), canon.Member{Name: "zz", Value: canon.IntValue(0)})...)))
		case v.Kind() == canon.Array:
			e := v.Elements()
			add(p+" lacks its first", grown(root, p, canon.ArrayValue(e[1:]...)))
			add(p+" lacks its last", grown(root, p, canon.ArrayValue(e[:len(e)-1]...)))
			add(p+" has one more", grown(root, p, canon.ArrayValue(append(v.Elements(), e[0])...)))
			e[0], e[1] = e[1], e[0]
			add(p+" is in another order", grown(root, p, canon.ArrayValue(e...)))
		}
	}
	return out
}

// places are the pointers of a value and of all below it.
func places(at string, v canon.Value) []string {
	out := []string{at}
	switch v.Kind() {
	case canon.Object:
		for _, m := range v.Members() {
			out = append(out, places(at+"/"+m.Name, m.Value)...)
		}
	case canon.Array:
		for i, e := range v.Elements() {
			out = append(out, places(canon.JoinIndex(at, i), e)...)
		}
	}
	return out
}

// other is a value of the same kind.
func other(v canon.Value) canon.Value {
	switch v.Kind() {
	case canon.String:
		return canon.StringValue(v.Text() + "x")
	case canon.Number:
		return canon.IntValue(7)
	case canon.Bool:
		return canon.BoolValue(!v.Bool())
	case canon.Null:
		return canon.StringValue("null")
	default:
		return canon.StringValue(string(v.Canonical())) // what it says, as text
	}
}

func toggled(v canon.Value) canon.Value {
	if v.IsNull() {
		return canon.IntValue(0)
	}
	return canon.NullValue()
}

func grown(root canon.Value, p string, v canon.Value) canon.Value {
	if p == "" {
		return v
	}
	return must(root.With(p, v))
}

func must(v canon.Value, ok bool) canon.Value {
	if !ok {
		panic("no such place")
	}
	return v
}
