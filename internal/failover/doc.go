// Package failover holds the test that breaks a PostgreSQL with two standbys,
// the gateways that share it and the network between them, while calls are
// made.
//
// In: nothing but the test of this package; the gateways are the test binary
// itself. Out: a failure for every call that took effect more than once, for
// every state that is not true, and for every answer that did not hold. The
// truth is the file of the pretend provider. It must never be imported.
//
// It runs on Linux only. Where it may not mount a small file system, a full
// disk is not tried, and the log says so.
package failover
