// Package gate is the gateway: it stands between one MCP client and one MCP
// server and sends every tool call through a verbatim.Gate.
//
// In: frames of a client and of the server behind it. Out: the same frames,
// byte for byte, but for the closed list of changes (semantics §10): ids, the
// arguments of a tool call (the frozen snapshot), this project's own _meta
// keys, and tool lists with the schemas that the catalog proposes. A call
// that does not run is answered with a tool result that tells the model what
// to do next.
//
// It promises that no tools/call reaches the server except through
// Gate.Call, and that no method outside a reviewed map reaches it at all. It
// must never decide anything itself, nor trust what a client or a server says
// about itself: the session comes from configuration.
package gate
