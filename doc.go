// Package verbatim stands between an LLM agent and its tools: what was
// authorized is what runs, verbatim.
//
// A model proposes a tool name and JSON arguments. [Gate.Call] walks them
// through the steps, each seeing only what the one before produced:
//
//	bytes ─decode─► Value ─schema─► Value ─resolve─► Value ─identity─► ok ─snapshot─► Proposal
//	      ─policy─► Decision ─approval─► Approval ─execute─► Result    every step ─audit─► record
//
// In: an authenticated [Session] and a [Call] with the exact bytes that were
// proposed. Out: an [Outcome], and where the delivery mode is throw also a
// typed error: [ArgumentsError], [DeniedError], [ApprovalRequiredError],
// [UncertainError].
//
// It promises that policy decides on the frozen arguments and nothing else;
// that a human's approval covers exactly one action; that exactly that runs,
// at most once; and that the record is written in the transaction that
// changes state. Whatever is missing, fails or is slow is a denial. It must
// never run a mutation without a stored decision, nor a high-impact one
// without a stored approval.
//
// Policy and tool code in process is not sandboxed, and other shared state of
// the application is not isolated (RFC-0016, limits).
package verbatim
