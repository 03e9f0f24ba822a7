// Package pgtest starts a throw-away PostgreSQL for tests.
//
// In: a test, and settings of postgresql.conf. Out: a server of its own with
// an empty database, gone when the test ends, also when its process is
// killed. Where PostgreSQL is not installed the test is skipped or fails as
// package needs says; a server that does not start fails the test.
//
// The server keeps what it acknowledges (fsync stays on) and listens on
// 127.0.0.1 only, without passwords. It runs as the user postgres where the
// tests run as root. The package must be imported by tests only.
package pgtest
