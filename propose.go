package verbatim

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/decode"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/schema"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// The stages that a refusal of input names.
const (
	StageJSON     = "json"
	StageSchema   = "schema"
	StageResolve  = "resolve"
	StageSnapshot = "snapshot"
)

// inputError is a refusal before the snapshot.
type inputError struct {
	stage string
	tool  string // "" where the tool is unknown
	err   error
}

func (e *inputError) Error() string { return e.stage + ": " + e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// sessionError is a session that cannot act: a fault of the host, not of the
// model.
type sessionError struct{ err error }

func (e *sessionError) Error() string { return "session: " + e.err.Error() }
func (e *sessionError) Unwrap() error { return e.err }

// propose takes bytes to a frozen proposal: decode, schema, resolve,
// identity, snapshot, each on what the one before produced. It fails with an
// inputError, a sessionError, or another error where the store is broken.
func (g *Gate) propose(ctx context.Context, s Session, c Call) (*proposal, error) {
	if err := s.Validate(); err != nil {
		return nil, &sessionError{err}
	}
	now, err := g.cfg.Store.Now(ctx)
	if err != nil {
		return nil, err
	}
	c.Arguments = bytes.Clone(c.Arguments) // the caller may use its buffer again
	p := &proposal{session: s, call: c, policy: g.engine(), now: now, raw: rawArguments(c)}
	bound, known := g.cfg.Tools.Tool(c.Tool)
	if !known || bound.Tool == nil {
		return g.closed(p, nil, CodeUnknownTool)
	}
	if bound.Refused != "" {
		return g.closed(p, bound.Tool, bound.Refused)
	}
	p.tool, p.handler, p.server, p.audience = bound.Tool, bound.Handler, bound.Server, bound.Audience
	if p.request, err = decode.Arguments(p.raw, decode.Options{
		KeepTwins: p.tool.CaseTwins, Known: p.tool.Proposal.Known()}); err != nil {
		return nil, &inputError{StageJSON, p.tool.Name, err}
	}
	changes, err := g.parse(ctx, p)
	if err != nil {
		return nil, err
	}
	return p, g.freeze(ctx, p, changes)
}

func rawArguments(c Call) []byte {
	if c.ArgumentsAbsent {
		return []byte("{}")
	}
	return c.Arguments
}

// closed freezes a call of a tool that must not run, or that nobody lists, so
// that its denial has a proposal hash. There is no schema to apply.
func (g *Gate) closed(p *proposal, tool *catalog.Tool, why Code) (*proposal, error) {
	known := ""
	if tool != nil {
		known = tool.Name
	} else {
		tool = &catalog.Tool{Name: printableName(p.call.Tool), Mutation: true, Impact: catalog.Irreversible}
	}
	request, err := decode.Arguments(p.raw, decode.Options{})
	if err != nil {
		return nil, &inputError{StageJSON, known, err}
	}
	p.tool, p.request, p.refused = tool, request, why
	frozen, err := snapshot.Freeze(request)
	if err != nil {
		return nil, &inputError{StageSnapshot, known, err}
	}
	p.frozen = snapshot.Propose(p.session.Agent, p.tool.Name, frozen)
	p.mark = fingerprint(p)
	return p, nil
}

// printableName keeps a name that no tool can have out of rows and answers.
func printableName(name string) string {
	if name == "" || len(name) > catalog.MaxNameBytes || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, unicode.IsControl) {
		return canon.UnknownName
	}
	return name
}

// parse is the one schema step: fill, normalize, validate.
func (g *Gate) parse(ctx context.Context, p *proposal) ([]canon.Change, error) {
	if d := p.tool.DryRun; d != nil && d.Argument != "" {
		if _, sent := p.request.Lookup(d.Argument); sent {
			return nil, &inputError{StageSchema, p.tool.Name, canon.Refuse(d.Argument, "dry_run_argument",
				"no such member: the dry run is made for you")}
		}
	}
	fills, err := fills(p.session, p.tool.Identity)
	if err != nil {
		return nil, &sessionError{err}
	}
	out, err := g.apply(ctx, p.tool.Proposal, p.request, fills)
	if err != nil {
		return nil, &inputError{StageSchema, p.tool.Name, err}
	}
	p.parsed = out.parsed
	return out.changes, nil
}

// parsing is what the schema made of a request.
type parsing struct {
	parsed  canon.Value
	changes []canon.Change
}

// apply bounds the schema step where it runs transforms of the embedder; by
// itself it ends.
func (g *Gate) apply(ctx context.Context, s *schema.Schema, request canon.Value, fills []schema.Fill) (parsing, error) {
	run := func(context.Context) (r parsing, err error) {
		r.parsed, r.changes, err = s.Apply(request, fills)
		return r, err
	}
	if !s.RunsForeignCode() {
		return run(ctx)
	}
	return bounded(ctx, g.cfg.ResolveTimeout, run)
}

