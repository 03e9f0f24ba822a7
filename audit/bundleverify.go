package audit

import (
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

// Evidence is what a bundle proves.
type Evidence struct {
	Action    string               `json:"action"`
	Log       string               `json:"log"`
	Size      int64                `json:"size"` // of the log that the records are in
	ByLog     bool                 `json:"byLog"`
	Witnesses map[string]time.Time `json:"witnesses"`
	Steps     []Step               `json:"steps"`
	Votes     []SignedVote         `json:"votes"`
	Claim     string               `json:"claim"`
}

// Step is one record of the action.
type Step struct {
	Seq    int64             `json:"seq"`
	Record string            `json:"record"`
	Digest canon.Digest      `json:"digest"` // see [RecordDigest]
	At     time.Time         `json:"at"`
	Event  string            `json:"event"`
	By     string            `json:"by"`
	From   string            `json:"from"`
	To     string            `json:"to"`
	Code   string            `json:"code"`
	Facts  map[string]string `json:"facts"`
	// Opened is what the record was shown to have committed to.
	Opened map[string]string `json:"opened"`
}

// SignedVote is a vote whose signature holds.
type SignedVote struct {
	Payload string `json:"payload"` // RFC 8785 form of what was signed
	// Signer is who signed: "server" after a password, "passkey" the voter.
	Signer string `json:"signer"`
	// Trusted: a key that the checker pinned. A passkey's is only claimed by
	// the envelope that holds it.
	Trusted bool `json:"trusted"`
}

// Holds reports whether the evidence has a record that a receipt promised.
func (e Evidence) Holds(r Receipt) bool {
	for _, s := range e.Steps {
		if r.Log == e.Log && s.Digest == r.Digest && s.Record == r.Record && s.Event == r.Event && s.To == r.State && e.Action == r.Action {
			return true
		}
	}
	return false
}

// VerifyBundle checks a bundle with nothing but trusted keys: that the
// checkpoint is signed, that every record is in the log that it is of, that
// the records are of this action and follow each other, that what is shown is
// what was committed to, and that the votes are the recorded ones and signed.
// It fails with ErrBundle, ErrCheckpoint or ErrUntrusted.
func VerifyBundle(b Bundle, trust Trust) (Evidence, error) {
	o, err := trust.Open(b.Checkpoint)
	if err != nil {
		return Evidence{}, err
	}
	if b.Action == "" || len(b.Records) == 0 {
		return Evidence{}, fmt.Errorf("%w: it has no record", ErrBundle)
	}
	e := Evidence{Action: b.Action, Log: o.Origin, Size: o.Size, ByLog: o.ByLog, Witnesses: o.Witnesses, Claim: BundleClaim}
	for _, p := range b.Records {
		s, err := p.step(o.Head, b.Action)
		if err == nil {
			err = follows(e.Steps, s)
		}
		if err != nil {
			return Evidence{}, fmt.Errorf("%w: record %d: %w", ErrBundle, p.Index+1, err)
		}
		e.Steps = append(e.Steps, s)
	}
	if e.Votes, err = votesOf(e.Steps, b.Votes, trust, o.Origin); err != nil {
		return Evidence{}, fmt.Errorf("%w: %w", ErrBundle, err)
	}
	return e, nil
}

func (p Proved) step(head Head, action string) (Step, error) {
	r, digest, err := RecordDigest(p.Leaf)
	if err != nil {
		return Step{}, err
	}
	switch {
	case r.Seq != p.Index+1:
		return Step{}, fmt.Errorf("it says that it is number %d", r.Seq)
	case r.Action != action:
		return Step{}, fmt.Errorf("it is of another action")
	}
	if err := CheckInclusion(head, p.Index, LeafHash(p.Leaf), p.Proof); err != nil {
		return Step{}, err
	}
	s := Step{Seq: r.Seq, Record: r.ID, Digest: digest, At: r.At, Event: r.Event, By: r.By, From: r.From, To: r.To, Code: r.Code, Facts: r.Facts}
	if len(p.Opened) == 0 {
		return s, nil
	}
	if len(p.Salt) != SaltSize {
		return Step{}, fmt.Errorf("it has no salt")
	}
	s.Opened = map[string]string{}
	for name, value := range p.Opened {
		if !Salt(p.Salt).Check(r, name, value) {
			return Step{}, fmt.Errorf("what is shown as %s is not what it committed to", name)
		}
		s.Opened[name] = string(value)
	}
	return s, proposed(r, s.Opened)
}

// proposed computes the proposal hash of shown arguments again (RFC-0015).
func proposed(r Record, opened map[string]string) error {
	args, hasArgs := opened["arguments"]
	hash, hasHash := opened["proposalHash"]
	if !hasArgs || !hasHash || digested(r.Agent) || digested(r.Tool) {
		return nil
	}
	names := [3]string{"agentName", "toolName", "argsCanonicalJson"}
	kind := "tool"
	if r.Facts["kind"] == "handoff" {
		names, kind = [3]string{"fromAgentName", "toAgentName", "payloadCanonicalJson"}, "handoff"
	}
	sum := canon.Sum(canon.ObjectValue(canon.Member{Name: names[0], Value: canon.StringValue(r.Agent)},
		canon.Member{Name: names[1], Value: canon.StringValue(r.Tool)}, canon.Member{Name: names[2], Value: canon.StringValue(args)},
		canon.Member{Name: "kind", Value: canon.StringValue(kind)}).Canonical())
	if sum.String() != hash {
		return fmt.Errorf("the arguments do not hash to the proposal hash")
	}
	return nil
}

// digested: a text that is too long for a record is recorded by its digest.
func digested(text string) bool { return len(text) == 71 && text[:7] == "sha256:" }

// follows: the records of one action lead from one state to the next.
func follows(steps []Step, s Step) error {
	before := Step{To: "received"}
	if len(steps) > 0 {
		before = steps[len(steps)-1]
	}
	switch {
	case s.Seq <= before.Seq:
		return fmt.Errorf("it does not come after record %d", before.Seq)
	case s.From != before.To:
		return fmt.Errorf("it begins at %s, record %d ended at %s: one between them is missing", s.From, before.Seq, before.To)
	}
	return nil
}

// votePayloadType is the DSSE payload type of a vote.
const votePayloadType = "application/vnd.verbatim.vote.v1+json"

// votesOf matches each recorded vote with the envelope of the same digest.
func votesOf(steps []Step, envelopes [][]byte, trust Trust, origin string) ([]SignedVote, error) {
	var recorded []Step
	for _, s := range steps {
		if s.Event == VoteApprove || s.Event == VoteReject {
			recorded = append(recorded, s)
		}
	}
	if len(recorded) != len(envelopes) {
		return nil, fmt.Errorf("%d votes are recorded, %d are there", len(recorded), len(envelopes))
	}
	out := []SignedVote{}
	for i, text := range envelopes {
		v, err := openVote(text, trust, origin)
		if err != nil {
			return nil, fmt.Errorf("vote %d: %w", i+1, err)
		}
		if !recorded[i].isVote(v.Payload) {
			return nil, fmt.Errorf("vote %d is not the recorded one", i+1)
		}
		out = append(out, v)
	}
	return out, nil
}

// isVote reports whether a record tells of exactly the vote that was signed.
func (s Step) isVote(payload string) bool {
	v, err := canon.Decode([]byte(payload), canon.Options{MaxBytes: MaxLeaf, Exact: true})
	word := map[string]string{VoteApprove: "approve", VoteReject: "reject"}[s.Event]
	return err == nil && canon.Sum([]byte(payload)).String() == s.Facts["voteDigest"] && textOf(v, "vote") == word &&
		textOf(v, "voter") == s.By && textOf(v, "approvalDigest") == s.Facts["approvalDigest"]
}

func openVote(text []byte, trust Trust, origin string) (SignedVote, error) {
	e, err := keys.ParseEnvelope(text)
	if err != nil {
		return SignedVote{}, err
	}
	if !keys.IsPasskey(e) {
		payload, _, err := keys.VerifyOnly(e, votePayloadType, trust.plain[VoteName(origin)]...)
		return SignedVote{Payload: string(payload), Signer: "server", Trusted: true}, err
	}
	claimed, err := keys.ClaimedPasskey(e)
	if err != nil {
		return SignedVote{}, err
	}
	payload, _, err := keys.VerifyPasskey(e, votePayloadType, claimed)
	return SignedVote{Payload: string(payload), Signer: "passkey"}, err
}
