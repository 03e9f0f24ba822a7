// Package conformance judges the gateway with the conformance suite of the
// Model Context Protocol: with a policy that allows everything and a catalog
// that calls every tool a read, the gateway before a server must score what
// the server scores alone, and a gateway that loses headers must not.
//
// It holds tests only, behind the build tag conformance; scripts/conformance
// installs the suite and runs them.
package conformance
