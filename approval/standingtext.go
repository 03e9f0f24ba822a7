package approval

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// ErrStatement is returned for text that is not a statement of a standing
// grant in exactly the form that [StandingStatement] writes.
var ErrStatement = errors.New("this is not the statement of a standing grant")

// StandingID is the id of a grant: it follows from its digest, which no other
// grant has, so that nobody can give the signatures another name.
func StandingID(d canon.Digest) string { return "sta_" + hex.EncodeToString(d[:16]) }

// ParseStanding reads a statement. What changes with use is zero. It fails
// with ErrStatement.
func ParseStanding(statement []byte) (action.StandingGrant, error) {
	v, err := canon.Decode(statement, canon.Options{Exact: true})
	if err != nil || v.Kind() != canon.Object {
		return action.StandingGrant{}, ErrStatement
	}
	r := reader{v}
	g := action.StandingGrant{Tenant: r.text("tenant"), Principal: r.text("principal"), Agent: r.text("agentName"), Owner: r.text("owner"), Task: r.text("task"),
		Tool: r.text("toolName"), Definition: r.digest("toolDefinitionDigest"), PolicyVersion: r.text("policyVersion"), Source: r.text("source"),
		MaxUses: int(r.int("maxUses")), StepUp: r.member("stepUp").Bool(), RequestedAt: r.moment("requestedAt"), ExpiresAt: r.moment("expiresAt"), Nonce: r.text("nonce")}
	if of := r.member("grant"); !of.IsNull() {
		g.GrantID, g.GrantDigest = reader{of}.text("id"), reader{of}.digest("digest")
	}
	for _, ways := range r.member("requirements").Elements() {
		var one action.Requirement
		for _, way := range ways.Elements() {
			one.AnyOf = append(one.AnyOf, action.Group{Name: reader{way}.text("name"), Votes: int(reader{way}.int("votes"))})
		}
		g.Requirements = append(g.Requirements, one)
	}
	g.Scope = readScope(r.member("scope"))
	g.Digest = StandingDigest(g)
	g.ID = StandingID(g.Digest)
	if !bytes.Equal(StandingStatement(g), statement) {
		return action.StandingGrant{}, ErrStatement
	}
	return g, nil
}

// ParseScope reads what [ScopeText] wrote. It fails with ErrStatement.
func ParseScope(text string) (action.Scope, error) {
	v, err := canon.Decode([]byte(text), canon.Options{Exact: true})
	if err != nil {
		return action.Scope{}, fmt.Errorf("%w: its scope", ErrStatement)
	}
	s := readScope(v)
	if ScopeText(s) != text {
		return action.Scope{}, fmt.Errorf("%w: its scope", ErrStatement)
	}
	return s, nil
}

func readScope(v canon.Value) action.Scope {
	var s action.Scope
	r := reader{v}
	for _, m := range r.member("members").Elements() {
		s.Members = append(s.Members, action.MemberRule{Pointer: reader{m}.text("pointer"), Rule: reader{m}.text("rule"), Value: reader{m}.text("value")})
	}
	on := r.member("targets")
	s.AnyTarget = on.IsNull()
	for _, t := range on.Elements() {
		s.Targets = append(s.Targets, snapshot.Target{Type: reader{t}.text("type"), ID: reader{t}.text("id")})
	}
	if sum := r.member("sum"); !sum.IsNull() {
		s.Sum, s.Total = reader{sum}.text("pointer"), reader{sum}.int("total")
	}
	return s
}

// reader reads members of an object; what is missing or of another kind is
// zero. Whoever reads compares the whole with its own form at the end.
type reader struct{ v canon.Value }

func (r reader) member(name string) canon.Value {
	if r.v.Kind() != canon.Object {
		return canon.NullValue()
	}
	m, there := r.v.Get(name)
	if !there {
		return canon.NullValue()
	}
	return m
}

func (r reader) text(name string) string { return r.member(name).Text() }

func (r reader) int(name string) int64 {
	n, _ := r.member(name).Int64()
	return n
}

func (r reader) moment(name string) time.Time { return time.UnixMilli(r.int(name)).UTC() }

func (r reader) digest(name string) canon.Digest {
	d, err := canon.ParseDigest(r.text(name))
	if err != nil {
		return canon.Digest{}
	}
	return d
}
