package resolve_test

import (
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

func TestCompareFindsEveryDifference(t *testing.T) {
	t.Parallel()
	answer := func(rule, at, text string) resolve.Answered {
		return resolve.Answered{Rule: resolve.Rule{Name: rule}, Pointer: at, Version: "1", Digest: canon.Sum([]byte(text))}
	}
	old := []resolve.Answered{answer("v", "/a", "1"), answer("v", "/b", "2")}
	newer := []resolve.Answered{answer("v", "/a", "1"), answer("v", "/b", "2")}
	newer[0].Version, newer[1].At = "2", noon
	for _, c := range []struct {
		name  string
		again []resolve.Answered
		at    string
		same  bool
	}{
		{"new version, same answer", newer, "", true},
		{"N03 other answer", []resolve.Answered{answer("v", "/a", "1"), answer("v", "/b", "9")}, "/b", false},
		{"answer gone", old[:1], "/b", false},
		{"no answers", nil, "/a", false},
		{"answer more", append(append([]resolve.Answered{}, old...), answer("v", "/c", "3")), "/c", false},
		{"other place", []resolve.Answered{answer("v", "/x", "1"), old[1]}, "/a", false},
		{"other resolver", []resolve.Answered{answer("w", "/a", "1"), old[1]}, "/a", false},
	} {
		if at, same := resolve.Compare(old, c.again); at != c.at || same != c.same {
			t.Errorf("%s: %q %v", c.name, at, same)
		}
	}
}

func TestAliasThatMovesIsSeen(t *testing.T) {
	t.Parallel()
	ask := func(id string) []resolve.Answered {
		table, err := resolve.NewTable([]resolve.Row{{Alias: "Acme", ID: id}}, resolve.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rule := resolve.Rule{Name: "v", Resolver: table, From: map[string]string{"value": "/to"}, Into: map[string]string{"value": "/to"}}
		_, _, answered, err := resolve.Apply(t.Context(), []resolve.Rule{rule}, decode(t, `{"to":"Acme"}`), noon)
		if err != nil {
			t.Fatal(err)
		}
		return answered
	}
	if at, same := resolve.Compare(ask("VENDOR-001"), ask("VENDOR-002")); same || at != "/to" {
		t.Errorf("T26: moved alias not seen: %q %v", at, same)
	}
}
