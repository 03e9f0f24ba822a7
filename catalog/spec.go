package catalog

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/schema"
)

// Spec is what a catalog says about one tool. [Define] checks it and fills in
// what is unsaid. The zero value of each field is the careful choice.
type Spec struct {
	// Name is server.tool for an upstream's tool, any name for one of the
	// library.
	Name   string
	Server string // "" in the library; then Definition is optional

	// Definition is the tool object of tools/list as the upstream sent it when
	// the tool was reviewed, and Pin its [DefinitionDigest]. A tool of a server
	// needs both. Title, Description and Schema default to what it says.
	Definition []byte
	Pin        canon.Digest

	Title       string
	Description string
	Sentence    string // see [Tool.Sentence]

	Schema         []byte         // the tool's own; needed without a Definition
	ProposalSchema []byte         // what the model is shown; nil: the tool's own
	Normalize      schema.Options // of the schema that is parsed
	CaseTwins      bool           // keep names that are equal but for case

	Read   bool   // it changes nothing; needs a Reason
	Impact Impact // "" means Irreversible; Ordinary needs a Reason
	Reason string
	Effect EffectClass // "" means Blind
	// Retention is how long after the first send the provider still knows its
	// key (keyed, keyed_cancel, local_tx), or the tool may be called again
	// (natural). 0: nothing is sent again or cancelled by itself.
	Retention time.Duration
	Lookup    *Lookup
	Errors    Errors        // "" means Unclear for financial and irreversible tools, Reported for the rest
	Timeout   time.Duration // 0 means DefaultTimeout; MinTimeout to MaxTimeout
	Groups    []action.Requirement

	Resolvers []resolve.Rule
	Identity  []identity.Member
	Targets   []TargetRule
	DryRun    *DryRun
	Secrets   []string
	Limits    []LimitUse // what runs add up to; of mutations only

	// Converts says that the tool converts between currencies. Bounds are the
	// members that bound what it may do then (semantics §3).
	Converts bool
	Bounds   []string
}

// The range of Spec.Timeout, and the default of DryRun.Timeout, which has the
// same range.
const (
	MinTimeout           = time.Second
	MaxTimeout           = 15 * time.Minute
	DefaultDryRunTimeout = 30 * time.Second

	// The range of Spec.Retention.
	MinRetention = time.Minute
	MaxRetention = 90 * 24 * time.Hour
)
