package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

// Define checks what a catalog says about one tool and completes it. The
// error names every field that is wrong.
func Define(s Spec) (*Tool, error) {
	d := draft{spec: s, tool: &Tool{
		Name: s.Name, Server: s.Server, UpstreamName: s.Name, Title: s.Title, Description: s.Description, Sentence: s.Sentence,
		Cataloged: true, Mutation: !s.Read, Reason: s.Reason, Groups: s.Groups, CaseTwins: s.CaseTwins,
		Resolvers: s.Resolvers, Identity: s.Identity, Targets: s.Targets, Secrets: s.Secrets,
		Limits: s.Limits, Converts: s.Converts, Bounds: s.Bounds,
	}}
	d.name()
	d.class()
	d.limits()
	d.definition()
	d.dryRun()
	if d.own.Kind() == canon.Object {
		d.schemas()
	}
	if d.tool.Proposal != nil {
		d.members()
	}
	if len(d.faults) > 0 {
		return nil, fmt.Errorf("tool %s: %w", printable(s.Name), errors.Join(d.faults...))
	}
	return d.tool, nil
}

// draft is a tool that is being checked.
type draft struct {
	spec   Spec
	tool   *Tool
	own    canon.Value // the tool's own schema document
	faults []error
}

func (d *draft) fault(format string, args ...any) {
	d.faults = append(d.faults, fmt.Errorf(format, args...))
}

// name checks the name. ASCII only: a name that looks like another tool's
// must not exist.
func (d *draft) name() {
	if err := checkName(d.spec.Name); err != nil {
		d.fault("name: %w", err)
	}
	if d.spec.Server == "" {
		return
	}
	upstream, ok := strings.CutPrefix(d.spec.Name, d.spec.Server+".")
	if !ok || upstream == "" {
		d.fault("name: must be %s.TOOL", printable(d.spec.Server))
	}
	// The first dot, or the first __ where names are shown to models, must end
	// the server's name: two servers must not have one name for two tools.
	if strings.Contains(d.spec.Server, ".") || strings.Contains(d.spec.Server+"_", "__") {
		d.fault("name: a server's name has neither . nor __ in it, and no _ at its end")
	}
	d.tool.UpstreamName = upstream
}

// MaxNameBytes is the longest tool name.
const MaxNameBytes = 256

var errName = errors.New("must be 1 to 256 of A-Z a-z 0-9 _ - . /")

func checkName(name string) error {
	if name == "" || len(name) > MaxNameBytes {
		return errName
	}
	for _, r := range name {
		if !nameRune(r) {
			return errName
		}
	}
	return nil
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./", r)
}

// printable keeps a name that was refused out of terminals and logs.
func printable(name string) string {
	if checkName(name) != nil {
		return "(unnamed)"
	}
	return name
}

// class fills in how much harm the tool can do.
func (d *draft) class() {
	s, t := d.spec, d.tool
	t.Impact, t.Effect, t.Errors = s.Impact, s.Effect, s.Errors
	switch {
	case s.Read && (s.Impact == "" || s.Impact == Ordinary):
		t.Impact = Ordinary
	case s.Read:
		d.fault("impact: a tool that only reads has none")
	case s.Impact == "":
		t.Impact = Irreversible
	case !slices.Contains([]Impact{Ordinary, Irreversible, Financial, Administrative, External}, s.Impact):
		d.fault("impact: must be ordinary, irreversible, financial, administrative or external")
	}
	if t.Impact == Ordinary && strings.TrimSpace(s.Reason) == "" {
		d.fault("reason: a tool that is less than high-impact needs one in writing")
	}
	if s.Effect == "" {
		t.Effect = Blind
	} else if !slices.Contains([]EffectClass{LocalTx, Keyed, KeyedCancel, Queryable, Natural, Blind}, s.Effect) {
		d.fault("effect: must be local_tx, keyed, keyed_cancel, queryable, natural or blind")
	}
	d.retention()
	d.lookup()
	switch s.Errors {
	case ErrorsReported, ErrorsUnclear:
	case "":
		t.Errors = ErrorsReported
		if t.Mutation && (t.Impact == Financial || t.Impact == Irreversible) {
			t.Errors = ErrorsUnclear
		}
	default:
		d.fault("errors: must be reported or unclear")
	}
}

