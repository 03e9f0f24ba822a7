package daemon

import (
	"crypto/ed25519"
	"fmt"
	"net/http"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/keys"
)

// SignedVotes are the signed votes of one action, oldest first, in the form
// that verifies without the daemon.
type SignedVotes struct {
	Action string       `json:"action"`
	Votes  []SignedVote `json:"votes"`
}

// SignedVote is one vote. Envelope is its DSSE envelope as RFC 8785 text;
// PublicKey is PEM of the key that signed it.
type SignedVote struct {
	Envelope  string `json:"envelope"`
	PublicKey string `json:"publicKey"`
}

func (d *Daemon) signedVotes(r *http.Request) (any, error) {
	a, err := d.find(r)
	if err != nil {
		return nil, err
	}
	votes, err := d.cfg.Gate.Votes(r.Context(), d.cfg.Tenant, a.ID)
	if err != nil {
		return nil, err
	}
	if g, err := d.cfg.Gate.CoveredBy(r.Context(), d.cfg.Tenant, a.ID); err == nil {
		return nil, refuse(http.StatusConflict, "a standing grant allowed it, not votes: verbatim grants export "+g.ID)
	}
	out := SignedVotes{Action: a.ID, Votes: []SignedVote{}}
	for i, v := range votes {
		key, err := signedBy(v, d.cfg.VoteKeys)
		if err != nil {
			return nil, fmt.Errorf("vote %d: %w", i+1, err)
		}
		out.Votes = append(out.Votes, SignedVote{string(v.Envelope), string(key)})
	}
	return out, nil
}

// signedBy returns the PEM of the key that signed a vote: the passkey that its
// envelope holds, or the one of the server's keys that fits.
func signedBy(v action.Vote, server []ed25519.PublicKey) ([]byte, error) {
	envelope, err := keys.ParseEnvelope(v.Envelope)
	if err != nil {
		return nil, err
	}
	if v.Method == action.MethodPasskey {
		p, err := keys.ClaimedPasskey(envelope)
		return p.PEM(), err
	}
	_, key, err := keys.VerifyOnly(envelope, approval.PayloadType, server...)
	if err != nil {
		return nil, err
	}
	return keys.PublicPEM(key)
}
