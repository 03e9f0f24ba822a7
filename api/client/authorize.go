package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// Authorize has a call decided and recorded, for whoever called this to run at
// the executor: see [verbatim.Gate.Authorize]. Without a warrant nothing may
// run; an answer that is lost loses its warrant, too.
func (c *Client) Authorize(ctx context.Context, call Call) (verbatim.Authorization, error) {
	body, err := call.body(true)
	if err != nil {
		return verbatim.Authorization{}, err
	}
	got, err := c.do(ctx, errand{method: http.MethodPost, path: "/v1/authorize", body: body, key: call.Key, timeout: c.cfg.Timeout + call.Wait})
	if err != nil {
		return verbatim.Authorization{}, err
	}
	out, o, err := got.told()
	if err != nil || out.Code != verbatim.CodeAuthorized {
		return verbatim.Authorization{Outcome: out}, err
	}
	a := verbatim.Authorization{Outcome: out, Args: o.text("argsCanonicalJson", true), SendBy: o.time("sendDeadline", true)}
	var ok bool
	if a.Warrant, ok = warrant.Decode(o.text("warrant", true)); !ok {
		o.wrong("warrant", "a warrant")
	}
	if *o.err != nil {
		return verbatim.Authorization{}, *o.err
	}
	return a, nil
}

// Report says how an authorized call ended: see [verbatim.Gate.Report]. It may
// be repeated. A report that the gateway does not take is a [*Problem], or the
// outcome as it stands beside one.
func (c *Client) Report(ctx context.Context, id string, r verbatim.Report) (verbatim.Outcome, error) {
	if !utf8.Valid(r.Output) {
		return verbatim.Outcome{}, ErrArguments
	}
	members := []canon.Member{}
	for _, m := range []struct{ name, text string }{{"warrant", warrant.Encode(r.Warrant)}, {"ended", string(r.Ended)},
		{"verdict", string(r.Verdict)}, {"output", string(r.Output)}} {
		if m.text != "" {
			members = append(members, canon.Member{Name: m.name, Value: canon.StringValue(m.text)})
		}
	}
	got, err := c.do(ctx, errand{method: http.MethodPost, path: actionPath(id) + "/outcome", safe: true, timeout: c.cfg.Timeout,
		body: canon.ObjectValue(members...).Canonical()})
	if err != nil {
		return verbatim.Outcome{}, err
	}
	out, o, err := got.told()
	if err == nil && got.status != http.StatusOK {
		err = problemOf(got.status, o)
	}
	return out, err
}

// Standing reports whether the attempt of a warrant is still under way: it is
// for [warrant.Config]'s Ask, with the token of the principal that authorized.
func (c *Client) Standing(ctx context.Context, w warrant.Warrant) (bool, error) {
	a, err := c.Action(ctx, w.Action)
	var p *Problem
	switch {
	case errors.As(err, &p) && p.Status == http.StatusNotFound:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("ask about the attempt: %w", err)
	}
	return a.State == action.Executing, nil
}
