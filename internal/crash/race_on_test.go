//go:build race

package crash_test

// stride says which points are tried under the race detector: every tenth.
// Processes are several times slower there, and what is looked for is no race.
const stride = 10
