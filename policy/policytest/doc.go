// Package policytest runs a table of example calls against a policy.
//
// In come an engine, the catalog's tools and a suite: cases that say who calls
// which tool with which arguments, and which decision is right. Out comes one
// [Result] a case. Nothing is stored, approved or run.
//
// Arguments go through the tool's schema as in a real call. Resolvers are not
// asked: for a tool that has some, a case gives the arguments as they are
// after resolution.
//
// [Parse] fails with the place of the fault. [Run] never fails: whatever keeps
// a case from being decided is the case's own result.
package policytest
