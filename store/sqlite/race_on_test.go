//go:build race

package sqlite_test

// shortened divides the size of the harnesses that start processes or open
// many stores: the database is several times slower under the race detector,
// and what they look for is no race.
const shortened = 10
