// Package cedar is the default policy engine: Cedar policies, hardened
// (semantics §7). It alone imports cedar-go.
//
// In come policy files and the catalog ([Load]), later one frozen proposal at
// a time ([Engine.Decide]). Out comes a decision: forbid denies, permit
// allows, permit with @decision("require_approval") asks; nothing satisfied
// denies with no_matching_rule.
//
// Load generates a Cedar schema from the catalog's argument schemas and
// refuses, with line and column, whatever plain Cedar would silently skip:
// unknown tools, members and annotations, optional members without a has
// guard, comparisons of different types, rules that can apply to no tool.
//
// Decide denies with policy_error where plain Cedar would skip a rule: on any
// evaluation error, and, before evaluation, when a member that an applicable
// rule reads has a value that its Cedar type cannot hold exactly, is null
// although the rule does not ask about nulls, or is not visible to policy.
// Values are never truncated or dropped for a rule that reads them.
//
// Rules are also compiled to closures over the frozen tree
// ([Engine.Answer]): where every value fits and no rule fails, they say what
// Cedar's evaluator says, without building its records. Every other call is
// left to that evaluator. A test compares the two on random rules and calls.
//
// Arguments become Cedar values straight from the frozen tree. They never
// pass through Cedar's JSON format, so {"__entity": ...} stays data. No error
// and no reason holds an argument value.
package cedar
