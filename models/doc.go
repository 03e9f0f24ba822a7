// Package models holds small Promela models of the life of an action, and the
// tests that let Spin search them.
//
// In: the .pml files of this directory and the state table of package action.
// Out: for each model, that no reachable state breaks an assertion; for each
// mutant (a model with one rule taken out by a BUG_ definition), that the
// search finds the breach. What can fail: a missing spin or C compiler, a
// search that does not end, an assertion.
//
// table.pml is generated from action.CanMove, and every move of a model
// asserts that the table has the edge; all edges of the table are moved along
// by some model. A model is a statement about the design, not about the code:
// the suites of the stores tie the code to it. It must never be changed only
// to become quiet: a rule that a model lacks needs a mutant that shows it.
package models
