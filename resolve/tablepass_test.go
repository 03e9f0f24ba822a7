package resolve_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

func TestIDWithoutRowPassesByItsFormAlone(t *testing.T) {
	t.Parallel()
	rows := []resolve.Row{
		{Alias: "Spotify", ID: "SE3550000000054910000003"},
		{Alias: "DE0000000000000000", ID: "SE3550000000054910000003"}, // a name that looks like an id
		{Alias: "Old", ID: "GB33BUKB20201555555555", Expires: noon},
		{Alias: "FR0000000000000000", ID: "SE3550000000054910000003", Expires: noon},
	}
	opt := resolve.TableOptions{Fold: true, Pass: `[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}`, Now: func() time.Time { return noon }}
	table, err := resolve.NewTable(rows, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, said, want string }{
		{"a name of the table", "spotify", "SE3550000000054910000003"},
		{"an id of the table", "SE3550000000054910000003", "SE3550000000054910000003"},
		{"an id without a row", "US133000000121212121212", "US133000000121212121212"},
		{"in other case", "us133000000121212121212", "target_unresolved /value"},
		{"with a space", "US133000000121212121212 ", "target_unresolved /value"},
		{"with a line end", "US133000000121212121212\n", "target_unresolved /value"},
		{"with more around it", "x US133000000121212121212", "target_unresolved /value"},
		{"a look-alike", "US13300000012121212121\u0415", "target_unresolved /value"},
		{"an unknown name", "Deezer", "target_unresolved /value"},
		{"nothing", "", "target_unresolved /value"},
		{"a name that looks like an id", "DE0000000000000000", "target_ambiguous /value"},
		{"an expired id", "GB33BUKB20201555555555", "target_unresolved /value"},
		{"an expired name that looks like an id", "FR0000000000000000", "target_unresolved /value"},
	} {
		got, version, err := lookup(t, table, canon.StringValue(c.said))
		if err != nil {
			got = refusal(t, err)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if passed := strings.Contains(version, "+pass:"); passed != (c.name == "an id without a row") {
			t.Errorf("%s: the evidence says %q", c.name, version)
		}
	}
}

func TestPassedIntegerIsWrittenInOneWay(t *testing.T) {
	t.Parallel()
	table, err := resolve.NewTable(nil, resolve.TableOptions{Integer: true, Pass: `[-+]?[0-9]+`})
	if err != nil {
		t.Fatal(err)
	}
	for said, ok := range map[string]bool{"7": true, "-7": true, "07": false, "+7": false, "-0": false,
		"9007199254740991": true, "9007199254740993": false, "99999999999999999999": false} {
		if id, _, err := lookup(t, table, canon.StringValue(said)); (err == nil) != ok || ok && id != said {
			t.Errorf("%s: %q, %v", said, id, err)
		}
	}
	if id, _, err := lookup(t, table, canon.IntValue(7)); err != nil || id != "7" {
		t.Errorf("a number: %q, %v", id, err)
	}
}

func TestPassThatSaysNothingIsRefused(t *testing.T) {
	t.Parallel()
	source := resolve.NewSourceTable
	for _, pattern := range []string{".*", "", "(a", "a)|(b", "x?", strings.Repeat("a", 2000)} {
		opt := resolve.TableOptions{Pass: pattern}
		_, rows := resolve.NewTable(nil, opt)
		_, sourced := source(&elsewhere{}, 0, opt)
		if wrong := pattern != ""; (rows != nil) != wrong || (sourced != nil) != wrong {
			t.Errorf("%.20q: %v, %v", pattern, rows, sourced)
		}
	}
}

// TestTableNeverInventsAnID asks random tables for random texts: an answer is
// an id of a live row with that name, or the text itself.
func TestTableNeverInventsAnID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"a", "A", "b", "A1", "B2", "A1 ", "c"})
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) resolve.Row {
			return resolve.Row{Alias: text.Draw(t, "alias"), ID: text.Draw(t, "id")}
		}), 0, 5).Draw(t, "rows")
		table, err := resolve.NewTable(rows, resolve.TableOptions{Pass: rapid.SampledFrom([]string{"", "[A-Z][0-9]"}).Draw(t, "pass")})
		if err != nil {
			t.Fatal(err)
		}
		said := text.Draw(t, "said")
		a, err := table.Resolve(t.Context(), map[string]canon.Value{"value": canon.StringValue(said)})
		if err != nil {
			return
		}
		id := a.Values["value"].Text()
		for _, r := range rows {
			if r.Alias == said && r.ID != id {
				t.Fatalf("%q is a name of %q too, and the answer is %q", said, r.ID, id)
			}
			if r.Alias == said {
				return
			}
		}
		if id != said {
			t.Fatalf("no row gives %q for %q", id, said)
		}
	})
}
