package cedar

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// digest hashes the RFC 8785 form of everything that a decision on the action
// depends on, apart from the call itself. The first member changes when this
// package decides differently by the same rules.
func (a *operation) digest() string {
	var args strings.Builder
	a.args.write(&args)
	texts := make([]string, len(a.rules))
	for i, r := range a.rules {
		texts[i] = r.text
	}
	slices.Sort(texts) // the order of files and rules means nothing
	rules := make([]canon.Value, len(texts))
	for i, t := range texts {
		rules[i] = canon.StringValue(t)
	}
	resources := make([]canon.Value, len(a.resources))
	for i, et := range a.resources {
		resources[i] = canon.StringValue(string(et))
	}
	sum := canon.Sum(canon.ObjectValue(
		canon.Member{Name: "engine", Value: canon.StringValue("cedar/1")},
		canon.Member{Name: "args", Value: canon.StringValue(args.String())},
		canon.Member{Name: "group", Value: canon.StringValue(a.group)},
		canon.Member{Name: "resources", Value: canon.ArrayValue(resources...)},
		canon.Member{Name: "rules", Value: canon.ArrayValue(rules...)},
	).Canonical())
	return hex.EncodeToString(sum[:])
}
