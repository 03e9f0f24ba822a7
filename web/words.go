package web

import (
	"fmt"
	"strings"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
)

// word is a state as people read it. Class is its colour; the text alone
// says everything.
type word struct{ Text, Class string }

var stateWords = map[action.State]word{
	action.Denied:              {"denied", "bad"},
	action.PendingApproval:     {"waiting for people", "wait"},
	action.Approved:            {"approved, not run yet", "wait"},
	action.Claimed:             {"approved, about to run", "wait"},
	action.Executing:           {"running", "wait"},
	action.Succeeded:           {"succeeded", "good"},
	action.Failed:              {"failed", "bad"},
	action.Uncertain:           {"uncertain: nobody knows whether it took effect", "alarm"},
	action.ReconciledSucceeded: {"succeeded, found out later", "good"},
	action.ReconciledFailed:    {"failed, found out later", "bad"},
	action.Expired:             {"expired, did not run", "flat"},
	action.Revoked:             {"withdrawn, did not run", "flat"},
}

func stateWord(s action.State) word {
	if w, found := stateWords[s]; found {
		return w
	}
	return word{Text: string(s), Class: "flat"}
}

// rowWord is stateWord for one row: one that was open in a backup that was put
// back has ended, and yet may have run.
func rowWord(a action.Action) word {
	if a.State == action.Expired && a.Result != nil && a.Result.Code == string(verbatim.CodeOutcomeUncertain) {
		return word{"ended when a backup was put back: nobody knows whether it took effect", "alarm"}
	}
	return stateWord(a.State)
}

var changeWords = map[canon.ChangeKind]string{
	canon.ChangeNullDropped: "null taken as absent",
	canon.ChangeCoerced:     "converted to the schema's type",
	canon.ChangeTransformed: "rewritten",
	canon.ChangeFilled:      "filled in from the session",
	canon.ChangeDefault:     "default added",
	canon.ChangeStripped:    "removed: the schema does not know it",
	canon.ChangeResolved:    "looked up",
	canon.ChangeConsumed:    "not sent: it was looked up",
}

func changeWord(c canon.Change) string {
	text, found := changeWords[c.Kind]
	if !found {
		text = string(c.Kind)
	}
	if c.By != "" {
		text += " by " + c.By
	}
	return text
}

var impactWords = map[catalog.Impact]string{
	catalog.Irreversible:   "cannot be undone",
	catalog.Financial:      "moves money",
	catalog.Administrative: "changes rights or settings",
	catalog.External:       "seen outside",
}

// impactWord says what kind of tool it is, from the stored row and the
// catalog, never from the tool's own words.
func impactWord(a action.Action, tool *catalog.Tool) word {
	switch {
	case a.HighImpact && tool != nil && impactWords[tool.Impact] != "":
		return word{"high impact: " + impactWords[tool.Impact], "alarm"}
	case a.HighImpact:
		return word{"high impact", "alarm"}
	case a.Mutation:
		return word{"changes something", "wait"}
	default:
		return word{"reads only", "flat"}
	}
}

