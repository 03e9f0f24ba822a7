package approval

import (
	"bytes"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// version is the format version of what is hashed here.
const version = 1

// Digest computes the approval digest of an action whose Terms hold nonce,
// requestedAt, expiresAt and the preview's digest (semantics §8): SHA-256 of
// the RFC 8785 form of all that the approval binds.
func Digest(a action.Action) canon.Digest {
	return canon.Sum(binding(a).Canonical())
}

func binding(a action.Action) canon.Value {
	t := a.Terms
	return object(
		"v", canon.IntValue(version),
		"tenant", str(a.Tenant),
		"principal", str(a.Principal),
		"agentName", str(a.Agent),
		"toolName", str(a.Tool),
		"toolDefinitionDigest", digest(a.Definition),
		"targets", targets(a.Targets),
		"proposalHash", str(a.Hash.String()),
		"dryRunDigest", digest(t.Preview),
		"policyVersion", str(a.Decision.PolicyVersion),
		"resolvers", resolvers(a.Evidence),
		"task", str(a.Task),
		"grant", grant(a),
		"requestedAt", moment(t.RequestedAt),
		"expiresAt", moment(t.ExpiresAt),
		"nonce", str(t.Nonce),
	)
}

// VoteDigest is what a vote signs: SHA-256 of the RFC 8785 form of the
// approval digest, the vote, the voter, the server's nonce and, where there is
// one, the reason.
func VoteDigest(v action.Vote) canon.Digest {
	return canon.Sum(VotePayload(v))
}

// withReason is the version of a vote whose reason is signed, too.
const withReason = 2

// VotePayload is the RFC 8785 form that VoteDigest hashes; it is the payload
// of the vote's DSSE envelope. A vote without a reason is of version 1.
func VotePayload(v action.Vote) []byte {
	if v.Reason != "" {
		return votePayload(v, withReason, canon.Member{Name: "reason", Value: str(v.Reason)})
	}
	return votePayload(v, version)
}

// VoteForms are the payloads that a vote may have been signed with: that of
// VotePayload, and that of before reasons were signed. In the second, nobody
// vouches for the reason.
func VoteForms(v action.Vote) [][]byte {
	now, before := VotePayload(v), votePayload(v, version)
	if bytes.Equal(now, before) {
		return [][]byte{now}
	}
	return [][]byte{now, before}
}

func votePayload(v action.Vote, version int64, more ...canon.Member) []byte {
	word := "reject"
	if v.Approve {
		word = "approve"
	}
	return canon.ObjectValue(append(object(
		"v", canon.IntValue(version),
		"approvalDigest", str(v.Digest.String()),
		"vote", str(word),
		"voter", str(v.Voter),
		"nonce", str(v.Nonce),
	).Members(), more...)...).Canonical()
}

// object builds an object from names and values in turn.
func object(pairs ...any) canon.Value {
	members := make([]canon.Member, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		members = append(members, canon.Member{Name: pairs[i].(string), Value: pairs[i+1].(canon.Value)})
	}
	return canon.ObjectValue(members...)
}

func str(s string) canon.Value { return canon.StringValue(s) }

// digest writes an unset digest as null, so that "none" cannot be forged.
func digest(d canon.Digest) canon.Value {
	if d.IsZero() {
		return canon.NullValue()
	}
	return str(d.String())
}

// moment writes a time as whole milliseconds since 1970, UTC: stores keep it
// exactly.
func moment(t time.Time) canon.Value { return canon.IntValue(t.UnixMilli()) }

func targets(ts []snapshot.Target) canon.Value {
	out := make([]canon.Value, len(ts))
	for i, t := range ts {
		out[i] = object("type", str(t.Type), "id", str(t.ID))
	}
	return canon.ArrayValue(out...)
}

// resolvers binds who answered and what, not the version of the table: an
// unrelated new row must not void an approval.
func resolvers(es []snapshot.Evidence) canon.Value {
	out := make([]canon.Value, len(es))
	for i, e := range es {
		out[i] = object("pointer", str(e.Pointer), "resolver", str(e.Resolver), "digest", digest(e.Digest))
	}
	return canon.ArrayValue(out...)
}

func grant(a action.Action) canon.Value {
	if a.GrantID == "" {
		return canon.NullValue()
	}
	return object("id", str(a.GrantID), "digest", digest(a.GrantDigest))
}
