package resolve_test

import (
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

func instant(t testing.TB, opt resolve.InstantOptions) *resolve.Instant {
	t.Helper()
	i, err := resolve.NewInstant(opt)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// said asks a resolver of one text.
func said(t testing.TB, r resolve.Resolver, text string) (string, error) {
	t.Helper()
	a, err := r.Resolve(t.Context(), map[string]canon.Value{"value": canon.StringValue(text)})
	if err != nil {
		return "", err
	}
	if a.Version == "" {
		t.Error("no version")
	}
	return a.Values["value"].Text(), nil
}

func TestInstantIsInUTC(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-03-01T12:00:00Z":                   "2026-03-01T12:00:00Z",
		"2026-03-01t12:00:00z":                   "2026-03-01T12:00:00Z",
		"2026-03-01T13:00:00+01:00":              "2026-03-01T12:00:00Z",
		"2026-03-01T12:00:00+00:00":              "2026-03-01T12:00:00Z",
		"2026-03-01T12:00:00-00:00":              "2026-03-01T12:00:00Z",
		"2026-03-01T12:00:00.000Z":               "2026-03-01T12:00:00Z",
		"2026-03-01T12:00:00.5Z":                 "2026-03-01T12:00:00.5Z",
		"2026-03-01T12:00:00.500000Z":            "2026-03-01T12:00:00.5Z",
		"2026-03-01T12:00:00.123456789Z":         "2026-03-01T12:00:00.123456789Z",
		"2026-03-01T12:00:00.12345678900000000Z": "2026-03-01T12:00:00.123456789Z",
		"2026-03-01T00:30:00+05:45":              "2026-02-28T18:45:00Z",
		"2024-02-28T20:00:00-05:00":              "2024-02-29T01:00:00Z",
		"2000-02-29T00:00:00Z":                   "2000-02-29T00:00:00Z",
		"1970-01-01T00:00:00Z":                   "1970-01-01T00:00:00Z",
		"0001-01-01T00:00:00Z":                   "0001-01-01T00:00:00Z",
		"9999-12-31T23:59:59.999999999Z":         "9999-12-31T23:59:59.999999999Z",
		"2026-01-01T00:00:00+23:59":              "2025-12-31T00:01:00Z",
	} {
		if got, err := said(t, instant(t, resolve.InstantOptions{}), text); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestInstantRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no offset":              {"2026-03-01T12:00:00", "instant"},
		"date alone":             {"2026-03-01", "instant"},
		"time alone":             {"12:00:00Z", "instant"},
		"space for T":            {"2026-03-01 12:00:00Z", "instant"},
		"leap second":            {"2016-12-31T23:59:60Z", "instant"},
		"hour 24":                {"2026-03-01T24:00:00Z", "instant"},
		"minute 60":              {"2026-03-01T12:60:00Z", "instant"},
		"month 13":               {"2026-13-01T12:00:00Z", "instant"},
		"month 0":                {"2026-00-01T12:00:00Z", "instant"},
		"day 0":                  {"2026-03-00T12:00:00Z", "instant"},
		"February 29":            {"2026-02-29T12:00:00Z", "instant"},
		"February 29 of 1900":    {"1900-02-29T12:00:00Z", "instant"},
		"April 31":               {"2026-04-31T12:00:00Z", "instant"},
		"no seconds":             {"2026-03-01T12:00Z", "instant"},
		"one digit":              {"2026-3-1T12:00:00Z", "instant"},
		"comma":                  {"2026-03-01T12:00:00,5Z", "instant"},
		"empty fraction":         {"2026-03-01T12:00:00.Z", "instant"},
		"ten digits":             {"2026-03-01T12:00:00.0000000001Z", "instant"},
		"basic form":             {"20260301T120000Z", "instant"},
		"week date":              {"2026-W09-7T12:00:00Z", "instant"},
		"offset without minutes": {"2026-03-01T12:00:00+01", "instant"},
		"offset without colon":   {"2026-03-01T12:00:00+0100", "instant"},
		"offset of seconds":      {"2026-03-01T12:00:00+01:00:00", "instant"},
		"offset of a day":        {"2026-03-01T12:00:00+24:00", "instant"},
		"offset minute 60":       {"2026-03-01T12:00:00+01:60", "instant"},
		"minus sign U+2212":      {"2026-03-01T12:00:00\u221201:00", "instant"},
		"zone name":              {"2026-03-01T12:00:00+01:00[Europe/Paris]", "instant"},
		"zone abbreviation":      {"2026-03-01T12:00:00 CET", "instant"},
		"two offsets":            {"2026-03-01T12:00:00Z+01:00", "instant"},
		"space before":           {" 2026-03-01T12:00:00Z", "instant"},
		"space behind":           {"2026-03-01T12:00:00Z ", "instant"},
		"line behind":            {"2026-03-01T12:00:00Z\n", "instant"},
		"word":                   {"tomorrow", "instant"},
		"Unix time":              {"1772366400", "instant"},
		"American order":         {"03/01/2026 12:00:00Z", "instant"},
		"other digits":           {"\u0662026-03-01T12:00:00Z", "instant"},
		"full-width digits":      {"２０２６-03-01T12:00:00Z", "instant"},
		"sign before the year":   {"+2026-03-01T12:00:00Z", "instant"},
		"negative year":          {"-2026-03-01T12:00:00Z", "instant"},
		"five digits of year":    {"12026-03-01T12:00:00Z", "instant"},
		"empty":                  {"", "instant"},
		"endless fraction":       {"2026-03-01T12:00:00." + string(make([]byte, 100)) + "Z", "instant"},
		"year 0":                 {"0000-12-31T12:00:00Z", "range"},
		"year 0 in UTC":          {"0001-01-01T00:00:00+00:01", "range"},
		"year 10000 in UTC":      {"9999-12-31T23:59:59-00:01", "range"},
	} {
		got, err := said(t, instant(t, resolve.InstantOptions{}), c.text)
		if err == nil {
			t.Errorf("%s: resolved to %s", name, got)
		} else if r := refusal(t, err); r != c.want+" /value" {
			t.Errorf("%s: %s", name, r)
		}
	}
	for _, args := range []string{`{"value":1772366400}`, `{"value":null}`, `{"value":["2026-03-01T12:00:00Z"]}`} {
		if _, err := answerTo(t, instant(t, resolve.InstantOptions{}), args); err == nil || refusal(t, err) != "instant /value" {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestInstantPrecisionAndRange(t *testing.T) {
	t.Parallel()
	seconds := instant(t, resolve.InstantOptions{Precision: "s"})
	millis := instant(t, resolve.InstantOptions{Precision: "ms"})
	march := instant(t, resolve.InstantOptions{NotBefore: noon, NotAfter: noon.Add(time.Hour)})
	for _, c := range []struct {
		by         resolve.Resolver
		text, want string
	}{
		{seconds, "2026-03-01T12:00:00.000Z", ""},
		{seconds, "2026-03-01T12:00:00.5Z", "instant /value"},
		{millis, "2026-03-01T12:00:00.123Z", ""},
		{millis, "2026-03-01T12:00:00.1234Z", "instant /value"},
		{march, "2026-03-01T12:00:00Z", ""},
		{march, "2026-03-01T14:00:00+01:00", ""},
		{march, "2026-03-01T11:59:59.999999999Z", "range /value"},
		{march, "2026-03-01T13:00:00.000000001Z", "range /value"},
	} {
		got := ""
		if _, err := said(t, c.by, c.text); err != nil {
			got = refusal(t, err)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.text, got, c.want)
		}
	}
	for name, opt := range map[string]resolve.InstantOptions{
		"unknown precision": {Precision: "day"},
		"empty range":       {NotBefore: noon, NotAfter: noon.Add(-1)},
		"beyond 9999":       {NotAfter: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"before year 1":     {NotBefore: time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if _, err := resolve.NewInstant(opt); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	versions := map[string]bool{}
	for _, r := range []resolve.Resolver{seconds, millis, march, instant(t, resolve.InstantOptions{})} {
		a, err := answerTo(t, r, `{"value":"2026-03-01T12:00:00Z"}`)
		if err != nil {
			t.Fatal(err)
		}
		versions[a.Version] = true
	}
	if len(versions) != 4 {
		t.Errorf("versions do not tell configurations apart: %v", versions)
	}
}

// Whatever offset an instant is said in, it is one answer, and another
// instant is another one.
func TestInstantsAreEqualExactlyIfTheirAnswersAre(t *testing.T) {
	t.Parallel()
	r := instant(t, resolve.InstantOptions{})
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) time.Time {
			return time.Unix(rapid.Int64Range(-62135500000, 253402200000).Draw(rt, name), rapid.Int64Range(0, 999_999_999).Draw(rt, name+" ns"))
		}
		at := draw("at")
		zone := func(name string) *time.Location {
			return time.FixedZone("", 60*rapid.IntRange(-23*60, 23*60).Draw(rt, name))
		}
		one := at.In(zone("zone")).Format("2006-01-02T15:04:05.000000000Z07:00")
		two := at.In(zone("other zone")).Format(time.RFC3339Nano)
		first, err := said(t, r, one)
		if err != nil {
			rt.Fatalf("%s: %v", one, err)
		}
		second, err := said(t, r, two)
		if err != nil || first != second {
			rt.Fatalf("%s is %s, %s is %s, %v", one, first, two, second, err)
		}
		other := draw("other")
		third, err := said(t, r, other.UTC().Format(time.RFC3339Nano))
		if err != nil || (third == first) != other.Equal(at) {
			rt.Fatalf("%s and %s: %s and %s, %v", at, other, first, third, err)
		}
	})
}

func FuzzInstant(f *testing.F) {
	for _, s := range []string{"2026-03-01T12:00:00Z", "2026-03-01t13:00:00.500+01:00", "2016-12-31T23:59:60Z", "0000-01-01T00:00:00Z", "2026-02-29T00:00:00-23:59"} {
		f.Add(s)
	}
	r, err := resolve.NewInstant(resolve.InstantOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		got, err := said(t, r, text)
		if err != nil {
			refusal(t, err)
			return
		}
		if again, err := said(t, r, got); err != nil || again != got {
			t.Errorf("%q: %s is not its own answer: %s, %v", text, got, again, err)
		}
		oracle, err := time.Parse(time.RFC3339, text)
		if err != nil && text[10] == 'T' && text[len(text)-1] != 'z' {
			t.Errorf("%q: resolved to %s, but %v", text, got, err)
		}
		if want := oracle.UTC().Format(time.RFC3339Nano); err == nil && got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	})
}
