package verbatim

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/shadow"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Session is the authenticated context of a call; see [identity.Session].
type Session = identity.Session

// Call is one proposed tool call. Arguments are the exact bytes that the
// model proposed; nothing may have decoded and re-encoded them.
type Call struct {
	Tool      string // catalog name
	Arguments []byte
	// ArgumentsAbsent: the protocol carried no arguments member at all, which
	// counts as {} and is recorded as absent. Empty bytes never do.
	ArgumentsAbsent bool

	Approval       string // id of the approval that this call names; "" if none
	IdempotencyKey string // scope: tenant and principal; "" if none
	Supersedes     string // id of an uncertain action that this call replaces

	Model      string // model name, as the host states it; recorded
	CallID     string // the provider's call id; recorded, never a key
	Turn       int
	RunContext any // opaque, for Go policies only

	// Wait is how long to hold the call while people decide. When they agree
	// in time it runs. 0 answers at once.
	Wait time.Duration
	// Suspended, if not nil, is told of the pending outcome when waiting
	// begins.
	Suspended func(Outcome)
	// Trace is the caller's trace context. It goes to Config.Observe and
	// nowhere else.
	Trace Trace
	Wire  Wire // likewise

	walked *walked // nil where nobody observes
}

// Handoff is one proposed transfer of control to another agent. It shares
// strict decoding, default-deny policy and hashing with calls; it has no
// schema and no normalization (semantics §6).
type Handoff struct {
	To             string
	Payload        []byte
	Approval       string
	IdempotencyKey string
	Turn           int
	RunContext     any
	Trace          Trace // as in [Call]

	walked *walked
}

// Bound is a catalogued tool and the code that runs it.
type Bound struct {
	Tool    *catalog.Tool
	Handler execute.Handler
	// Refused, if not "", is why the tool must not run at all, such as
	// CodeDefinitionChanged.
	Refused Code
	// Server names who stands behind the handler, where that is a server that
	// may be another one tomorrow under the same tool name: what it was sent is
	// looked up and sent again there only. Zero means the host's own code.
	Server canon.Digest
	// Audience is the name that warrants for the tool's executor bear, where it
	// checks them ([Gate.Authorize]); "" means that it checks none.
	Audience string
}

// Tools finds tools by catalog name. What it does not find is unknown_tool.
type Tools interface {
	Tool(name string) (Bound, bool)
}

// Toolset is a fixed set of tools.
type Toolset map[string]Bound

// Tool finds a tool by name.
func (t Toolset) Tool(name string) (Bound, bool) {
	b, ok := t[name]
	return b, ok
}

// proposal is one call on its walk: what each step has produced so far.
type proposal struct {
	session  Session
	call     Call
	tool     *catalog.Tool
	handler  execute.Handler
	server   canon.Digest
	audience string        // of the executor
	policy   policy.Engine // the one engine of this call
	handoff  *snapshot.Handoff
	refused  Code // a denial found before policy: unknown tool, identity spoof
	now      time.Time
	raw      []byte
	request  canon.Value // requested arguments; diagnostic
	parsed   canon.Value // after the schema, before the resolvers
	answered []resolve.Answered
	frozen   snapshot.Proposal
	mark     canon.Digest // fingerprint
	limits   []action.Limit
	watched  *shadow.Observation // what a candidate is to be told once the call has an id
}

// kind says what is proposed.
func (p *proposal) kind() action.Kind {
	if p.handoff != nil {
		return action.KindHandoff
	}
	return action.KindCall
}

// name is what policy and records call the thing proposed.
func (p *proposal) name() string { return p.tool.Name }
