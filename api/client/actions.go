package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// Action is an action as its principal may see it.
type Action struct {
	ID           string
	Tool         string
	Agent        string
	State        action.State
	Final        bool // the state never changes again
	ProposalHash string
	Code         verbatim.Code // of the decision
	PublicReason string
	CreatedAt    time.Time
	UpdatedAt    time.Time
	ExpiresAt    time.Time // zero if it never ends by itself
	Result       *Result   // nil until it has ended
}

// Result is how an action ended.
type Result struct {
	Code     verbatim.Code
	Evidence string
	IsError  bool
	Output   []byte // what the tool answered, as it came; of a single action only
}

// Filter selects actions. Zero fields select everything.
type Filter struct {
	State  action.State
	Tool   string
	Limit  int    // of one page; 0 is the most that there is
	Before string // Next of the page before
}

// Page is one page of actions, newest first.
type Page struct {
	Actions []Action
	Next    string // for Filter.Before; "" on the last page
}

func actionPath(id string) string { return "/v1/actions/" + url.PathEscape(id) }

// get reads one document.
func (c *Client) get(ctx context.Context, path string, timeout time.Duration) (answer, error) {
	return c.do(ctx, errand{method: http.MethodGet, path: path, safe: true, timeout: timeout})
}

// Action returns one action. A [*Problem] with NotFound says that there is
// none for this caller.
func (c *Client) Action(ctx context.Context, id string) (Action, error) {
	got, err := c.get(ctx, actionPath(id), quick)
	if err != nil {
		return Action{}, err
	}
	return got.action()
}

func (a answer) action() (Action, error) {
	rest, output, _ := splice(a.text, "result", "output")
	a.text = rest
	o, err := a.read()
	if err != nil {
		return Action{}, err
	}
	out := o.action()
	if out.Result != nil {
		out.Result.Output = output
	}
	return out, *o.err
}

func (o object) action() Action {
	a := Action{ID: o.text("actionId", true), Tool: o.text("toolName", true), Agent: o.text("agentName", true), State: o.state("state", true),
		Final: o.flag("final", true), ProposalHash: o.text("proposalHash", false), Code: verbatim.Code(o.text("code", true)),
		PublicReason: o.text("publicReason", false), CreatedAt: o.time("createdAt", true), UpdatedAt: o.time("updatedAt", true),
		ExpiresAt: o.time("expiresAt", false)}
	if r, found := o.object("result", false); found {
		a.Result = &Result{Code: verbatim.Code(r.text("code", false)), Evidence: r.text("evidence", false), IsError: r.flag("isError", false)}
	}
	return a
}

