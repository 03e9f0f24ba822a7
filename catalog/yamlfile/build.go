package yamlfile

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/schema"
)

// tool builds one tool, or returns nil after it has noted what is wrong.
func (r *reader) tool(name string, t tool) *catalog.Tool {
	field := join("tools", name)
	before := len(r.list)
	s := catalog.Spec{
		Name: name, Title: t.Title, Description: t.Description, Sentence: t.Sentence,
		Schema:         r.schema(field, "schema", t.Schema, t.SchemaFile),
		ProposalSchema: r.schema(field, "proposalSchema", t.ProposalSchema, t.ProposalSchemaFile),
		Normalize:      r.normalize(join(field, "normalize"), t.Normalize),
		Read:           t.Mutation != nil && !*t.Mutation,
		Impact:         catalog.Impact(t.Impact), Reason: t.Reason, Effect: catalog.EffectClass(t.Effect), Errors: catalog.Errors(t.Errors),
		Timeout: r.duration(join(field, "timeout"), t.Timeout), Retention: r.duration(join(field, "retention"), t.Retention),
		Secrets: t.Secrets, Converts: t.Converts, Bounds: t.Bounds,
	}
	switch t.CaseTwins {
	case "", "refuse":
	case "keep":
		s.CaseTwins = true
	default:
		r.wrong(join(field, "caseTwins"), "must be refuse or keep")
	}
	r.definition(field, t.Definition, &s)
	r.marks(field, t, &s)
	if len(r.list) > before {
		return nil
	}
	made, err := catalog.Define(s)
	if err != nil {
		r.defined(field, err)
		return nil
	}
	return made
}

// defined notes the faults of [catalog.Define], each at the field that it
// names first where the file has that field.
func (r *reader) defined(field string, err error) {
	for _, fault := range split(err) {
		at := field
		if name, _, ok := strings.Cut(fault.Error(), ":"); ok && r.line(join(field, name)) != nil {
			at = join(field, name)
		}
		r.wrong(at, "%s", strings.TrimPrefix(fault.Error(), strings.TrimPrefix(at, field+".")+": "))
	}
}

func split(err error) []error {
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		return many.Unwrap()
	}
	return []error{err}
}

func (r *reader) schema(field, name string, inline *yaml.Node, file string) []byte {
	switch {
	case inline != nil && file != "":
		r.wrong(join(field, name), "is here and in a file")
	case inline != nil:
		v := value(&r.faults, inline, join(field, name))
		if canon.Check(v) != nil {
			r.wrong(join(field, name), "is not a JSON value")
			return nil
		}
		return v.Canonical()
	case file != "":
		return r.read(join(field, name+"File"), file)
	}
	return nil
}

func (r *reader) read(field, file string) []byte {
	src, err := readFile(r.path(file))
	if err != nil {
		r.wrong(field, "%v", err)
	} else if len(src) == 0 {
		r.wrong(field, "the file is empty")
	}
	return src
}

func (r *reader) normalize(field string, n normalize) schema.Options {
	out := schema.Options{NullMeansAbsent: n.NullMeansAbsent, Coerce: n.Coerce, Unknown: schema.UnknownMode(n.Unknown)}
	switch out.Unknown {
	case "", schema.UnknownReject, schema.UnknownStrip, schema.UnknownKeep:
	default:
		r.wrong(join(field, "unknown"), "must be reject, strip or keep")
	}
	for _, t := range n.Transforms {
		out.Transforms = append(out.Transforms, schema.Transform{Pointer: t.At, Name: t.Apply})
	}
	return out
}

func (r *reader) duration(field, text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		r.wrong(field, "must be a duration such as 60s")
	}
	return d
}

// definition reads the pin. The tool belongs to the server whose name stands
// before the first dot.
func (r *reader) definition(field string, d *definition, s *catalog.Spec) {
	if d == nil {
		return
	}
	field = join(field, "definition")
	server, upstream, ok := strings.Cut(s.Name, ".")
	if !ok || server == "" || upstream == "" {
		r.wrong(field, "only a tool called SERVER.TOOL has a definition")
		return
	}
	s.Server = server
	if (d.Raw == "") == (d.File == "") {
		r.wrong(field, "needs either raw or file")
		return
	}
	s.Definition = []byte(d.Raw)
	if d.File != "" {
		s.Definition = r.read(join(field, "file"), d.File)
	}
	pin, err := canon.ParseDigest(d.SHA256)
	if err != nil {
		r.wrong(field, "sha256: %v", err)
	}
	s.Pin = pin
}

func (r *reader) marks(field string, t tool, s *catalog.Spec) {
	for i, u := range t.Resolve {
		made, ok := r.resolvers[u.Use]
		if !ok {
			r.wrong(join(field, "resolve")+"["+strconv.Itoa(i)+"]", "there is no resolver %q in this file, or it is wrong", u.Use)
			continue
		}
		s.Resolvers = append(s.Resolvers, resolve.Rule{Name: u.Use, From: u.From, Into: u.Into, Resolver: made})
	}
	for _, m := range t.Identity {
		s.Identity = append(s.Identity, identity.Member{Pointer: m.At, Names: m.Names, Fill: m.Fill})
	}
	for _, x := range t.Targets {
		s.Targets = append(s.Targets, catalog.TargetRule{Type: x.Type, Pointer: x.At})
	}
	s.Limits = r.counts(join(field, "limits"), t.Limits)
	for i, text := range t.Groups {
		req, ok := requirement(text)
		if !ok {
			r.wrong(join(field, "groups")+"["+strconv.Itoa(i)+"]", "write a requirement as GROUP:VOTES|GROUP:VOTES")
			continue
		}
		s.Groups = append(s.Groups, req)
	}
	if l := t.Lookup; l != nil {
		s.Lookup = &catalog.Lookup{Tool: l.Tool, Arguments: l.Arguments, At: l.At, Is: l.Is}
	}
	if d := t.DryRun; d != nil {
		s.DryRun = &catalog.DryRun{Argument: d.Argument, Tool: d.Tool, Required: d.Required == nil || *d.Required,
			Recheck: d.Recheck, Compare: d.Compare, Timeout: r.duration(join(field, "dryRun.timeout"), d.Timeout)}
	}
}

// requirement reads "admin:1|finance:2". Votes are one where unsaid.
func requirement(text string) (action.Requirement, bool) {
	var out action.Requirement
	for _, part := range strings.Split(text, "|") {
		name, votes, said := strings.Cut(strings.TrimSpace(part), ":")
		g := action.Group{Name: name, Votes: 1}
		if said {
			n, err := strconv.Atoi(votes)
			if err != nil || n < 1 {
				return out, false
			}
			g.Votes = n
		}
		if name == "" {
			return out, false
		}
		out.AnyOf = append(out.AnyOf, g)
	}
	return out, true
}
