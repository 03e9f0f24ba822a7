package verbatim

import (
	"context"
	"errors"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/ids"
	"github.com/seed-de4804fb/verbatim/internal/permit"
)

// preview is the canonical result of a dry run and the digest of the members
// of it that count.
type preview struct {
	text   string
	digest canon.Digest
}

// defaultPreviewTimeout bounds a dry run whose declaration does not.
const defaultPreviewTimeout = 10 * time.Second

// MaxPreview is the largest preview in bytes.
const MaxPreview = 256 << 10

// preview makes the dry run where the catalog asks for one. ok is false where
// it failed: the call is then denied.
func (g *Gate) preview(ctx context.Context, p *proposal) (_ *preview, ok bool) {
	d := p.tool.DryRun
	if d == nil || !d.Required {
		return nil, true
	}
	done := p.call.walked.step(StepDryRun)
	result, err := g.dryRun(ctx, p, d)
	done()
	if err != nil {
		g.log.Warn("dry run failed", "tool", p.name(), "error", err)
		return nil, false
	}
	text := string(result.Canonical())
	if len(text) > MaxPreview {
		return nil, false
	}
	return &preview{text: text, digest: previewDigest(d, result)}, true
}

// previewDigest covers the members that count: all, or those of Compare. A
// clock in a preview must not void an approval.
func previewDigest(d *catalog.DryRun, result canon.Value) canon.Digest {
	if len(d.Compare) == 0 {
		return canon.Sum(result.Canonical())
	}
	members := make([]canon.Member, len(d.Compare))
	for i, pointer := range d.Compare {
		v, found := result.Lookup(pointer)
		if !found {
			v = canon.NullValue()
		}
		members[i] = canon.Member{Name: pointer, Value: canon.ArrayValue(canon.BoolValue(found), v)}
	}
	return canon.Sum(canon.ObjectValue(members...).Canonical())
}

func (g *Gate) dryRun(ctx context.Context, p *proposal, d *catalog.DryRun) (canon.Value, error) {
	timeout := d.Timeout
	if timeout <= 0 {
		timeout = defaultPreviewTimeout
	}
	args := p.frozen.Args.Value()
	if d.Func != nil {
		return funcPreview(ctx, d, args, timeout)
	}
	by := Bound{Tool: p.tool, Handler: p.handler, Audience: p.audience}
	if d.Tool != "" {
		other, ok := g.cfg.Tools.Tool(d.Tool)
		if !ok || other.Tool == nil || other.Tool.Mutation || other.Refused != "" {
			return canon.Value{}, errors.New("the dry-run tool is missing or not a read")
		}
		by = other
	} else {
		var ok bool
		if args, ok = args.With(d.Argument, canon.BoolValue(true)); !ok {
			return canon.Value{}, errors.New("the dry-run argument has no place")
		}
	}
	pm := previewPermit(args)
	asked := action.Action{ID: pm.Action(), Tenant: p.session.Tenant, Principal: p.session.Principal, Agent: p.session.Agent,
		Tool: by.Tool.Name, Payload: action.Payload{Args: pm.Args()}}
	pm, err := g.bearing(ctx, pm, by.Audience, by.Tool, asked)
	if err != nil {
		return canon.Value{}, err
	}
	return runPreview(ctx, by.Handler, pm, timeout)
}

func previewPermit(args canon.Value) permit.Permit {
	return permit.Issue(permit.Preview, ids.New("dry"), 0, "", string(args.Canonical()))
}

// funcPreview runs a Go preview; one that does not end is left behind.
func funcPreview(ctx context.Context, d *catalog.DryRun, args canon.Value, timeout time.Duration) (canon.Value, error) {
	h := execute.HandlerFunc(func(ctx context.Context, _ execute.Input) (execute.Output, error) {
		v, err := d.Func(ctx, args)
		if err != nil {
			return execute.Output{}, err
		}
		return execute.Output{Bytes: v.Canonical()}, nil
	})
	return runPreview(ctx, h, previewPermit(args), timeout)
}

func runPreview(ctx context.Context, h execute.Handler, pm permit.Permit, timeout time.Duration) (canon.Value, error) {
	end, err := execute.Run(ctx, pm, h, execute.Options{Timeout: timeout})
	if err != nil {
		return canon.Value{}, err
	}
	if end.State != action.Succeeded {
		return canon.Value{}, errors.New("the dry run did not succeed: " + end.Result.Code)
	}
	return canon.Decode(end.Result.Output, canon.Options{MaxBytes: MaxPreview})
}
