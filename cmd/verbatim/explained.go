package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/web/display"
)

// explained is one explanation with what it was asked about.
type explained struct {
	session verbatim.Session
	call    verbatim.Call
	tool    *catalog.Tool // nil if unknown
	walk    verbatim.Explanation
}

// explanation is its JSON document.
type explanation struct {
	Status        string              `json:"status"`
	Code          string              `json:"code"`
	Tool          string              `json:"toolName"`
	Agent         string              `json:"agentName"`
	Principal     string              `json:"principal"`
	Tenant        string              `json:"tenant"`
	Mutation      bool                `json:"mutation"`
	HighImpact    bool                `json:"highImpact"`
	Requested     string              `json:"requestedArguments"`
	Canonical     string              `json:"argsCanonicalJson"`
	Hash          string              `json:"proposalHash"`
	Changes       []canon.Change      `json:"changes"`
	Targets       []snapshot.Target   `json:"targets"`
	Resolvers     []snapshot.Evidence `json:"resolvers"`
	Decision      string              `json:"decision"`
	Reason        string              `json:"reason"`
	PublicReason  string              `json:"publicReason,omitempty"`
	Rules         []string            `json:"rules"`
	PolicyVersion string              `json:"policyVersion,omitempty"`
	Approvers     []string            `json:"approvers,omitempty"`
	DryRunFirst   bool                `json:"dryRunFirst,omitempty"`
	Limits        []explainedLimit    `json:"limits,omitempty"`
}

// explainedLimit is a limit that the call would count against. What others
// have taken is not known here.
type explainedLimit struct {
	Name     string `json:"name"`
	Window   string `json:"window"`
	Scope    string `json:"scope"`
	Currency string `json:"currency,omitempty"`
	Amount   int64  `json:"amount"`
	Most     int64  `json:"most"`
}

func printExplanation(cmd *cobra.Command, s streams, e explained) error {
	if e.walk.Stage != "" {
		return printRefused(cmd, s, refused{Status: string(verbatim.StatusInvalidArguments), Stage: e.walk.Stage,
			Tool: e.walk.Tool, Code: string(e.walk.Code), Violations: e.walk.Violations})
	}
	if wantsJSON(cmd) {
		if err := printJSON(s.out, e.document()); err != nil {
			return err
		}
		return codeOf(exitCode(e.walk))
	}
	if err := e.print(s); err != nil {
		return err
	}
	noteUnknown(s, e.walk)
	return codeOf(exitCode(e.walk))
}

func (e explained) document() explanation {
	w := e.walk
	d := explanation{Status: e.status(), Code: string(w.Code), Tool: w.Tool, Agent: e.session.Agent,
		Principal: e.session.Principal, Tenant: e.session.Tenant, Requested: w.Requested, Canonical: w.Parsed,
		Hash: w.ProposalHash, Changes: append([]canon.Change{}, w.Changes...), Targets: append([]snapshot.Target{}, w.Targets...),
		Resolvers: append([]snapshot.Evidence{}, w.Evidence...), Decision: w.Decision.Effect.String(), Reason: w.Decision.Reason,
		PublicReason: w.Decision.PublicReason, Rules: append([]string{}, w.Decision.Rules...),
		PolicyVersion: w.Decision.PolicyVersion, Approvers: e.approvers(), DryRunFirst: w.NeedsDryRun}
	for _, l := range w.Limits {
		d.Limits = append(d.Limits, explainedLimit{l.Name, string(l.Window), l.Scope, l.Currency, l.Amount, l.Most})
	}
	if e.tool != nil {
		d.Mutation, d.HighImpact = e.tool.Mutation, e.tool.HighImpact() || w.Decision.RaiseImpact
	}
	return d
}

func (e explained) status() string {
	switch exitCode(e.walk) {
	case exitOK:
		return string(verbatim.StatusOK)
	case exitApproval:
		return string(verbatim.StatusApprovalRequired)
	default:
		return string(verbatim.StatusDenied)
	}
}

func (e explained) approvers() []string {
	if e.walk.Decision.Approval == nil {
		return nil
	}
	return requirementLines(e.walk.Decision.Approval.Requirements)
}

// requirementLines says who must agree, one line for each requirement.
func requirementLines(all []action.Requirement) []string {
	out := []string{}
	for _, r := range all {
		ways := make([]string, len(r.AnyOf))
		for i, g := range r.AnyOf {
			ways[i] = fmt.Sprintf("%d of %s", g.Votes, g.Name)
		}
		out = append(out, strings.Join(ways, ", or "))
	}
	return out
}

