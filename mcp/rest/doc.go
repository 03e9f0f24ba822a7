// Package rest speaks to a plain HTTP service as though it were an MCP server:
// its tools are the operations of an OpenAPI document, and a run of one is one
// HTTP request.
//
// In: frames of the gateway, with frozen arguments. Out: tool lists, and answers
// made of the status and the body that the service sent.
//
// A run fails with execute.ErrNotRun where no request left, or where the status
// says that the service turned the request away before it did anything (401, 405,
// 411, 412 to 415, 417, 421, 425, 426, 428, 429, 431); with execute.ErrLost where
// the answer does not say (408, 5xx, 300 to 304, one that broke off or is too
// large). Any other 4xx, 307 and 308 are the service's own word that it failed:
// isError.
//
// It promises that a request goes to the one configured address, with the
// method, path and headers of the pinned definition; that an argument never
// makes a segment, a header or a parameter of its own; that the credential and
// the idempotency key are the gateway's; no redirects, no proxy, no second
// sending, bounded sizes. It must never write a credential, an address or an
// argument into an error.
package rest
