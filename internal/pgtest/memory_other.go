//go:build !linux

package pgtest

// memory is a directory in memory with enough room, or "".
func memory() string { return "" }
