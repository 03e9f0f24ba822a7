package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/web/display"
)

// Item is one action in a list. Every text is safe for a terminal.
type Item struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Tool      string `json:"tool"`
	Agent     string `json:"agent"`
	Principal string `json:"principal"`
	Headline  string `json:"headline"`
	Code      string `json:"code"`
	CreatedAt string `json:"createdAt"`          // RFC 3339
	Deadline  string `json:"deadline,omitempty"` // of waiting; RFC 3339
}

// List is a list of actions, newest first.
type List struct {
	Actions []Item `json:"actions"`
}

// Row is one argument: what was requested beside what will run. Secrets are
// masked.
type Row struct {
	Name      string `json:"name"`
	Requested string `json:"requested,omitempty"`
	Effective string `json:"effective,omitempty"`
	Change    string `json:"change,omitempty"`
	Unusual   bool   `json:"unusual,omitempty"` // holds characters that are not what they look like
}

// Target is a thing that is acted on.
type Target struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Vote is one answer of a person.
type Vote struct {
	Voter   string `json:"voter"`
	Approve bool   `json:"approve"`
	Reason  string `json:"reason,omitempty"`
	Method  string `json:"method"`
	At      string `json:"at"`
}

// Result is how an action ended.
type Result struct {
	Code     string `json:"code"`
	Evidence string `json:"evidence,omitempty"`
	Detail   string `json:"detail,omitempty"`
	IsError  bool   `json:"isError,omitempty"`
	Bytes    int    `json:"bytes"` // of the tool's answer
	At       string `json:"at,omitempty"`
}

// Detail is one action with all that a person decides on.
type Detail struct {
	Item
	HighImpact   bool     `json:"highImpact"`
	ProposalHash string   `json:"proposalHash"`
	Digest       string   `json:"approvalDigest,omitempty"`
	Reason       string   `json:"reason"` // of the decision; internal
	Rules        []string `json:"rules"`
	Policy       string   `json:"policyVersion"`
	Arguments    []Row    `json:"arguments"`
	Preview      []Row    `json:"preview,omitempty"`
	Targets      []Target `json:"targets"`
	Who          []string `json:"approvers,omitempty"` // who must agree, one line each
	Votes        []Vote   `json:"votes"`
	Result       *Result  `json:"result,omitempty"`
	Limits       []Limit  `json:"limits,omitempty"` // that it counts against, while it has not begun
	// LimitsUnclear: it counts against limits, and what they leave cannot be said.
	LimitsUnclear bool   `json:"limitsUnclear,omitempty"`
	CallerGone    bool   `json:"callerGone"`
	WhyNot        string `json:"whyNot,omitempty"` // why it cannot be approved now
}

// Record is one entry of the audit log.
type Record struct {
	Seq         int64             `json:"seq"`
	At          string            `json:"at"`
	Event       string            `json:"event"`
	Action      string            `json:"action,omitempty"`
	Tool        string            `json:"tool,omitempty"`
	Agent       string            `json:"agent,omitempty"`
	By          string            `json:"by,omitempty"`
	From        string            `json:"from,omitempty"`
	To          string            `json:"to,omitempty"`
	Code        string            `json:"code,omitempty"`
	Facts       map[string]string `json:"facts,omitempty"`
	Commitments map[string]string `json:"commitments,omitempty"`
}

// Records is a part of the audit log, newest first.
type Records struct {
	Records []Record `json:"records"`
}

