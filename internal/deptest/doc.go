// Package deptest checks what may import what, and a few habits of the code
// that a compiler does not check.
//
// It takes the source tree of a module as a file system and gives the list of
// faults, each with its place and its reason. It parses every Go file outside
// testdata, whatever its build tags, so that a file for another system is
// checked too. It fails only if a file cannot be read or parsed.
//
// The rules are tables in rules.go. Whoever adds a line to a list of
// exceptions writes the reason beside it; a reviewed use that is gone is itself
// a fault, so that the list does not rot. The checker is used by tests only.
package deptest