// print writes the explanation for a person.
func (e explained) print(s streams) error {
	w := e.walk
	fmt.Fprintf(s.out, "%s called by %s for %s\n\n", plain(w.Tool), plain(e.session.Agent), plain(e.session.Principal))
	if err := e.printArguments(s); err != nil {
		return err
	}
	lines := [][2]string{{"canonical", w.Parsed}, {"hash", w.ProposalHash}}
	for _, t := range w.Targets {
		lines = append(lines, [2]string{"target", t.Type + " " + t.ID})
	}
	lines = append(lines, [2]string{"class", e.class()}, [2]string{"decision", e.decision()})
	for _, r := range w.Decision.Rules {
		lines = append(lines, [2]string{"rule", r})
	}
	if w.Decision.Reason != "" {
		lines = append(lines, [2]string{"reason", w.Decision.Reason})
	}
	for _, who := range e.approvers() {
		lines = append(lines, [2]string{"approvers", who})
	}
	if e.tool != nil && e.tool.HighImpact() && exitCode(w) == exitApproval { // a permit alone surprises here
		lines = append(lines, [2]string{"note", "a high-impact call never runs without an approval of its own; impact stands in the catalog"})
	}
	for _, l := range w.Limits {
		lines = append(lines, [2]string{"limit", fmt.Sprintf("%s: would take %s of at most %s in each %s for %s; what is left was not asked", l.Name,
			daemon.AmountText(l.Amount, l.Currency), daemon.AmountText(l.Most, l.Currency), l.Window, l.Scope)})
	}
	if w.NeedsDryRun {
		lines = append(lines, [2]string{"dry run", "comes first; it was not made here"})
	}
	for _, l := range lines {
		text := plain(l[1])
		if l[0] == "canonical" {
			text = plainJSON(l[1])
		}
		if _, err := fmt.Fprintf(s.out, "%-10s %s\n", l[0], text); err != nil {
			return err
		}
	}
	return nil
}

func (e explained) decision() string {
	text := e.walk.Decision.Effect.String()
	if code := string(e.walk.Code); code != string(verbatim.CodeOK) && code != string(verbatim.CodeApprovalRequired) {
		text += " (" + code + ")"
	}
	return text
}

func (e explained) class() string {
	switch {
	case e.tool == nil:
		return "unknown"
	case !e.tool.Mutation:
		return "read"
	case e.tool.HighImpact():
		return "mutation, high-impact (" + string(e.tool.Impact) + ")"
	case e.walk.Decision.RaiseImpact:
		return "mutation, raised to high-impact by policy"
	default:
		return "mutation"
	}
}

// printArguments puts requested beside effective.
func (e explained) printArguments(s streams) error {
	requested, err := canon.Decode([]byte(e.walk.Requested), canon.Options{})
	if err != nil {
		return err
	}
	effective, err := canon.Decode([]byte(e.walk.Parsed), canon.Options{})
	if err != nil {
		return err
	}
	var rows [][]string
	for _, r := range display.Rows(requested, effective, e.walk.Changes, display.NewMasks(nil)) {
		rows = append(rows, []string{display.Plain(r.Name), cellText(r.Requested), cellText(r.Effective), changeText(r)})
	}
	if err := safeTable(s.out, []string{"argument", "requested", "effective", "why"}, rows); err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out)
	return err
}

// plainJSON makes JSON safe for a terminal: quotes and escapes stay as they
// are, what cannot be seen is shown as its code point.
func plainJSON(text string) string {
	var b strings.Builder
	for text != "" {
		i := strings.IndexAny(text, "\"\\")
		if i < 0 {
			b.WriteString(plain(text))
			break
		}
		b.WriteString(plain(text[:i]))
		b.WriteByte(text[i])
		text = text[i+1:]
	}
	return b.String()
}

func cellText(c display.Cell) string {
	if c.Absent {
		return "-"
	}
	return display.Plain(c.Pieces)
}

func changeText(r display.Row) string {
	words := make([]string, len(r.Changes))
	for i, c := range r.Changes {
		words[i] = string(c.Kind)
		if c.By != "" {
			words[i] += " by " + c.By
		}
	}
	return strings.Join(words, ", ")
}
