// Package demo is a story that runs: a pretend bank behind the gateway, an
// agent that pays vendors, and a person who approves.
//
// In: this program's own path and a terminal. Out: a transcript, and an error
// where anything turned out other than the story says; the bank's ledger is
// read after every act. The bank is a process of its own, the agent is a real
// MCP client, and between them stand wrap and the daemon as everybody has
// them, in a home of their own that is removed at the end.
//
// It must not touch the user's home, store or catalog, and must not tell what
// did not happen.
package demo
