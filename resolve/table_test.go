package resolve_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

func lookup(t testing.TB, table *resolve.Table, alias canon.Value) (id, version string, err error) {
	t.Helper()
	a, err := table.Resolve(t.Context(), map[string]canon.Value{"value": alias})
	if err != nil {
		return "", "", err
	}
	v := a.Values["value"]
	return v.Text() + v.NumberText(), a.Version, nil
}

func TestTableMatchesExactlyUnlessItFolds(t *testing.T) {
	t.Parallel()
	rows := []resolve.Row{{Alias: "Acme Corp", ID: "V1"}, {Alias: "12", ID: "V2"}, {Alias: "V2", ID: "V2"}}
	exact, err := resolve.NewTable(rows, resolve.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	folding, err := resolve.NewTable(rows, resolve.TableOptions{Fold: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		alias         canon.Value
		exact, folded string
	}{
		{"as written", canon.StringValue("Acme Corp"), "V1", "V1"},
		{"other case", canon.StringValue("acme CORP"), "", "V1"},
		{"more space", canon.StringValue(" Acme \t Corp "), "", "V1"},
		{"id itself", canon.StringValue("V1"), "V1", "V1"},
		{"C04 id in other case", canon.StringValue("v1"), "", ""},
		{"number by its text", canon.IntValue(12), "V2", "V2"},
		{"C01 look-alike", canon.StringValue("\u0410cme Corp"), "", ""},
		{"full width", canon.StringValue("\uff21cme Corp"), "", ""},
		{"empty", canon.StringValue(""), "", ""},
		{"null", canon.NullValue(), "", ""},
		{"list", canon.ArrayValue(canon.StringValue("V1")), "", ""},
	} {
		for name, table := range map[string]*resolve.Table{"exact": exact, "folding": folding} {
			want := map[string]string{"exact": c.exact, "folding": c.folded}[name]
			got, _, err := lookup(t, table, c.alias)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("%s, %s: got %q, %v", c.name, name, got, err)
			}
		}
	}
}

func TestTableRefusesTwoMeanings(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string][]resolve.Row{
		"one alias of two ids":          {{Alias: "x", ID: "V1"}, {Alias: "x", ID: "V2"}},
		"two cases of two ids":          {{Alias: "x", ID: "V1"}, {Alias: "X", ID: "V2"}},
		"an id as the alias of another": {{Alias: "a", ID: "x"}, {Alias: "x", ID: "V2"}},
	} {
		table, err := resolve.NewTable(rows, resolve.TableOptions{Fold: true})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = lookup(t, table, canon.StringValue("x"))
		if err == nil {
			t.Errorf("%s: resolved", name)
			continue
		}
		if r := refusal(t, err); r != "target_ambiguous /value" {
			t.Errorf("%s: %s", name, r)
		}
	}
}

