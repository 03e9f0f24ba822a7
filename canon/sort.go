package canon

import (
	"cmp"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// nth returns the index of the member that is written at a place.
func nth(order []int32, at int) int {
	if order == nil {
		return at
	}
	return int(order[at])
}

// sortNames returns the order in which to write members, in the memory of
// order if it fits; nil means that they are in order. Equal names stay in
// document order.
func sortNames(order []int32, members []Member) []int32 {
	if len(members) > cap(order) {
		return sortManyNames(members)
	}
	var parts [fewNames]uint64
	sorted := true
	for i := range members {
		parts[i] = part(members[i].Name)
		if i > 0 && parts[i] <= parts[i-1] && sorted {
			sorted = parts[i] == parts[i-1] && compareNames(members[i-1].Name, members[i].Name) <= 0
		}
	}
	if sorted {
		return nil
	}
	if ranked(order[:len(members)], parts[:len(members)]) {
		return order[:len(members)]
	}
	for i := range members {
		at := len(order)
		order = append(order, int32(i))
		for ; at > 0; at-- {
			j := order[at-1]
			if parts[j] < parts[i] || parts[j] == parts[i] && compareNames(members[j].Name, members[i].Name) <= 0 {
				break
			}
			order[at] = j
		}
		order[at] = int32(i)
	}
	return order
}

// ranked writes the order of parts that differ, and reports false if two are
// the same. It compares each with all, because that needs no jump that depends
// on the names: wrong guesses of the processor would cost more.
func ranked(order []int32, parts []uint64) bool {
	taken := uint32(0)
	for i := 0; i < len(parts); i += 2 {
		j := min(i+1, len(parts)-1) // two at a time; of an odd number the last one twice
		p, q := parts[i], parts[j]
		rank, next := 0, 0
		for _, other := range parts {
			if other < p {
				rank++
			}
			if other < q {
				next++
			}
		}
		order[rank], order[next] = int32(i), int32(j)
		taken |= 1<<rank | 1<<next
	}
	return taken == 1<<len(parts)-1
}

func sortManyNames(members []Member) []int32 {
	sorted := true
	for i := 1; i < len(members) && sorted; i++ {
		sorted = compareNames(members[i-1].Name, members[i].Name) <= 0
	}
	if sorted {
		return nil
	}
	keys := make([]key, len(members))
	for i := range members {
		keys[i] = key{part(members[i].Name), int32(i)}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.part != b.part {
			return cmp.Compare(a.part, b.part)
		}
		return cmp.Or(compareNames(members[a.index].Name, members[b.index].Name), int(a.index-b.index))
	})
	order := make([]int32, len(keys))
	for i := range keys {
		order[i] = keys[i].index
	}
	return order
}

// validNames returns members with names that appendString writes unchanged, so
// that names which become equal are seen to be.
func validNames(members []Member) []Member {
	for i := range members {
		if utf8.ValidString(members[i].Name) {
			continue
		}
		members = slices.Clone(members)
		for j := range members {
			members[j].Name = string([]rune(members[j].Name))
		}
		return members
	}
	return members
}

// CompareNames orders two names of members as the canonical form does (RFC 8785
// §3.2.3): negative where a comes first, 0 where they are equal. Names that are
// not UTF-8 have an order, too.
func CompareNames(a, b string) int { return compareNames(a, b) }

// compareNames orders two UTF-8 texts by their UTF-16 code units. That is the
// order of the bytes, except that U+E000 to U+FFFF (first byte EE or EF) sort
// behind the characters that need surrogates (first byte F0 and up).
func compareNames[T text](a, b T) int {
	i, n := 0, min(len(a), len(b))
	for ; i+8 <= n; i += 8 {
		if x := word(a, i) ^ word(b, i); x != 0 {
			i += bits.TrailingZeros64(x) / 8
			return compareUnits(a[i], b[i])
		}
	}
	for ; i < n; i++ {
		if a[i] != b[i] {
			return compareUnits(a[i], b[i])
		}
	}
	return len(a) - len(b)
}

// compareUnits orders the first bytes in which two UTF-8 texts differ.
func compareUnits(x, y byte) int {
	if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
		return int(y) - int(x)
	}
	return int(x) - int(y)
}
