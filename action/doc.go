// Package action is the durable row of one proposed action: its states, the
// edges between them, and the plain facts that steps, store and pages share.
//
// It holds vocabulary and the state table (docs/state-machine), no behaviour
// that decides, approves or runs. It must never import a step that does.
package action
