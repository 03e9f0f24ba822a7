// Package approval binds humans' yes to one exact action (semantics §8).
//
// In: a suspended proposal and signed votes. Out: the approval digest that a
// vote signs, whether a person may vote, and whether the votes are enough.
// What differs between an approval and a call walked again has a name: the
// member.
//
// It promises that an approval covers principal, agent, tool and its
// definition, targets, arguments, preview, policy version, resolvers, task
// and grant, and nothing else. It must never evaluate a schema, resolve, or
// accept a vote whose signature it cannot check.
package approval
