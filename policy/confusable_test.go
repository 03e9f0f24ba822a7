package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/policy"
)

func TestConfusablePlacesAreNamed(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]policy.Confusable{
		`{}`:                               {},
		`{"a":["x",1,null,{"b":"plain"}]}`: {},
		`{"a":["x","p\u0430y",{"b~/":"\u200b"}]}`: {Mixed: []string{"/a/1"}, Unseen: []string{"/a/2/b~0~1"}},
		`{"p\u0430y":1,"b":"\uff21"}`:             {Mixed: []string{"/p\u0430y"}, Alike: []string{"/b"}},
		`{"p\u0430y":"p\u0430y\u200b"}`:           {Mixed: []string{"/p\u0430y"}, Unseen: []string{"/p\u0430y"}},
	} {
		v, err := canon.Decode([]byte(args), canon.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, policy.ConfusableIn(v)); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
}
