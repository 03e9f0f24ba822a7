// Package remote speaks to an MCP server over streamable HTTP, in the sessions
// of revisions up to 2025-11-25 and in the stateless form of 2026-07-28.
//
// In: frames to send. Out: the server's answers, and what it sends beside
// them, byte for byte. The headers that repeat parts of the body are computed
// from the body that is sent and from nothing else.
//
// A request fails with execute.ErrNotRun where the server cannot have it or
// says that it did not take it, and with execute.ErrLost where nobody knows.
//
// It promises bounded answers, no redirects, no proxy from the environment,
// TLS to everything that is not this machine, and that no request is sent a
// second time. It must never pass on a header that somebody else sent, nor
// write a credential or an address into an error.
package remote
