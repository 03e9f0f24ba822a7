package verbs

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// maxText is the longest text of a record in bytes; a longer one is recorded
// by its digest. Names that the model chose may be of any length.
const maxText = 256

// Facts are the references of one record; empty ones are left out.
type Facts map[string]string

// Secrets are what one record commits to; empty ones are left out.
type Secrets map[string][]byte

// Entry is a record ready to be written. ID and Salt are random.
type Entry struct {
	audit.Record
	Salt audit.Salt
}

// NewEntry completes a record: its time, its references, its commitments.
// Its number is the store's to give. The facts are the record's from then on.
func NewEntry(now time.Time, r audit.Record, f Facts, s Secrets) Entry {
	e := newEntry(now, r, f)
	e.Commitments = make(map[string]string, len(s))
	for name, value := range s {
		if len(value) > 0 {
			e.Commitments[name] = e.Salt.Commit(name, value)
		}
	}
	return e
}

// newEntry is NewEntry without commitments.
func newEntry(now time.Time, r audit.Record, f Facts) Entry {
	e := Entry{Record: r, Salt: audit.NewSalt()}
	e.ID, e.At = "rec_"+rand.Text(), now
	if f == nil {
		f = Facts{}
	}
	e.Facts = f
	for _, text := range [...]*string{&e.Tool, &e.Agent, &e.By, &e.Code} {
		*text = short(*text)
	}
	for name, value := range f {
		switch kept := short(value); {
		case value == "":
			delete(f, name)
		case kept != value:
			f[name] = kept
		}
	}
	return e
}

// secret is something that a record commits to: a text, or what is none.
type secret struct {
	name, text string
	raw        []byte
}

// likelySecrets is how many secrets a record of a new action has at most.
const likelySecrets = 12

// secretsOf is a list of secrets by name.
func secretsOf(list []secret) Secrets {
	s := make(Secrets, len(list))
	for _, x := range list {
		if s[x.name] = x.raw; x.raw == nil {
			s[x.name] = []byte(x.text)
		}
	}
	return s
}

// commit has the record commit to secrets; empty ones are left out. The
// commitments share their memory.
func (e *Entry) commit(list []secret) {
	const size = 2 * len(canon.Digest{})
	e.Commitments = make(map[string]string, len(list))
	var room [size * likelySecrets]byte
	all := room[:0]
	for _, x := range list {
		switch {
		case len(x.raw) > 0:
			d := e.Salt.Digest(x.name, x.raw)
			all = hex.AppendEncode(all, d[:])
		case x.text != "":
			d := e.Salt.DigestText(x.name, x.text)
			all = hex.AppendEncode(all, d[:])
		}
	}
	rest := string(all)
	for _, x := range list {
		if len(x.raw) > 0 || x.text != "" {
			e.Commitments[x.name], rest = rest[:size], rest[size:]
		}
	}
}

// Lease completes the record of a run that begins: until when it is held.
func (e *Entry) Lease(until time.Time) { e.Facts[factLease] = until.Format(time.RFC3339Nano) }

// short keeps a text that fits a record and is UTF-8, else its digest.
func short(text string) string {
	if len(text) <= maxText && utf8.ValidString(text) {
		return text
	}
	return "sha256:" + canon.Sum([]byte(text)).String()
}

// about starts the record of a change of one action.
func about(event string, from action.State, a action.Action, by string) audit.Record {
	r := audit.Record{Event: event, Tenant: a.Tenant, Action: a.ID, Tool: a.Tool, Agent: a.Agent, By: by,
		From: string(from), To: string(a.State), Code: a.Decision.Code}
	if from == "" {
		r.From = string(action.Received)
	}
	return r
}

// likelyFacts is for how many facts a record gets room at first: so many that
// those of a run that begins need no more.
const likelyFacts = 14

// rulesText is empty where no rule decided.
func rulesText(a *action.Action) string {
	if len(a.Decision.Rules) == 0 {
		return ""
	}
	return ListText(a.Decision.Rules)
}

// proposed are the references of a record that brings a new action.
func proposed(a *action.Action) Facts {
	f := make(Facts, likelyFacts)
	for _, fact := range [...]struct{ name, text string }{
		{"kind", string(a.Kind)}, {"effect", a.Decision.Effect}, {"policyVersion", a.Decision.PolicyVersion},
		{"mutation", strconv.FormatBool(a.Mutation)}, {"highImpact", strconv.FormatBool(a.HighImpact)},
		{"owner", a.Owner}, {"task", a.Task}, {"grant", a.GrantID}, {"supersedes", a.Supersedes}, {"model", a.Model},
		{"callId", a.CallID}, {"rules", rulesText(a)}, {"resolvers", resolversText(a)},
	} {
		if fact.text != "" {
			f[fact.name] = fact.text
		}
	}
	if !a.Definition.IsZero() {
		f["definition"] = a.Definition.String()
	}
	if a.Terms != nil {
		f["approvalDigest"] = a.Terms.Digest.String()
	}
	return f
}

// resolversText names who resolved what, without the answers.
func resolversText(a *action.Action) string {
	if len(a.Evidence) == 0 {
		return ""
	}
	names := make([]string, len(a.Evidence))
	for i, e := range a.Evidence {
		names[i] = e.Pointer + " " + e.Resolver + " " + e.Version
	}
	return ListText(names)
}

// payloadOf adds what the record of a new action commits to. Targets and the
// proposal hash are among it: short arguments can be guessed from either.
func payloadOf(a *action.Action, list []secret) []secret {
	list = append(list, secret{name: "raw", raw: a.Payload.Raw}, secret{name: "requested", text: a.Payload.Requested},
		secret{name: "arguments", text: a.Payload.Args}, secret{name: "preview", text: a.Payload.Preview},
		secret{name: "proposalHash", text: a.Hash.String()}, secret{name: "reason", text: a.Decision.Reason},
		secret{name: "facts", text: a.Payload.Facts}, secret{name: "key", text: a.Key})
	if len(a.Targets) > 0 {
		list = append(list, secret{name: "targets", text: TargetsText(a.Targets)})
	}
	if len(a.Evidence) > 0 {
		list = append(list, secret{name: "evidence", text: EvidenceText(a.Evidence)})
	}
	return list
}