// eventWords say what a record stands for, whatever the tool is.
var eventWords = map[string]string{
	audit.InputRejected:     "arguments were refused before any decision",
	audit.ReadAllowed:       "a read was allowed",
	audit.HandoffAllowed:    "another agent may take over",
	audit.ActionDenied:      "a call was denied",
	audit.ActionSuspended:   "a call waits for people",
	audit.VoteApprove:       "a person agreed, with a signature",
	audit.VoteReject:        "a person rejected, with a signature",
	audit.ActionApproved:    "enough people agreed, or a standing grant covers it",
	audit.ActionDismissed:   "the requester withdrew the call",
	audit.ActionRevoked:     "a person withdrew the call",
	audit.ActionExpired:     "the time ran out; it did not run",
	audit.ActionCutOff:      "a backup was put back; nobody knows whether it ran",
	audit.ActionClaimed:     "an approved call is checked again",
	audit.ClaimDenied:       "it did not pass: something had changed",
	audit.ActionStarted:     "from here on the tool may have been told",
	audit.ActionResent:      "the same attempt was sent again, under its own key",
	audit.ActionSucceeded:   "the tool said that it did it",
	audit.ActionFailed:      "it did not happen, or the tool said so",
	audit.ActionUncertain:   "nobody knows whether it happened",
	audit.ActionSettled:     "what was uncertain has been found out",
	audit.ActionErased:      "what it held was erased; the record of it stays",
	audit.CallerLeft:        "the agent did not wait for the answer",
	audit.PolicyChanged:     "the rules for a tool are others now",
	audit.Stopped:           "an operator stopped calls of a kind",
	audit.Resumed:           "an operator lifted a stop",
	audit.Restored:          "a backup was put back; what came after it is not known here",
	audit.KeysForgotten:     "idempotency keys past their retention were forgotten",
	audit.PayloadsForgotten: "payloads past their retention were destroyed",
	audit.AccountAdded:      "an account was made",
	audit.AccountDisabled:   "an account was shut out",
	audit.AccountEnabled:    "an account was let in again",
	audit.GroupsChanged:     "the groups of an account were changed",
	audit.InvitationMade:    "somebody was invited to make an account",
	audit.InvitationEnded:   "an invitation was withdrawn",
	audit.DelegationMade:    "a person has somebody vote in their place for a time",
	audit.DelegationEnded:   "a delegation was ended before its time",
	audit.StandingMade:      "a person allowed calls like one, for a while, with a signature",
	audit.StandingSigned:    "another person signed a standing grant",
	audit.StandingRevoked:   "a standing grant was revoked",
	audit.PasswordChanged:   "a password was changed",
	audit.PasskeyAdded:      "a passkey was added; the password makes no votes from here on",
	audit.PasskeyRemoved:    "a passkey was removed",
}

// requirementWords says who must agree, one line for each requirement.
func requirementWords(t *action.Terms) []string {
	if t == nil {
		return nil
	}
	var out []string
	for _, r := range t.Requirements {
		var ways []string
		for _, g := range r.AnyOf {
			ways = append(ways, groupWord(g))
		}
		out = append(out, strings.Join(ways, ", or "))
	}
	if t.StepUp {
		out = append(out, "each with a fresh sign-in: the password asked for here")
	}
	return out
}

func groupWord(g action.Group) string {
	switch {
	case g.Name == "owner":
		return "the owner of the agent session"
	case g.Votes == 1:
		return "1 person of " + g.Name
	default:
		return fmt.Sprintf("%d different people of %s", g.Votes, g.Name)
	}
}

// many says a count with its noun.
func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// headings are what the parts of a proposal are called.
type headings struct{ Title, Column, Why string }

func headingsOf(a action.Action) headings {
	h := headings{"What will run", "Will run", "Why a person is asked"}
	switch {
	case a.State == action.Executing:
		h.Title, h.Column = "What is running", "Runs"
	case a.State == action.Uncertain:
		h.Title, h.Column = "What may have run", "Sent"
	case a.State == action.Succeeded, a.State == action.ReconciledSucceeded:
		h.Title, h.Column = "What ran", "Ran"
	case a.State.Terminal():
		h.Title, h.Column = "What was decided on", "Decided on"
	}
	switch a.Decision.Effect {
	case "allow":
		h.Why = "Why it was allowed"
	case "deny":
		h.Why = "Why it was denied"
	}
	return h
}

// nextWords say what happens now.
var nextWords = map[action.State]string{
	action.Approved:  "It runs at once if the agent still waits for it, or else when the agent asks for it again.",
	action.Claimed:   "It is being checked once more and is about to run.",
	action.Executing: "It is running. It can no longer be withdrawn.",
	action.Denied:    "It did not run, and it will not.",
	action.Expired:   "Nobody decided in time. The agent may ask again.",
	action.Revoked:   "It did not run. The agent may ask again.",
}
