// Package policy is step 5 of the walk: frozen proposal in, [Decision] out.
//
// In comes an [Input]: a frozen snapshot with its proposal hash, the
// authenticated session, catalog facts and diagnostic copies of what was
// requested. Out comes exactly one Decision: deny (the zero value), allow or
// require_approval.
//
// An [Engine] is asked through [Evaluate] alone. Whatever can go wrong is a
// deny with a runtime reason as its Code, never a require_approval: no engine
// (policy_not_configured), an error or panic (policy_error), slowness
// (policy_timeout), a result that is not one (invalid_policy_result), a view
// that the engine changed (policy_mutated_arguments). Evaluate never fails
// and never panics.
//
// Its promises: the decision is about the frozen bytes; the engine gets its
// own copies, so nothing that it writes reaches the run; the result is copied
// once, so nothing that it keeps can change the decision afterwards; deny
// beats require_approval beats allow ([Combine]); a high-impact call is never
// merely allowed ([HighImpact]).
//
// It must never parse arguments, apply a schema, ask a resolver or run a
// tool. Go policies run in process and are not sandboxed (RFC-0016).
package policy
