// Package duplicates holds the test that sends every call many times, through
// several gateway processes that share one PostgreSQL.
//
// In: nothing but the test of this package; the gateways are the test binary
// itself. Out: a failure for every call that took effect more than once or not
// at all, and for every answer that was another one's. It must never be
// imported.
package duplicates