func recordOf(r audit.Record) Record {
	return Record{Seq: r.Seq, At: stamp(r.At), Event: r.Event, Action: r.Action, Tool: r.Tool, Agent: r.Agent,
		By: r.By, From: r.From, To: r.To, Code: r.Code, Facts: r.Facts, Commitments: r.Commitments}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// limits let everything be read back that could have been stored.
var limits = canon.Options{MaxBytes: canon.CeilingBytes, MaxDepth: canon.CeilingDepth, MaxNodes: canon.CeilingNodes}

// stored reads a stored text back: its own canonical form, or nothing.
func stored(text string) (canon.Value, bool) {
	v, err := canon.Decode([]byte(text), limits)
	if err != nil || string(v.Canonical()) != text {
		return canon.Value{}, false
	}
	return v, true
}

func (d *Daemon) toolOf(a action.Action) *catalog.Tool {
	if a.Kind == action.KindHandoff {
		return &catalog.Tool{Name: a.Tool, Definition: a.Definition}
	}
	tool, found := d.cfg.Tools(a.Tool)
	if !found {
		return nil
	}
	return tool
}

func masks(tool *catalog.Tool, values ...canon.Value) display.Masks {
	if tool == nil { // nobody knows what is secret
		return display.MaskAll()
	}
	return display.NewMasks(tool.Secrets, values...)
}

func (d *Daemon) item(a action.Action) Item {
	i := Item{ID: a.ID, State: string(a.State), Tool: a.Tool, Agent: a.Agent, Principal: a.Principal,
		Headline: d.headline(a), Code: a.Decision.Code, CreatedAt: stamp(a.CreatedAt)}
	if a.Result != nil && a.Result.Code != "" {
		i.Code = a.Result.Code
	}
	if !a.State.Terminal() {
		i.Deadline = stamp(a.Deadline)
	}
	return i
}

// headline is the catalog's sentence, or the bare call.
func (d *Daemon) headline(a action.Action) string {
	args, ok := stored(a.Payload.Args)
	tool := d.toolOf(a)
	if ok && tool != nil && tool.Sentence != "" && tool.Definition == a.Definition {
		if pieces, fits := display.Sentence(tool.Sentence, args, masks(tool, args)); fits {
			return display.Plain(pieces)
		}
	}
	verb := "call "
	if a.Kind == action.KindHandoff {
		verb = "hand over to "
	}
	return verb + display.Plain(display.Text(a.Tool))
}

func (d *Daemon) detail(ctx context.Context, a action.Action) (Detail, error) {
	votes, err := d.cfg.Gate.Votes(ctx, d.cfg.Tenant, a.ID)
	if err != nil {
		return Detail{}, err
	}
	out := Detail{Item: d.item(a), HighImpact: a.HighImpact, ProposalHash: a.Hash.String(), Reason: a.Decision.Reason,
		Rules: append([]string{}, a.Decision.Rules...), Policy: a.Decision.PolicyVersion, Targets: []Target{},
		Votes: []Vote{}, CallerGone: a.CallerGone, WhyNot: d.whyNot(a)}
	d.arguments(&out, a)
	d.room(ctx, &out, a)
	for _, t := range a.Targets {
		out.Targets = append(out.Targets, Target{t.Type, t.ID})
	}
	if a.Terms != nil {
		out.Digest, out.Who = a.Terms.Digest.String(), who(a.Terms.Requirements)
	}
	for _, v := range votes {
		out.Votes = append(out.Votes, Vote{d.voter(ctx, v.Voter), v.Approve, v.Reason, v.Method, stamp(v.At)})
	}
	if r := a.Result; r != nil {
		out.Result = &Result{r.Code, r.Evidence, r.Detail, r.IsError, len(r.Output), stamp(r.At)}
	}
	return out, nil
}

func (d *Daemon) voter(ctx context.Context, id string) string {
	if person, err := d.cfg.Accounts.ByID(ctx, id); err == nil {
		return person.Name
	}
	return id
}

// arguments fills the tables.
func (d *Daemon) arguments(out *Detail, a action.Action) {
	out.Arguments = []Row{}
	args, ok := stored(a.Payload.Args)
	if !ok {
		return
	}
	requested, ok := stored(a.Payload.Requested)
	if !ok {
		requested = args
	}
	m := masks(d.toolOf(a), args, requested)
	for _, r := range display.Rows(requested, args, a.Changes, m) {
		out.Arguments = append(out.Arguments, rowOf(r))
	}
	if preview, ok := stored(a.Payload.Preview); ok {
		for _, r := range display.Leaves(preview, m) {
			out.Preview = append(out.Preview, rowOf(r))
		}
	}
}

func rowOf(r display.Row) Row {
	row := Row{Name: display.Plain(r.Name), Effective: cell(r.Effective), Unusual: display.CountAlarming(r.Name)+display.CountAlarming(r.Effective.Pieces) > 0}
	if r.Differs {
		row.Requested = cell(r.Requested)
	}
	for i, c := range r.Changes {
		if i > 0 {
			row.Change += ", "
		}
		row.Change += string(c.Kind)
	}
	if r.Unexplained {
		row.Change = "differs, and no step says why"
	}
	return row
}

func cell(c display.Cell) string {
	if c.Absent {
		return "(absent)"
	}
	return display.Plain(c.Pieces)
}

// whyNot says why nobody could know what they would approve, as the pages
// do, or "".
func (d *Daemon) whyNot(a action.Action) string {
	if a.State != action.PendingApproval || a.Terms == nil {
		return "the action is not waiting for anybody"
	}
	tool := d.toolOf(a)
	_, argsOK := stored(a.Payload.Args)
	_, previewOK := stored(a.Payload.Preview)
	switch {
	case !argsOK:
		return "what would run cannot be shown, so it cannot be approved"
	case tool == nil || tool.Definition != a.Definition:
		return "the tool is not the one that was decided on, so it cannot be approved"
	case a.Terms.Preview.IsZero() != (a.Payload.Preview == ""), a.Payload.Preview != "" && !previewOK:
		return "the preview cannot be shown, so it cannot be approved"
	default:
		return ""
	}
}

// who says who must agree, one line for each requirement.
func who(rs []action.Requirement) []string {
	out := []string{}
	for _, r := range rs {
		line := ""
		for i, g := range r.AnyOf {
			if i > 0 {
				line += ", or "
			}
			line += groupWords(g)
		}
		out = append(out, line)
	}
	return out
}

func groupWords(g action.Group) string {
	switch {
	case g.Name == approval.GroupOwner:
		return "the owner of the agent session"
	case g.Votes == 1:
		return "1 person of " + g.Name
	default:
		return fmt.Sprintf("%d different people of %s", g.Votes, g.Name)
	}
}
