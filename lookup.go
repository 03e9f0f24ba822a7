package verbatim

import (
	"context"
	"errors"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/ids"
	"github.com/seed-de4804fb/verbatim/internal/permit"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// lookuper is who can be asked about a tool's attempts: its handler, or the
// read tool that the catalog names.
func (g *Gate) lookuper(a action.Action, b Bound) (execute.Lookuper, bool) {
	if h, ok := b.Handler.(execute.Lookuper); ok {
		return h, true
	}
	if b.Tool.Lookup == nil {
		return nil, false
	}
	return catalogLookup{g, a, b.Tool.Lookup}, true
}

// catalogLookup asks by calling the read tool that the catalog names.
type catalogLookup struct {
	gate  *Gate
	about action.Action
	how   *catalog.Lookup
}

var (
	errNoLookup  = errors.New("the look-up tool is missing or not a read")
	errNoAnswer  = errors.New("the look-up did not succeed")
	errNoMembers = errors.New("the look-up takes a member that the call does not have")
)

// Lookup calls the read tool with what the catalog takes from the frozen
// arguments. Its arguments must meet its own schema.
func (l catalogLookup) Lookup(ctx context.Context, in execute.Input) (execute.Finding, error) {
	other, ok := l.gate.cfg.Tools.Tool(l.how.Tool)
	if !ok || other.Tool == nil || other.Handler == nil || other.Tool.Mutation || other.Refused != "" {
		return execute.Finding{}, errNoLookup
	}
	args, ok := l.how.Ask(in.Args().Value(), in.ProviderKey())
	if !ok {
		return execute.Finding{}, errNoMembers
	}
	if err := other.Tool.Own.Validate(args); err != nil {
		return execute.Finding{}, err
	}
	frozen, err := snapshot.Freeze(args)
	if err != nil {
		return execute.Finding{}, err
	}
	pm := permit.Issue(permit.Read, in.ActionID(), 0, "", frozen.Text())
	asked := action.Action{ID: ids.New("ask"), Tenant: l.about.Tenant, Principal: l.about.Principal, Agent: l.about.Agent,
		Tool: other.Tool.Name, Payload: action.Payload{Args: frozen.Text()}}
	if pm, err = l.gate.bearing(ctx, pm, other.Audience, other.Tool, asked); err != nil {
		return execute.Finding{}, err
	}
	end, err := execute.Run(ctx, pm, other.Handler, execute.Options{Timeout: timeout(other.Tool)})
	if err != nil {
		return execute.Finding{}, err
	}
	if end.State != action.Succeeded || end.Result.IsError {
		return execute.Finding{}, errNoAnswer
	}
	result, err := canon.Decode(end.Result.Output, canon.Options{})
	if err != nil || !l.how.Yes(result) {
		return execute.Finding{}, err
	}
	return execute.Finding{Verdict: execute.Happened}, nil
}
