package client

import (
	"context"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// Call is one proposed call.
type Call struct {
	Tool string // catalog name: server.tool
	// Arguments is the exact text that the model wrote. It is never parsed here.
	Arguments string
	// Key is the idempotency key; "" if none. Only a call with a key is repeated
	// when an answer is lost.
	Key        string
	Approval   string // the action whose approval this call uses; "" if none
	Supersedes string // the uncertain action that this call replaces; "" if none
	Model      string // recorded
	CallID     string // the provider's id of the call; recorded, never a key
	// Wait is how long the gateway holds the call while people decide: whole
	// seconds, at most 60.
	Wait time.Duration
}

// body is the JSON of a call.
func (c Call) body(propose bool) ([]byte, error) {
	if !utf8.ValidString(c.Arguments) {
		return nil, ErrArguments
	}
	members := []canon.Member{{Name: "toolName", Value: canon.StringValue(c.Tool)}, {Name: "arguments", Value: canon.StringValue(c.Arguments)}}
	if propose {
		for _, m := range []struct{ name, text string }{{"approval", c.Approval}, {"supersedes", c.Supersedes}, {"model", c.Model}, {"callId", c.CallID}} {
			if m.text != "" {
				members = append(members, canon.Member{Name: m.name, Value: canon.StringValue(m.text)})
			}
		}
		if c.Wait > 0 {
			members = append(members, canon.Member{Name: "waitSeconds", Value: canon.IntValue(int64(c.Wait / time.Second))})
		}
	}
	return canon.ObjectValue(members...).Canonical(), nil
}

// Call proposes a call and returns what became of it. The error is a
// [*Problem], or wraps ErrUnclear, ErrAnswer or what the network said.
func (c *Client) Call(ctx context.Context, call Call) (verbatim.Outcome, error) {
	body, err := call.body(true)
	if err != nil {
		return verbatim.Outcome{}, err
	}
	got, err := c.do(ctx, errand{method: http.MethodPost, path: "/v1/call", body: body, key: call.Key, timeout: c.cfg.Timeout + call.Wait})
	if err != nil {
		return verbatim.Outcome{}, err
	}
	return got.outcome()
}

// Result returns what the call of an action would be answered now.
func (c *Client) Result(ctx context.Context, id string) (verbatim.Outcome, error) {
	got, err := c.do(ctx, errand{method: http.MethodGet, path: actionPath(id) + "/result", safe: true, timeout: quick})
	if err != nil {
		return verbatim.Outcome{}, err
	}
	return got.outcome()
}

// outcome reads the answer to a call.
func (a answer) outcome() (verbatim.Outcome, error) {
	out, _, err := a.told()
	if err == nil && (out.Status == verbatim.StatusOK) != (a.status == http.StatusOK) {
		return verbatim.Outcome{}, fmt.Errorf("%w: status %d with outcome %s", ErrAnswer, a.status, out.Status)
	}
	return out, err
}

// told reads an answer that holds an outcome, and what stands beside it.
func (a answer) told() (verbatim.Outcome, object, error) {
	rest, output, found := splice(a.text, "outcome", "data", "output")
	if a.text = rest; !found {
		output = nil
	}
	var o object
	var err error
	failed := a.status >= http.StatusBadRequest
	if failed {
		o, err = a.problem()
	} else {
		o, err = a.read()
	}
	if err != nil {
		return verbatim.Outcome{}, o, err
	}
	envelope, found := o.object("outcome", !failed)
	if !found {
		if *o.err != nil {
			return verbatim.Outcome{}, o, *o.err
		}
		return verbatim.Outcome{}, o, problemOf(a.status, o)
	}
	out := envelope.outcome(output)
	if receipt, found := o.object("receipt", false); found {
		out.Receipt = receipt.v.Canonical()
	}
	return out, o, *o.err
}

// mostTurns bounds how often Run goes on with one call.
const mostTurns = 8

// Run proposes a call and stays with it until it has an end: it waits for
// people and for the tool, and sends the very same call again once it is
// approved. When ctx ends it returns the last outcome beside the error of ctx.
func (c *Client) Run(ctx context.Context, call Call) (verbatim.Outcome, error) {
	o, err := c.Call(ctx, call)
	for turn := 1; err == nil && turn < mostTurns; turn++ {
		next := o
		switch {
		case o.ActionID == "":
			return o, nil
		case o.Status == verbatim.StatusApprovalRequired:
			next, err = c.approved(ctx, call, o)
		case o.Status == verbatim.StatusInProgress:
			if _, err = c.Wait(ctx, o.ActionID, action.Received, action.Claimed, action.Executing); err == nil {
				next, err = c.Result(ctx, o.ActionID)
			}
		default:
			return o, nil
		}
		if err != nil {
			return o, err
		}
		o = next
	}
	return o, err
}

// approved waits for people, and goes on with the call as they decided.
func (c *Client) approved(ctx context.Context, call Call, o verbatim.Outcome) (verbatim.Outcome, error) {
	a, err := c.Wait(ctx, o.ActionID, action.PendingApproval)
	if err != nil {
		return o, err
	}
	if a.State != action.Approved {
		return c.Result(ctx, o.ActionID)
	}
	if call.Key == "" {
		call.Approval = o.ActionID // consumed once, so sending it twice starts nothing twice
	}
	return c.Call(ctx, call)
}
