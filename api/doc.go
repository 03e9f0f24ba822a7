// Package api is the decision API: the gate over plain HTTP and JSON, for agent
// loops in any language.
//
// In: requests of callers whom mcp/endpoint has authenticated, with the
// arguments of a proposed call as the exact text that the model wrote. Out: the
// gate's outcomes as JSON documents, and problem documents (RFC 9457) with the
// closed codes.
//
// A body fails that is too large, is not strict JSON, or has a member that the
// operation does not know; nothing was decided then. An action of somebody else
// does not exist.
//
// It promises that arguments are never decoded and written again on the way in,
// that openapi.json describes every route, and that no error shows a value. It
// must never take who is calling from a body, a path or a header other than
// Authorization, nor say the internal reason of a decision.
package api
