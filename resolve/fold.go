package resolve

import (
	"strings"
	"unicode"
)

// fold makes one spelling of those that differ in case and in the amount of
// white space only. It folds no accents, widths or look-alikes: those may be
// other names.
func fold(s string) string {
	return strings.Map(smallestFold, strings.Join(strings.Fields(s), " "))
}

// smallestFold returns the smallest rune of the simple case folding orbit.
func smallestFold(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// asciiLower lowers A to Z only, so that no other letter becomes one of them
// (the Kelvin sign folds onto k).
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
