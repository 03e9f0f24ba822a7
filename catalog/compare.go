package catalog

import (
	"strconv"

	"github.com/seed-de4804fb/verbatim/canon"
)

// maxDifferences bounds what Differences tells.
const maxDifferences = 20

// Differences returns the RFC 6901 pointers at which two tool objects differ,
// at most 20, in the order of the first; what only the second has comes after
// its siblings. It returns the empty pointer where one of them has no single
// reading.
func Differences(before, after []byte) []string {
	a, errA := canon.Decode(before, canon.Options{MaxBytes: maxDefinition, Exact: true})
	b, errB := canon.Decode(after, canon.Options{MaxBytes: maxDefinition, Exact: true})
	if errA != nil || errB != nil {
		return []string{""}
	}
	var out []string
	differ(a, b, "", &out)
	return out
}

func differ(a, b canon.Value, at string, out *[]string) {
	if len(*out) >= maxDifferences || canon.Equal(a, b) {
		return
	}
	switch {
	case a.Kind() == canon.Object && b.Kind() == canon.Object:
		differMembers(a, b, at, out)
	case a.Kind() == canon.Array && b.Kind() == canon.Array && a.Len() == b.Len():
		for i := range a.Len() {
			differ(a.At(i), b.At(i), at+"/"+strconv.Itoa(i), out)
		}
	default:
		*out = append(*out, at)
	}
}

func differMembers(a, b canon.Value, at string, out *[]string) {
	for _, m := range a.Members() {
		here := canon.JoinPointer(at, m.Name)
		if other, ok := b.Get(m.Name); ok {
			differ(m.Value, other, here, out)
		} else if len(*out) < maxDifferences {
			*out = append(*out, here)
		}
	}
	for _, m := range b.Members() {
		if _, ok := a.Get(m.Name); !ok && len(*out) < maxDifferences {
			*out = append(*out, canon.JoinPointer(at, m.Name))
		}
	}
}
