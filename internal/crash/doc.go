// Package crash holds the tests that end or stop a real process at named
// points of the walk and then ask store and world what is true.
//
// In: nothing but the tests of this package; the child process is the test
// binary itself. Out: a failure for every effect that happened twice, every
// state that is not true, and every answer that was given and does not hold.
// It must never be imported.
package crash