func fills(s Session, members []identity.Member) ([]schema.Fill, error) {
	found, err := identity.Fills(s, members)
	if err != nil {
		return nil, err
	}
	out := make([]schema.Fill, len(found))
	for i, f := range found {
		out[i] = schema.Fill{Pointer: f.Pointer, Value: f.Value}
	}
	return out, nil
}

// freeze resolves, checks identity and freezes. A spoofed identity is frozen
// too, so that its denial can be recorded.
func (g *Gate) freeze(ctx context.Context, p *proposal, changes []canon.Change) error {
	found, err := g.resolve(ctx, p, p.now)
	if err != nil {
		return &inputError{StageResolve, p.tool.Name, err}
	}
	resolved := found.args
	if p.tool.Own != nil && p.tool.Own != p.tool.Proposal {
		if err := p.tool.Own.Validate(resolved); err != nil {
			return &inputError{StageSchema, p.tool.Name, err}
		}
	}
	if err := identity.Check(p.session, p.tool.Identity, resolved); err != nil && p.refused == "" {
		p.refused = CodeIdentitySpoof
	}
	frozen, err := snapshot.Freeze(resolved)
	if err != nil {
		return &inputError{StageSnapshot, p.tool.Name, err}
	}
	targets, err := catalog.ExtractTargets(p.tool.Targets, resolved)
	if err != nil {
		return &inputError{StageSnapshot, p.tool.Name, err}
	}
	p.answered = found.answered
	p.frozen = snapshot.Propose(p.session.Agent, p.tool.Name, frozen)
	p.frozen.Changes = append(changes, found.changes...)
	p.frozen.Targets, p.frozen.Evidence = targets, evidence(found.answered)
	p.mark = fingerprint(p)
	return nil
}

// resolution is what the resolvers made of the parsed arguments.
type resolution struct {
	args     canon.Value
	changes  []canon.Change
	answered []resolve.Answered
}

// resolve asks the resolvers of the tool, within the time that they have.
func (g *Gate) resolve(ctx context.Context, p *proposal, now time.Time) (resolution, error) {
	rules, parsed := p.tool.Resolvers, p.parsed
	if len(rules) == 0 {
		return resolution{args: parsed}, nil
	}
	return bounded(ctx, g.cfg.ResolveTimeout, func(ctx context.Context) (r resolution, err error) {
		r.args, r.changes, r.answered, err = resolve.Apply(ctx, rules, parsed, now)
		return r, err
	})
}

func evidence(answered []resolve.Answered) []snapshot.Evidence {
	out := make([]snapshot.Evidence, len(answered))
	for i, a := range answered {
		out[i] = snapshot.Evidence{Pointer: a.Pointer, Resolver: a.Rule.Name, Version: a.Version, Digest: a.Digest}
	}
	return out
}

// fingerprint says that two calls are the same request: tenant, principal,
// tool, targets and proposal hash, joined by structure.
func fingerprint(p *proposal) canon.Digest {
	var room [512]byte
	out := canon.AppendText(append(room[:0], '['), p.session.Tenant)
	out = canon.AppendText(append(out, ','), p.session.Principal)
	out = append(canon.AppendText(append(out, ','), p.tool.Name), ",["...)
	for i, t := range p.frozen.Targets {
		if i > 0 {
			out = append(out, ',')
		}
		out = canon.AppendText(append(out, '['), t.Type)
		out = append(canon.AppendText(append(out, ','), t.ID), ']')
	}
	out = hex.AppendEncode(append(out, `],"`...), p.frozen.Hash[:])
	return canon.Sum(append(out, `"]`...))
}

// reject records refused input as an event without payload and words it for
// the model.
func (g *Gate) reject(ctx context.Context, s Session, c Call, err error) (Outcome, error) {
	var session *sessionError
	if errors.As(err, &session) { // nobody to record it for
		g.log.Error("a call was refused", "error", err)
		return Outcome{Status: StatusDenied, Code: CodeInvalidSession}, nil
	}
	var in *inputError
	if !errors.As(err, &in) {
		return Outcome{Tool: c.Tool}, err
	}
	c.walked.refused(in.tool)
	o := Outcome{Status: StatusInvalidArguments, Code: CodeInvalidArguments, Tool: in.tool, Stage: in.stage}
	if !errors.As(in.err, &o.Violations) {
		o.Violations = canon.Refuse("", in.stage+"_failed", "a value that this step can read")
	}
	if in.stage == StageResolve {
		o.Code = resolveCode(o.Violations)
	}
	raw := rawArguments(c)
	return o, g.cfg.Store.RejectInput(ctx, action.Rejection{
		Tenant: s.Tenant, Principal: s.Principal, Agent: s.Agent, Tool: in.tool,
		Stage: in.stage, Code: string(o.Code), Size: len(raw), Digest: canon.Sum(raw)})
}

func resolveCode(vs canon.Violations) Code {
	for _, v := range vs {
		if v.Rule == resolve.RuleAmbiguous {
			return CodeTargetAmbiguous
		}
	}
	return CodeTargetUnresolved
}