func (d *draft) retention() {
	r := d.spec.Retention
	switch {
	case r == 0:
	case !slices.Contains([]EffectClass{LocalTx, Keyed, KeyedCancel, Natural}, d.spec.Effect):
		d.fault("retention: only for the effects local_tx, keyed, keyed_cancel and natural")
	case r < MinRetention || r > MaxRetention:
		d.fault("retention: must be %s to %s", MinRetention, MaxRetention)
	}
	d.tool.Retention = r
}

func (d *draft) limits() {
	d.tool.Timeout = d.duration("timeout", d.spec.Timeout, DefaultTimeout)
	for i, r := range d.spec.Groups {
		if len(r.AnyOf) == 0 || slices.ContainsFunc(r.AnyOf, func(g action.Group) bool { return g.Name == "" || g.Votes < 1 }) {
			d.fault("groups: requirement %d needs groups with a name and at least one vote", i+1)
		}
	}
}

func (d *draft) duration(field string, given, fallback time.Duration) time.Duration {
	if given == 0 {
		return fallback
	}
	if given < MinTimeout || given > MaxTimeout {
		d.fault("%s: must be %s to %s", field, MinTimeout, MaxTimeout)
	}
	return given
}

// definition reads the pinned definition and finds the tool's own schema.
func (d *draft) definition() {
	s := d.spec
	if len(s.Definition) == 0 {
		if s.Server != "" || !s.Pin.IsZero() {
			d.fault("definition: the tool of a server needs its definition and the digest")
		}
		d.ownSchema(s.Schema)
		return
	}
	if digest := DefinitionDigest(s.Definition); digest != s.Pin {
		d.fault("definition: its digest is %s, not the pinned one", digest)
		return
	}
	d.tool.Definition = s.Pin
	def, err := ReadDefinition(s.Definition)
	if err != nil {
		d.fault("definition: %w", err)
		return
	}
	if def.Name != d.tool.UpstreamName {
		d.fault("definition: it defines another tool name")
	}
	if len(s.Schema) > 0 {
		d.fault("schema: the definition has one")
	}
	d.own = def.InputSchema
	if s.Title == "" {
		d.tool.Title = def.Title
	}
	if s.Description == "" {
		d.tool.Description = def.Description
	}
}

// ownSchema reads the schema of a tool of the library. Its definition is what
// the model is told, so that an approval binds that as well.
func (d *draft) ownSchema(src []byte) {
	if len(src) == 0 {
		d.fault("schema: a tool without a definition needs one")
		return
	}
	v, err := canon.Decode(src, canon.Options{MaxBytes: maxDefinition})
	if err != nil {
		d.fault("schema: %w", err)
		return
	}
	if v.Kind() != canon.Object {
		d.fault("schema: must be an object")
		return
	}
	d.own = v
	d.tool.Definition = canon.Sum(canon.ObjectValue(
		canon.Member{Name: "name", Value: canon.StringValue(d.spec.Name)},
		canon.Member{Name: "title", Value: canon.StringValue(d.spec.Title)},
		canon.Member{Name: "description", Value: canon.StringValue(d.spec.Description)},
		canon.Member{Name: "inputSchema", Value: v},
	).Canonical())
}

// schemas compiles what is parsed and what its result is checked against.
// They are one schema only where nothing comes between the two.
func (d *draft) schemas() {
	proposal := d.spec.ProposalSchema
	apart := len(proposal) > 0 || len(d.spec.Resolvers) > 0
	if dry := d.tool.DryRun; dry != nil && dry.Argument != "" {
		apart = true
		if len(proposal) == 0 {
			proposal = d.withoutArgument(dry.Argument)
		}
	}
	if len(proposal) == 0 {
		proposal = d.own.Canonical()
	}
	parsed, err := schema.Compile(proposal, d.spec.Normalize)
	if err != nil {
		d.fault("proposal schema: %w", err)
		return
	}
	own := parsed
	if apart {
		if own, err = schema.Compile(d.own.Canonical(), schema.Options{}); err != nil {
			d.fault("schema: %w", err)
			return
		}
	}
	d.tool.Proposal, d.tool.Own = parsed, own
}
