package warrant

import (
	"encoding/hex"
	"errors"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

// Type is the DSSE payload type of a warrant.
const Type = "application/vnd.verbatim.warrant.v1+json"

// MaxLife is the longest time between signing and the send deadline.
const MaxLife = 30 * time.Second

// Kind says what a warrant lets run.
type Kind string

// The kinds. A preview must change nothing.
const (
	Mutation Kind = "mutation"
	Read     Kind = "read"
	Preview  Kind = "preview"
)

// Errors says what the tool's own report that it failed is worth.
type Errors string

// What it is worth. Where it is unclear, nobody knows after it whether the
// tool had an effect.
const (
	Reported Errors = "reported"
	Unclear  Errors = "unclear"
)

// Warrant is what a gateway says: this attempt may start at this executor,
// with exactly these arguments, until SendBy.
type Warrant struct {
	Issuer   string // name of the log that has the record
	Audience string // the executor
	Kind     Kind

	Tenant    string
	Principal string
	Agent     string
	Tool      string // catalog name

	Action      string // id of the action, or of the decision of a read
	Attempt     int    // 0 for what has no attempt: reads and previews
	Fence       int64  // moves whenever the attempt is sent again
	ProviderKey string // idempotency key of the attempt; "" if it has none
	Errors      Errors // what a report that the tool failed is worth

	Proposal canon.Digest // proposal hash (docs/spec/proposal-hash.md)
	Args     canon.Digest // SHA-256 of argsCanonicalJson

	IssuedAt time.Time // whole milliseconds
	SendBy   time.Time // the tool is not called at this moment or later
}

// ErrWarrant is returned for a warrant that cannot be signed.
var ErrWarrant = errors.New("not a warrant")

// ProposalHash is the hash of a call by its agent, tool and canonical
// arguments (docs/spec/proposal-hash.md).
func ProposalHash(agent, tool, argsCanonicalJSON string) canon.Digest {
	var room [likely]byte
	out := canon.AppendText(append(room[:0], `{"agentName":`...), agent)
	out = canon.AppendText(append(out, `,"argsCanonicalJson":`...), argsCanonicalJSON)
	out = canon.AppendText(append(out, `,"kind":"tool","toolName":`...), tool)
	return canon.Sum(append(out, '}'))
}

// Sign returns the warrant as the RFC 8785 form of a DSSE envelope. It fails
// with ErrWarrant where a checker would not take it, or where the key is not
// one for warrants.
func (w Warrant) Sign(s *keys.Signer) ([]byte, error) {
	if s == nil || s.Purpose() != keys.Warrants || !w.whole() {
		return nil, ErrWarrant
	}
	var room [likely]byte
	return s.SignJSON(Type, w.appendTo(room[:0])), nil
}

// whole: every field that a warrant must have has a value that it can have.
func (w Warrant) whole() bool {
	for _, s := range []string{w.Issuer, w.Audience, w.Tenant, w.Principal, w.Agent, w.Tool, w.Action} {
		if s == "" {
			return false
		}
	}
	life := w.SendBy.Sub(w.IssuedAt)
	attempt := w.Attempt > 0 && w.Fence > 0 && w.ProviderKey != ""
	none := w.Attempt == 0 && w.Fence == 0 && w.ProviderKey == ""
	known := w.Kind == Mutation && attempt && w.Errors == Unclear ||
		(w.Kind == Mutation && attempt || (w.Kind == Read || w.Kind == Preview) && none) && w.Errors == Reported
	return known && life > 0 && life <= MaxLife && w.IssuedAt.Year() > 1969 && w.SendBy.Year() < 10000 &&
		w.IssuedAt.Equal(w.IssuedAt.Truncate(time.Millisecond)) && w.SendBy.Equal(w.SendBy.Truncate(time.Millisecond)) &&
		!w.Proposal.IsZero() && !w.Args.IsZero()
}

// stamp is how times are written: UTC, exactly three digits of a second.
const stamp = "2006-01-02T15:04:05.000Z"

// likely is the room that most payloads need, in bytes.
const likely = 1 << 10

// appendTo appends the RFC 8785 form of a warrant, whose names are in their order.
func (w Warrant) appendTo(out []byte) []byte {
	text := func(before, value string) { out = canon.AppendText(append(out, before...), value) }
	plain := func(before string, value []byte) {
		out = append(hex.AppendEncode(append(append(out, before...), '"'), value), '"')
	}
	number := func(before string, n int64) { out = append(append(out, before...), canon.IntValue(n).Canonical()...) }
	moment := func(before string, t time.Time) {
		out = append(t.UTC().AppendFormat(append(append(out, before...), '"'), stamp), '"')
	}
	text(`{"actionId":`, w.Action)
	text(`,"agentName":`, w.Agent)
	plain(`,"argsDigest":`, w.Args[:])
	number(`,"attempt":`, int64(w.Attempt))
	text(`,"audience":`, w.Audience)
	text(`,"errors":`, string(w.Errors))
	number(`,"fence":`, w.Fence)
	moment(`,"issuedAt":`, w.IssuedAt)
	text(`,"issuer":`, w.Issuer)
	text(`,"kind":`, string(w.Kind))
	text(`,"principal":`, w.Principal)
	plain(`,"proposalHash":`, w.Proposal[:])
	text(`,"providerKey":`, w.ProviderKey)
	moment(`,"sendDeadline":`, w.SendBy)
	text(`,"tenant":`, w.Tenant)
	text(`,"toolName":`, w.Tool)
	return append(out, `,"v":1}`...)
}

// parse reads a payload whose signature holds. Only what appendTo writes is a
// warrant, byte for byte.
func parse(payload []byte) (Warrant, bool) {
	v, err := canon.Decode(payload, canon.Options{MaxBytes: maxPayload, MaxDepth: 2, Exact: true})
	if err != nil {
		return Warrant{}, false
	}
	text := func(name string) string {
		member, _ := v.Get(name)
		if member.Kind() != canon.String {
			return ""
		}
		return member.Text()
	}
	number := func(name string) int64 {
		member, _ := v.Get(name)
		if member.Kind() != canon.Number {
			return -1
		}
		n, ok := member.Int64()
		if !ok {
			return -1
		}
		return n
	}
	w := Warrant{Issuer: text("issuer"), Audience: text("audience"), Kind: Kind(text("kind")), Tenant: text("tenant"),
		Principal: text("principal"), Agent: text("agentName"), Tool: text("toolName"), Action: text("actionId"),
		Attempt: int(number("attempt")), Fence: number("fence"), ProviderKey: text("providerKey"), Errors: Errors(text("errors"))}
	var bad [4]error
	w.Proposal, bad[0] = canon.ParseDigest(text("proposalHash"))
	w.Args, bad[1] = canon.ParseDigest(text("argsDigest"))
	w.IssuedAt, bad[2] = time.Parse(stamp, text("issuedAt"))
	w.SendBy, bad[3] = time.Parse(stamp, text("sendDeadline"))
	if errors.Join(bad[:]...) != nil || !w.whole() || string(w.appendTo(nil)) != string(payload) {
		return Warrant{}, false
	}
	return w, true
}
