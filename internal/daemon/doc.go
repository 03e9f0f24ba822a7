// Package daemon is the one process per home that owns the store: its lock,
// its socket, the small API on that socket, and the client of that API.
//
// In: HTTP requests on a Unix socket that only the user can reach, and for an
// attachment the MCP bytes of one client. Out: JSON documents, and the MCP
// bytes of the gateway. Requests are decoded strictly; a refusal is a JSON
// document with one sentence and the status that fits.
//
// It promises that one daemon serves a home at a time, that an attachment
// whose client has gone finishes the run it began, and that it ends by itself
// only when nothing is attached, running or pending. It must never take an
// approver's password from a file, a flag or the environment, nor decide
// anything itself: votes go through the accounts and the gate.
package daemon
