// Package hub puts several MCP servers behind one gateway: for each client
// session it offers their tools, resources and prompts under one roof, and
// takes every call to the server it belongs to.
//
// In: frames of authenticated sessions, of both protocol eras. Out: answers,
// and what the servers send beside them. With one server, names and lists are
// the server's own; with several, tools and prompts are called server__name.
//
// Servers are kept apart: each is connected when it is first needed, in the
// era of the client where it speaks that, and again with growing pauses after
// it has failed. One that is down takes nobody else with it.
//
// It promises that no tools/call reaches a server except through
// verbatim.Gate, that resources and prompts are reached only where a rule
// names them, that unknown methods go nowhere, and that what is sent differs
// from what came in the closed list of semantics §10 only, or in what the
// other era needs. It must never take a session's identity from a message, nor
// send what one server asks of its client to anybody but the session whose
// call it came with.
package hub
