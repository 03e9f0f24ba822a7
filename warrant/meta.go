package warrant

import (
	"context"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// The members of _meta in the form for MCP: of a request, the envelope as an
// object; of its result, the verdict of the server that checked it.
const (
	MetaWarrant = "io.github.seed-de4804fb.verbatim/warrant"
	MetaVerdict = "io.github.seed-de4804fb.verbatim/verdict"
)

// CheckParams is [Checker.Check] for the params of an MCP tools/call, as they
// were received. The tool that is named must be that of the warrant, which a
// catalog calls server.tool. On OK the Call holds the arguments to run; a
// server puts the verdict into _meta of its result, under MetaVerdict.
func (c *Checker) CheckParams(ctx context.Context, params []byte) (Call, Verdict) {
	limits := canon.Options{MaxBytes: MaxArguments + MaxEnvelope, Exact: true, MaxDepth: canon.DefaultMaxDepth + 1}
	p, err := canon.Decode(params, limits)
	exact := err == nil
	if !exact { // whose warrant it is can be said though no arguments are like that
		limits.Exact = false
		if p, err = canon.Decode(params, limits); err != nil {
			return Call{}, Malformed
		}
	}
	name, _ := p.Get("name")
	meta, _ := p.Get("_meta")
	envelope, found := canon.Value{}, false
	if meta.Kind() == canon.Object {
		envelope, found = meta.Get(MetaWarrant)
	}
	if !found || envelope.Kind() != canon.Object || name.Kind() != canon.String {
		return Call{}, Malformed
	}
	args, given := p.Get("arguments")
	if !given {
		args = canon.ObjectValue()
	}
	text := args.Canonical()
	if !exact {
		text = nil
	}
	out := Call{Envelope: envelope.Canonical(), Args: text}
	v := OK
	if w, ok := Open(out.Envelope, c.cfg.Keys...); ok == OK {
		_, tool, _ := strings.Cut(w.Tool, ".")
		if tool != name.Text() && w.Audience == c.cfg.Audience {
			out.Warrant, v = w, WrongTool
		}
	}
	if v == OK {
		out.Warrant, v = c.Check(ctx, out.Envelope, text, Expect{})
	}
	if v != OK {
		out.Args = nil
	}
	return out, v
}
