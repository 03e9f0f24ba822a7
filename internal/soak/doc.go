// Package soak runs three gateways on one PostgreSQL for a long time, under
// load and random faults: servers and a gateway that are killed, gateways that
// stand still, connections of the database that are cut, a server that fails,
// clients that go away in the middle, files that change.
//
// It shows that no call takes effect twice, that what was acknowledged took
// effect, and that memory, goroutines and open files of the gateways that
// live through all of it stay flat.
//
// It holds tests only. VERBATIM_SOAK says for how long they run.
package soak
