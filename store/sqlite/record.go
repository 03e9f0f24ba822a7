package sqlite

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// maxText is the longest text of a record in bytes; a longer one is recorded
// by its digest. Names that the model chose may be of any length.
const maxText = 256

// facts are the references of one record; empty ones are left out.
type facts map[string]string

// secrets are what one record commits to; empty ones are left out.
type secrets map[string][]byte

// record writes one entry of the audit log. If it cannot be written, the
// whole verb fails.
func (t *tx) record(r audit.Record, f facts, s secrets) error {
	last, err := t.number("SELECT coalesce(max(seq), 0) FROM event")
	if err != nil {
		return err
	}
	salt := audit.NewSalt()
	r.Seq, r.ID, r.At = last+1, "rec_"+rand.Text(), t.now
	r.Facts, r.Commitments = map[string]string{}, map[string]string{}
	for _, text := range []*string{&r.Tool, &r.Agent, &r.By, &r.Code} {
		*text = short(*text)
	}
	for name, value := range f {
		if value != "" {
			r.Facts[name] = short(value)
		}
	}
	for name, value := range s {
		if len(value) > 0 {
			r.Commitments[name] = salt.Commit(name, value)
		}
	}
	leaf, err := r.Leaf()
	if err != nil {
		return fmt.Errorf("record %s: %w", r.Event, err)
	}
	if _, err := t.exec(`INSERT INTO event (seq, id, at, tenant, event, action_id, leaf, salt) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Seq, r.ID, r.At, r.Tenant, r.Event, r.Action, leaf, salt[:]); err != nil {
		return fmt.Errorf("record %s: %w", r.Event, err)
	}
	return nil
}

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
func proposed(a action.Action) facts {
	f := facts{
		"kind": string(a.Kind), "effect": a.Decision.Effect, "policyVersion": a.Decision.PolicyVersion,
		"mutation": strconv.FormatBool(a.Mutation), "highImpact": strconv.FormatBool(a.HighImpact),
		"owner": a.Owner, "task": a.Task, "grant": a.GrantID, "supersedes": a.Supersedes, "model": a.Model,
		"callId": a.CallID, "rules": listText(a.Decision.Rules), "resolvers": resolversText(a),
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
	return listText(names)
}

// payloadOf is what the record of a new action commits to. Targets and the
// proposal hash are among it: short arguments can be guessed from either.
func payloadOf(a action.Action) secrets {
	s := secrets{
		"raw": a.Payload.Raw, "requested": []byte(a.Payload.Requested), "arguments": []byte(a.Payload.Args),
		"preview": []byte(a.Payload.Preview), "proposalHash": []byte(a.Hash.String()), "reason": []byte(a.Decision.Reason),
	}
	if len(a.Targets) > 0 {
		s["targets"] = []byte(targetsText(a.Targets))
	}
	if a.Key != "" {
		s["key"] = []byte(a.Key)
	}
	return s
}
