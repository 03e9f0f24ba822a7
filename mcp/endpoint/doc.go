// Package endpoint serves a hub to MCP clients over streamable HTTP, in the
// sessions of revisions up to 2025-11-25 and in the stateless form of
// 2026-07-28, at one address.
//
// In: HTTP requests. Out: JSON-RPC answers, as one document or as the last
// event of a stream. What a request may do is decided by its bearer token
// alone, on each request; a session belongs to the token that began it.
//
// A request is refused before its body is read if the host, the origin or the
// token is wrong, and before it goes anywhere if headers and body disagree.
//
// It promises limits on size, time, requests under way and sessions, for each
// caller, and that a token never goes further than this package. It must never
// take who is calling from a body, a session id or a header other than
// Authorization.
package endpoint
