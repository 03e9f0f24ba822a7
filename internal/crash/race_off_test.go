//go:build !race

package crash_test

// stride leaves out nothing without the race detector.
const stride = 1