func TestTableRowsExpire(t *testing.T) {
	t.Parallel()
	now := noon
	table, err := resolve.NewTable([]resolve.Row{
		{Alias: "old", ID: "V1", Expires: noon.Add(time.Hour)}, {Alias: "moved", ID: "V1", Expires: noon.Add(time.Hour)}, {Alias: "moved", ID: "V2"},
	}, resolve.TableOptions{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if id, _, err := lookup(t, table, canon.StringValue("old")); err != nil || id != "V1" {
		t.Errorf("live row: %s, %v", id, err)
	}
	if _, _, err := lookup(t, table, canon.StringValue("moved")); err == nil || refusal(t, err) != "target_ambiguous /value" {
		t.Errorf("two live rows: %v", err)
	}
	now = noon.Add(time.Hour)
	for _, alias := range []string{"old", "V1"} {
		if _, _, err := lookup(t, table, canon.StringValue(alias)); err == nil || refusal(t, err) != "target_unresolved /value" {
			t.Errorf("expired %s: %v", alias, err)
		}
	}
	if id, _, err := lookup(t, table, canon.StringValue("moved")); err != nil || id != "V2" {
		t.Errorf("after expiry: %s, %v", id, err)
	}
}

func TestIdLivesAsLongAsItsLastRow(t *testing.T) {
	t.Parallel()
	never, early, late := resolve.Row{Alias: "a", ID: "V1"}, resolve.Row{Alias: "b", ID: "V1", Expires: noon.Add(-time.Hour)},
		resolve.Row{Alias: "c", ID: "V1", Expires: noon.Add(time.Hour)}
	for _, c := range []struct {
		rows []resolve.Row
		live bool
	}{
		{[]resolve.Row{never, early}, true}, {[]resolve.Row{early, never}, true}, {[]resolve.Row{early, late}, true},
		{[]resolve.Row{late, early}, true}, {[]resolve.Row{early}, false}, {[]resolve.Row{early, early}, false},
	} {
		table, err := resolve.NewTable(c.rows, resolve.TableOptions{Now: func() time.Time { return noon }})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := lookup(t, table, canon.StringValue("V1")); (err == nil) != c.live {
			t.Errorf("%v: %v", c.rows, err)
		}
	}
}

func TestTableIntegerIds(t *testing.T) {
	t.Parallel()
	table, err := resolve.NewTable([]resolve.Row{{Alias: "main", ID: "42"}}, resolve.TableOptions{Integer: true})
	if err != nil {
		t.Fatal(err)
	}
	a, err := table.Resolve(t.Context(), map[string]canon.Value{"value": canon.StringValue("main")})
	if err != nil || !canon.Equal(a.Values["value"], canon.IntValue(42)) {
		t.Errorf("%v, %v", a.Values["value"].NumberText(), err)
	}
	for _, id := range []string{"x", "042", "4.0", "9007199254740993", "+1", ""} {
		if _, err := resolve.NewTable([]resolve.Row{{Alias: "a", ID: id}}, resolve.TableOptions{Integer: true}); err == nil {
			t.Errorf("%q accepted", id)
		}
	}
}

func TestTableRefusesBadRows(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]resolve.Row{
		"empty alias": {ID: "V1"}, "empty id": {Alias: "a"}, "NUL in the id": {Alias: "a", ID: "V\x001"},
		"bad UTF-8": {Alias: "a\xff", ID: "V1"}, "line break in the id": {Alias: "a", ID: "V1\n"},
	} {
		if _, err := resolve.NewTable([]resolve.Row{r}, resolve.TableOptions{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestParsersRefuseTwoReadings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		parse      resolve.RowParser
		ok         bool
	}{
		{"CSV", "alias,id\n\"a, b\",V1\n", resolve.ParseCSV, true},
		{"CSV with expiry", "alias,id,expires\na,V1,2026-01-01T00:00:00Z\nb,V2,\n", resolve.ParseCSV, true},
		{"CSV without header", "a,V1\n", resolve.ParseCSV, false},
		{"CSV with swapped columns", "id,alias\nV1,a\n", resolve.ParseCSV, false},
		{"CSV with one column", "alias\na\n", resolve.ParseCSV, false},
		{"CSV with four columns", "alias,id,expires,note\na,V1,,x\n", resolve.ParseCSV, false},
		{"CSV with another first column", "name,id\na,V1\n", resolve.ParseCSV, false},
		{"CSV with another second column", "alias,name\na,V1\n", resolve.ParseCSV, false},
		{"CSV with another third column", "alias,id,note\na,V1,\n", resolve.ParseCSV, false},
		{"CSV with a short line", "alias,id\na\n", resolve.ParseCSV, false},
		{"CSV with a bad expiry", "alias,id,expires\na,V1,tomorrow\n", resolve.ParseCSV, false},
		{"CSV with a stray quote", "alias,id\na\"b,V1\n", resolve.ParseCSV, false},
		{"empty CSV", "", resolve.ParseCSV, false},
		{"JSON object", `{"a":"V1"}`, resolve.ParseJSON, true},
		{"JSON rows", `[{"alias":"a","id":"V1","expires":"2026-01-01T00:00:00Z"}]`, resolve.ParseJSON, true},
		{"E09 JSON with a duplicate alias", `{"a":"V1","a":"V2"}`, resolve.ParseJSON, false},
		{"E10 duplicate after unescaping", `{"a":"V1","\u0061":"V2"}`, resolve.ParseJSON, false},
		{"E09 JSON row with a duplicate member", `[{"alias":"a","id":"V1","id":"V2"}]`, resolve.ParseJSON, false},
		{"JSON row with an unknown member", `[{"alias":"a","id":"V1","expiry":"x"}]`, resolve.ParseJSON, false},
		{"JSON id that is a number", `{"a":1}`, resolve.ParseJSON, false},
		{"JSON with two values", `{"a":"V1"}{}`, resolve.ParseJSON, false},
		{"JSON scalar", `"a"`, resolve.ParseJSON, false},
		{"JSON row that is none", `["a"]`, resolve.ParseJSON, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rows, err := c.parse([]byte(c.text))
			if (err == nil) != c.ok || c.ok && (len(rows) == 0 || rows[0].ID != "V1") {
				t.Errorf("rows %v, %v", rows, err)
			}
		})
	}
}

func TestOpenTableFollowsTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vendors.csv")
	stamp := time.Now().Add(-time.Hour)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, stamp, stamp); err != nil {
			t.Fatal(err)
		}
	}
	write("alias,id\na,V1\n")
	table, err := resolve.OpenTable(path, resolve.ParseCSV, resolve.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	id, first, err := lookup(t, table, canon.StringValue("a"))
	if err != nil || id != "V1" || !strings.HasPrefix(first, "sha256:") {
		t.Fatalf("%s %s %v", id, first, err)
	}
	stamp = stamp.Add(time.Minute)
	write("alias,id\na,V2\n")
	id, second, err := lookup(t, table, canon.StringValue("a"))
	if err != nil || id != "V2" || second == first {
		t.Fatalf("after an edit: %s %s %v", id, second, err)
	}
	stamp = stamp.Add(time.Minute)
	write("broken")
	if _, _, err := lookup(t, table, canon.StringValue("a")); err == nil {
		t.Fatal("a broken file answered with old rows")
	}
	if _, _, err := lookup(t, table, canon.StringValue("a")); err == nil {
		t.Fatal("a broken file answered when asked again")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := lookup(t, table, canon.StringValue("a")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a missing file: %v", err)
	}
	write("alias,id\na,V2\n")
	if id, third, err := lookup(t, table, canon.StringValue("a")); err != nil || id != "V2" || third != second {
		t.Fatalf("same content again: %s %s %v", id, third, err)
	}
}

// An edit of the same length within the grain of the file's time stamp.
func TestOpenTableSeesAnEditWithTheSameStamp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vendors.json")
	stamp := time.Now()
	write := func(id string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(`{"a":"`+id+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, stamp, stamp); err != nil {
			t.Fatal(err)
		}
	}
	write("V1")
	table, err := resolve.OpenTable(path, resolve.ParseJSON, resolve.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	write("V2")
	if id, _, err := lookup(t, table, canon.StringValue("a")); err != nil || id != "V2" {
		t.Errorf("got %s, %v", id, err)
	}
}

func TestOpenTableIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vendors.csv")
	write := func(id string) error { return os.WriteFile(path+"."+id, []byte("alias,id\na,"+id+"\n"), 0o600) }
	if err := errors.Join(write("V1"), write("V2"), os.Rename(path+".V1", path)); err != nil {
		t.Fatal(err)
	}
	table, err := resolve.OpenTable(path, resolve.ParseCSV, resolve.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if id, _, err := lookup(t, table, canon.StringValue("a")); err != nil || id != "V1" && id != "V2" {
					t.Errorf("%s, %v", id, err)
				}
			}
		})
	}
	if err := os.Rename(path+".V2", path); err != nil {
		t.Error(err)
	}
	group.Wait()
	if id, _, err := lookup(t, table, canon.StringValue("a")); err != nil || id != "V2" {
		t.Errorf("after the exchange: %s, %v", id, err)
	}
}

func TestOpenTableRefusesABadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := resolve.OpenTable(filepath.Join(dir, "none.csv"), resolve.ParseCSV, resolve.TableOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	path := filepath.Join(dir, "twice.json")
	if err := os.WriteFile(path, []byte(`{"a":"V1","a":"V2"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := resolve.OpenTable(path, resolve.ParseJSON, resolve.TableOptions{}); err == nil || !strings.Contains(err.Error(), "twice.json") {
		t.Errorf("duplicate key: %v", err)
	}
}

func TestEverySpellingOfAnAliasGivesOneAnswer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zA-Zäöüß0-9]{1,8}`), 1, 4).Draw(t, "words")
		alias := strings.Join(words, " ")
		table, err := resolve.NewTable([]resolve.Row{{Alias: alias, ID: "#1"}, {Alias: "other thing!", ID: "#2"}}, resolve.TableOptions{Fold: true})
		if err != nil {
			t.Fatal(err)
		}
		spelling := strings.Join(words, rapid.SampledFrom([]string{" ", "  ", "\t", " \u00a0"}).Draw(t, "space"))
		spelling = rapid.SampledFrom([]func(string) string{func(s string) string { return s }, strings.ToLower}).Draw(t, "case")(spelling)
		a, err := table.Resolve(t.Context(), map[string]canon.Value{"value": canon.StringValue(spelling)})
		if err != nil || a.Values["value"].Text() != "#1" {
			t.Fatalf("%q does not find %q: %v", spelling, alias, err)
		}
	})
}

func FuzzParseTables(f *testing.F) {
	f.Add("alias,id\na,V1\n")
	f.Add(`{"a":"V1"}`)
	f.Add(`[{"alias":"a","id":"V1"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []resolve.RowParser{resolve.ParseCSV, resolve.ParseJSON} {
			rows, err := parse([]byte(text))
			if err != nil && rows != nil {
				t.Fatal("refused with rows")
			}
		}
	})
}
