// Package openapi reads OpenAPI 3.0 and 3.1 documents and makes tools of their
// operations.
//
// In: a document, JSON or YAML, that an operator has chosen. Out: operations,
// each with one JSON Schema for its arguments and a binding that says where each
// argument goes in a request, and a reason for each operation that was left out.
//
// What can fail: a document that is neither JSON nor plain YAML (no anchors, no
// tags, no key twice), is too large or too deep, or is of another version.
// Operations fail one by one: references that leave the document or lead in a
// circle, parameters and bodies that cannot be sent in one way only, schemas with
// words that cannot be carried over.
//
// It promises that a [Operation.Definition] says method, path and binding, so
// that whoever pins it pins where calls go; that the address, credentials and
// idempotency keys are never arguments; and bounded time and memory. It must never
// fetch anything, believe a document about what is safe (servers, security and
// methods are hints at most), or let an argument choose a header that is not a
// declared one.
package openapi
