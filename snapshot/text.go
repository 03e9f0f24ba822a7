package snapshot

import "github.com/seed-de4804fb/verbatim/canon"

// TargetsText is the RFC 8785 form of targets: how they are stored, and what
// the record of their action commits to.
func TargetsText(targets []Target) string {
	if len(targets) == 0 {
		return "[]"
	}
	out := make([]canon.Value, len(targets))
	for i, t := range targets {
		out[i] = texts("type", t.Type, "id", t.ID)
	}
	return string(canon.ArrayValue(out...).Canonical())
}

// EvidenceText is the RFC 8785 form of resolver evidence, likewise.
func EvidenceText(evidence []Evidence) string {
	if len(evidence) == 0 {
		return "[]"
	}
	out := make([]canon.Value, len(evidence))
	for i, e := range evidence {
		out[i] = texts("pointer", e.Pointer, "resolver", e.Resolver, "version", e.Version, "digest", e.Digest.String())
	}
	return string(canon.ArrayValue(out...).Canonical())
}

// texts is an object of names and texts, in turn.
func texts(pairs ...string) canon.Value {
	members := make([]canon.Member, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		members = append(members, canon.Member{Name: pairs[i], Value: canon.StringValue(pairs[i+1])})
	}
	return canon.ObjectValue(members...)
}
