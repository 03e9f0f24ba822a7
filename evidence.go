package verbatim

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// The ways in which there is no evidence yet, or none at all.
var (
	// ErrNotSigned: a sequencer adds records to the signed log within a second.
	ErrNotSigned = errors.New("the log has not signed all records of the action yet")
	// ErrEvidence: what the store holds is not what it recorded.
	ErrEvidence = errors.New("the store holds something other than it recorded")
)

// Evidence returns the evidence of one action as a bundle that verifies
// without the store (docs/spec/log.md). With payload it shows what the records
// committed to: arguments, targets, what resolvers answered, what policy was
// told beside them, preview, result; of an action that was erased it shows nothing, also where a backup that was put back still
// has what it committed to. The internal reason is never in it. It fails with action.ErrNotFound, ErrNotSigned or ErrEvidence.
func (g *Gate) Evidence(ctx context.Context, tenant, id string, payload bool) ([]byte, error) {
	b := audit.Bundle{Action: id}
	var err error
	if b.Checkpoint, err = g.cfg.Store.LatestCheckpoint(ctx); err != nil {
		return nil, err
	}
	entries, err := g.cfg.Store.Entries(ctx, audit.Selection{Tenant: tenant, Action: id, Most: audit.MaxEntries})
	switch {
	case err != nil:
		return nil, err
	case len(entries) == 0 || id == "":
		return nil, action.ErrNotFound
	}
	c, err := audit.ReadUntrusted(b.Checkpoint)
	if err != nil || entries[len(entries)-1].Index >= c.Size {
		return nil, ErrNotSigned
	}
	shown, votes, err := g.payloads(ctx, tenant, id, payload)
	if err != nil {
		return nil, err
	}
	for _, v := range votes {
		b.Votes = append(b.Votes, v.Envelope)
	}
	for _, e := range entries {
		p := audit.Proved{Index: e.Index, Leaf: e.Leaf}
		if p.Proof, err = audit.ProveInclusion(c.Size, e.Index, audit.HashesOf(ctx, g.cfg.Store)); err != nil {
			return nil, err
		}
		if shown != nil && e.Salt != nil {
			if p.Salt, p.Opened, err = open(e, shown, votes); err != nil {
				return nil, fmt.Errorf("record %d: %w", e.Index+1, err)
			}
		}
		b.Records = append(b.Records, p)
	}
	return b.JSON(), nil
}

// payloads are what records of an action may have committed to, by name, and
// the votes on it. There are none where nothing may be shown: a read has no
// row, and of what was erased not even the salts may leave.
func (g *Gate) payloads(ctx context.Context, tenant, id string, payload bool) (map[string][]byte, []action.Vote, error) {
	a, err := g.cfg.Store.Action(ctx, tenant, id)
	if errors.Is(err, action.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	votes, err := g.cfg.Store.Votes(ctx, tenant, id)
	if err != nil || !payload || !a.ErasedAt.IsZero() {
		return nil, votes, err
	}
	shown := map[string][]byte{"raw": a.Payload.Raw, "requested": []byte(a.Payload.Requested), "arguments": []byte(a.Payload.Args),
		"preview": []byte(a.Payload.Preview), "proposalHash": []byte(a.Hash.String()), "facts": []byte(a.Payload.Facts),
		"targets": []byte(snapshot.TargetsText(a.Targets)), "evidence": []byte(snapshot.EvidenceText(a.Evidence))}
	if a.Result != nil {
		shown["result"] = a.Result.Output
	}
	return shown, votes, nil
}

// open shows what one record committed to. What the record of an earlier
// state committed to and has been replaced since is left out.
func open(e audit.Entry, shown map[string][]byte, votes []action.Vote) ([]byte, map[string][]byte, error) {
	r, err := audit.ParseLeaf(e.Leaf)
	if err != nil || len(e.Salt) != audit.SaltSize {
		return nil, nil, ErrEvidence
	}
	salt, opened := audit.Salt(e.Salt), map[string][]byte{}
	for name, value := range shown {
		if len(value) == 0 || r.Commitments[name] == "" {
			continue
		}
		if salt.Check(r, name, value) {
			opened[name] = value
		} else if name != "result" { // a later end may have another
			return nil, nil, ErrEvidence
		}
	}
	for _, v := range votes {
		if salt.Check(r, "envelope", v.Envelope) {
			opened["envelope"] = v.Envelope
		}
	}
	return e.Salt, opened, nil
}
