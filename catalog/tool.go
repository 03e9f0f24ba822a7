package catalog

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/schema"
)

// EffectClass says what a repeated or lost request can do at the tool
// (reliability 1.1). It comes from the operator's catalog alone.
type EffectClass string

// The effect classes. Blind is the default.
const (
	LocalTx     EffectClass = "local_tx"
	Keyed       EffectClass = "keyed"
	KeyedCancel EffectClass = "keyed_cancel"
	Queryable   EffectClass = "queryable"
	Natural     EffectClass = "natural"
	Blind       EffectClass = "blind"
)

// Impact says why a mutation is high-impact. Ordinary is not.
type Impact string

// The impact classes.
const (
	Ordinary       Impact = "ordinary"
	Irreversible   Impact = "irreversible"
	Financial      Impact = "financial"
	Administrative Impact = "administrative"
	External       Impact = "external"
)

// Errors says what a tool's own error report proves about a mutation.
type Errors string

// The readings of a reported error. Unclear is the default for financial and
// irreversible tools, Reported for the rest.
const (
	ErrorsReported Errors = "reported"
	ErrorsUnclear  Errors = "unclear"
)

// Tool is one catalogued tool, complete: every default is filled in and every
// schema compiled. It is immutable after loading.
type Tool struct {
	Name         string // server.tool, or a plain name in the library
	Server       string // "" in the library
	UpstreamName string // the name that the upstream knows
	Title        string
	Description  string
	Sentence     string // template for people: "Pay {amountMinor|money} to {vendorId}"
	Definition   canon.Digest

	Cataloged bool   // false: listed by the upstream, not in the catalog
	Mutation  bool   // true unless the catalog says it only reads
	Impact    Impact // of a mutation
	Reason    string // the written reason for a class lower than the default
	Effect    EffectClass
	Retention time.Duration // how long after the first send the effect class holds; 0: nothing is sent again or cancelled
	Lookup    *Lookup       // how an attempt is looked up; nil: only as the handler can
	Errors    Errors
	Timeout   time.Duration
	Groups    []action.Requirement // who may approve; empty: the configuration's
	CaseTwins bool                 // keep names that are equal but for case

	Proposal  *schema.Schema // what the model is shown and what is parsed
	Own       *schema.Schema // the tool's own; the result must validate. May be Proposal itself
	Resolvers []resolve.Rule
	Identity  []identity.Member
	Targets   []TargetRule
	DryRun    *DryRun
	Secrets   []string // pointers that are masked wherever people look
	Limits    []LimitUse

	Converts bool     // it converts between currencies
	Bounds   []string // pointers of the members that bound a conversion
}

// HighImpact reports whether the tool never runs without its own approval.
func (t *Tool) HighImpact() bool { return t.Mutation && t.Impact != Ordinary }

// TargetRule says which resolved member names a thing that is acted on. A
// pointer to an array names every element; "*" goes through every element.
type TargetRule struct {
	Type    string
	Pointer string
}

// DryRun says how a preview is made. Exactly one of Argument, Tool and Func
// is set; none of them may be a mutation.
type DryRun struct {
	Argument string // pointer of a boolean argument that the model cannot send
	Tool     string // catalog name of a read tool that takes the same arguments
	Func     func(ctx context.Context, args canon.Value) (canon.Value, error)
	Required bool     // a preview is needed before the decision is durable
	Recheck  bool     // computed again before the run
	Compare  []string // members that count; empty: all
	Timeout  time.Duration
}

// DefaultTimeout bounds a run whose catalog entry does not say.
const DefaultTimeout = 60 * time.Second
