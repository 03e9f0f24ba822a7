// Package identity compares what arguments claim about who acts with who
// really acts.
//
// In: a [Session] from authentication, the members that the catalog marks as
// naming a principal or a tenant, and the arguments after schema and
// resolvers. Out: nothing, or [canon.Violations] with the rule
// [RuleSpoof] that point at each wrong member.
//
// It promises that a marked member passes only if it is a string with exactly
// the bytes of the session's value: no folding of case, width or look-alikes,
// no number, null, array or empty string. It must never take a session's
// value from arguments, and never print one.
package identity
