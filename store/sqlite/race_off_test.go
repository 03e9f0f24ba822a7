//go:build !race

package sqlite_test

// shortened divides nothing without the race detector.
const shortened = 1
