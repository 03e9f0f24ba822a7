// Package schema parses tool arguments once: it validates, coerces, fills
// defaults, strips and transforms in a fixed order, and says what it changed.
//
// In: a [canon.Value] from a decoder and a JSON Schema compiled when the
// catalog loads (2020-12, or draft-07 by its $schema). Out: the parsed value
// with every [canon.Change], or [canon.Violations]: all that is wrong, at
// most 20, each with pointer, rule and what would be accepted.
//
// The order at every object level, outside in, is fixed: members that are
// null where null is not allowed (opt-in), coercion (opt-in, exact round
// trips only), transforms named by pointer, values of the session and
// defaults for absent members, unknown members, validation. Defaults pass
// through $ref, allOf, the one branch of oneOf that holds and the branch that
// if selects, never through anyOf. No parent object is invented for a default.
//
// [Compile] refuses what it cannot enforce or bound: unknown dialects,
// references that leave the document or loop without consuming input,
// patterns beyond RE2, malformed keywords, defaults that break their own
// schema. Keywords that nobody defines are annotations.
//
// It promises that [Schema.Apply] is total, idempotent (see there) and
// independent of member order; that numbers are compared as exact decimals; that work is
// bounded, and beyond the bound the answer is a violation (schema_budget),
// never a yes. It must never print a value of the input, read the network, or
// let a value pass because a check could not be made.
package schema