// query writes a filter.
func (f Filter) query() string {
	q := url.Values{}
	for name, value := range map[string]string{"state": string(f.State), "tool": f.Tool, "before": f.Before} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Limit != 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// Actions lists the actions of the caller's principal, newest first.
func (c *Client) Actions(ctx context.Context, f Filter) (Page, error) {
	o, err := c.list(ctx, "/v1/actions"+f.query())
	if err != nil {
		return Page{}, err
	}
	out := Page{Next: o.text("next", false)}
	for _, x := range o.objects("actions", true) {
		out.Actions = append(out.Actions, x.action())
	}
	return out, *o.err
}

func (c *Client) list(ctx context.Context, path string) (object, error) {
	got, err := c.get(ctx, path, quick)
	if err != nil {
		return object{}, err
	}
	return got.read()
}

// Dismiss withdraws an action that waits or is approved. A repeated one is
// refused too_late, which starts nothing, so it is repeated freely.
func (c *Client) Dismiss(ctx context.Context, id string) (Action, error) {
	got, err := c.do(ctx, errand{method: http.MethodPost, path: actionPath(id) + "/dismiss", body: []byte("{}"), safe: true, timeout: quick})
	if err != nil {
		return Action{}, err
	}
	return got.action()
}

// Proposal is a suspended proposal, exactly as it was decided on.
type Proposal struct {
	ID             string
	Tool           string
	Agent          string
	State          action.State
	Raw            string // as proposed
	Requested      string // RFC 8785 form before the schema
	Args           string // RFC 8785 form of what would run
	ProposalHash   string
	ApprovalDigest string
	PublicReason   string
	Requirements   []action.Requirement
	RequestedAt    time.Time
	ExpiresAt      time.Time
}

// Proposals is one page of them, newest first.
type Proposals struct {
	Proposals []Proposal
	Next      string // for Filter.Before; "" on the last page
}

// Proposals lists what of the caller's principal is suspended.
func (c *Client) Proposals(ctx context.Context, f Filter) (Proposals, error) {
	o, err := c.list(ctx, "/v1/proposals"+f.query())
	if err != nil {
		return Proposals{}, err
	}
	out := Proposals{Next: o.text("next", false)}
	for _, x := range o.objects("proposals", true) {
		out.Proposals = append(out.Proposals, x.proposal())
	}
	return out, *o.err
}

func (o object) proposal() Proposal {
	p := Proposal{ID: o.text("actionId", true), Tool: o.text("toolName", true), Agent: o.text("agentName", true), State: o.state("state", true),
		Raw: o.text("rawArguments", false), Requested: o.text("requestedArguments", true), Args: o.text("argsCanonicalJson", true),
		ProposalHash: o.text("proposalHash", true), ApprovalDigest: o.text("approvalDigest", true), PublicReason: o.text("publicReason", false),
		RequestedAt: o.time("requestedAt", true), ExpiresAt: o.time("expiresAt", true)}
	for _, r := range o.objects("requirements", true) {
		var one action.Requirement
		for _, g := range r.objects("anyOf", true) {
			one.AnyOf = append(one.AnyOf, action.Group{Name: g.text("name", true), Votes: int(g.number("votes", true))})
		}
		p.Requirements = append(p.Requirements, one)
	}
	return p
}

// Explanation is what would become of a call.
type Explanation struct {
	Tool         string
	Code         verbatim.Code
	Stage        string // where the arguments were refused; "" where they were not
	Violations   canon.Violations
	Requested    string // RFC 8785 form before the schema
	Args         string // RFC 8785 form of what would run
	ProposalHash string
	Decision     string // deny, allow or require_approval; "" where nothing was decided
	PublicReason string
	DryRunFirst  bool
}

// Tool is what a model is told of one.
type Tool struct {
	Name        string // server.tool
	Description string // the server's own text
	InputSchema []byte // a JSON object
}

// Tools lists the tools that the caller may propose.
func (c *Client) Tools(ctx context.Context) ([]Tool, error) {
	o, err := c.list(ctx, "/v1/tools")
	if err != nil {
		return nil, err
	}
	var out []Tool
	for _, t := range o.objects("tools", true) {
		schema, _ := t.member("inputSchema", canon.Object, true)
		out = append(out, Tool{t.text("toolName", true), t.text("description", false), schema.Canonical()})
	}
	return out, *o.err
}

// Explain says what would become of a call. Nothing runs and nothing is
// recorded.
func (c *Client) Explain(ctx context.Context, tool, arguments string) (Explanation, error) {
	body, err := Call{Tool: tool, Arguments: arguments}.body(false)
	if err != nil {
		return Explanation{}, err
	}
	got, err := c.do(ctx, errand{method: http.MethodPost, path: "/v1/explain", body: body, safe: true, timeout: quick})
	if err != nil {
		return Explanation{}, err
	}
	o, err := got.read()
	if err != nil {
		return Explanation{}, err
	}
	return Explanation{Tool: o.text("toolName", true), Code: verbatim.Code(o.text("code", true)), Stage: o.text("stage", false),
		Violations: o.violations("violations"), Requested: o.text("requestedArguments", false), Args: o.text("argsCanonicalJson", false),
		ProposalHash: o.text("proposalHash", false), Decision: o.text("decision", false), PublicReason: o.text("publicReason", false),
		DryRunFirst: o.flag("dryRunFirst", false)}, *o.err
}
