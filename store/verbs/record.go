package verbs

import (
	"crypto/rand"
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
	e := Entry{Record: r, Salt: audit.NewSalt()}
	e.ID, e.At = "rec_"+rand.Text(), now
	if f == nil {
		f = Facts{}
	}
	e.Facts, e.Commitments = f, make(map[string]string, len(s))
	for _, text := range []*string{&e.Tool, &e.Agent, &e.By, &e.Code} {
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
	under := e.Salt.Committer()
	for name, value := range s {
		if len(value) > 0 {
			e.Commitments[name] = under.Commit(name, value)
		}
	}
	return e
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

// proposed are the references of a record that brings a new action.
func proposed(a action.Action) Facts {
	f := Facts{
		"kind": string(a.Kind), "effect": a.Decision.Effect, "policyVersion": a.Decision.PolicyVersion,
		"mutation": strconv.FormatBool(a.Mutation), "highImpact": strconv.FormatBool(a.HighImpact),
		"owner": a.Owner, "task": a.Task, "grant": a.GrantID, "supersedes": a.Supersedes, "model": a.Model,
		"callId": a.CallID, "rules": ListText(a.Decision.Rules), "resolvers": resolversText(a),
	}
	if !a.Definition.IsZero() {
		f["definition"] = a.Definition.String()
	}
	if len(a.Decision.Rules) == 0 {
		delete(f, "rules")
	}
	if a.Terms != nil {
		f["approvalDigest"] = a.Terms.Digest.String()
	}
	return f
}

// resolversText names who resolved what, without the answers.
func resolversText(a action.Action) string {
	if len(a.Evidence) == 0 {
		return ""
	}
	names := make([]string, len(a.Evidence))
	for i, e := range a.Evidence {
		names[i] = e.Pointer + " " + e.Resolver + " " + e.Version
	}
	return ListText(names)
}

// payloadOf is what the record of a new action commits to. Targets and the
// proposal hash are among it: short arguments can be guessed from either.
func payloadOf(a action.Action) Secrets {
	s := Secrets{
		"raw": a.Payload.Raw, "requested": []byte(a.Payload.Requested), "arguments": []byte(a.Payload.Args),
		"preview": []byte(a.Payload.Preview), "proposalHash": []byte(a.Hash.String()), "reason": []byte(a.Decision.Reason),
	}
	if len(a.Targets) > 0 {
		s["targets"] = []byte(TargetsText(a.Targets))
	}
	if len(a.Evidence) > 0 {
		s["evidence"] = []byte(EvidenceText(a.Evidence))
	}
	if a.Payload.Facts != "" {
		s["facts"] = []byte(a.Payload.Facts)
	}
	if a.Key != "" {
		s["key"] = []byte(a.Key)
	}
	return s
}
