package approval_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

func sample() action.Action {
	at := time.UnixMilli(1_900_000_000_123).UTC()
	return action.Action{Tenant: "acme", Principal: "maria", Agent: "Support Agent", Tool: "bank.pay", Task: "task-1",
		GrantID: "g1", GrantDigest: canon.Sum([]byte("g")), Definition: canon.Sum([]byte("d")),
		Hash:     snapshot.ProposalHash(canon.Sum([]byte("h"))),
		Targets:  []snapshot.Target{{Type: "Vendor", ID: "VENDOR-001"}},
		Evidence: []snapshot.Evidence{{Pointer: "/vendorId", Resolver: "vendors", Version: "7", Digest: canon.Sum([]byte("a"))}},
		Decision: action.Decision{PolicyVersion: "0123456789abcdef.4"},
		Payload:  action.Payload{Args: `{"vendorId":"VENDOR-001"}`},
		Terms: &action.Terms{Nonce: "n-1", RequestedAt: at, ExpiresAt: at.Add(time.Hour), Preview: canon.Sum([]byte("p")),
			Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}}}
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TestDigestIsThatOfTheWrittenForm writes the RFC 8785 form by hand.
func TestDigestIsThatOfTheWrittenForm(t *testing.T) {
	t.Parallel()
	form := fmt.Sprintf(`{"agentName":"Support Agent","dryRunDigest":%q,"expiresAt":1900003600123,"grant":{"digest":%q,"id":"g1"},`+
		`"nonce":"n-1","policyVersion":"0123456789abcdef.4","principal":"maria","proposalHash":%q,"requestedAt":1900000000123,`+
		`"resolvers":[{"digest":%q,"pointer":"/vendorId","resolver":"vendors"}],"targets":[{"id":"VENDOR-001","type":"Vendor"}],`+
		`"task":"task-1","tenant":"acme","toolDefinitionDigest":%q,"toolName":"bank.pay","v":1}`,
		sha("p"), sha("g"), sha("h"), sha("a"), sha("d"))
	if got := approval.Digest(sample()).String(); got != sha(form) {
		t.Errorf("digest %s, want %s", got, sha(form))
	}
	bare := sample()
	bare.GrantID, bare.GrantDigest, bare.Terms.Preview, bare.Targets, bare.Evidence = "", canon.Digest{}, canon.Digest{}, nil, nil
	form = fmt.Sprintf(`{"agentName":"Support Agent","dryRunDigest":null,"expiresAt":1900003600123,"grant":null,`+
		`"nonce":"n-1","policyVersion":"0123456789abcdef.4","principal":"maria","proposalHash":%q,"requestedAt":1900000000123,`+
		`"resolvers":[],"targets":[],"task":"task-1","tenant":"acme","toolDefinitionDigest":%q,"toolName":"bank.pay","v":1}`,
		sha("h"), sha("d"))
	if got := approval.Digest(bare).String(); got != sha(form) {
		t.Errorf("digest without the optional members %s, want %s", got, sha(form))
	}
}

func TestVoteSignsTheWrittenForm(t *testing.T) {
	t.Parallel()
	v := action.Vote{Voter: "ada", Approve: true, Digest: canon.Sum([]byte("x")), Nonce: "n"}
	form := fmt.Sprintf(`{"approvalDigest":%q,"nonce":"n","v":1,"vote":"approve","voter":"ada"}`, sha("x"))
	if string(approval.VotePayload(v)) != form || approval.VoteDigest(v).String() != sha(form) {
		t.Errorf("payload %s", approval.VotePayload(v))
	}
	v.Approve = false
	if string(approval.VotePayload(v)) == form {
		t.Error("a rejection signs the same")
	}
}

func TestAReasonIsSignedWithTheVote(t *testing.T) {
	t.Parallel()
	v := action.Vote{Voter: "ada", Digest: canon.Sum([]byte("x")), Nonce: "n", Reason: "too much"}
	before := fmt.Sprintf(`{"approvalDigest":%q,"nonce":"n","v":1,"vote":"reject","voter":"ada"}`, sha("x"))
	form := fmt.Sprintf(`{"approvalDigest":%q,"nonce":"n","reason":"too much","v":2,"vote":"reject","voter":"ada"}`, sha("x"))
	if got := string(approval.VotePayload(v)); got != form {
		t.Errorf("payload %s", got)
	}
	if forms := approval.VoteForms(v); len(forms) != 2 || string(forms[0]) != form || string(forms[1]) != before {
		t.Errorf("forms %s", forms)
	}
	v.Method = action.MethodPasskey
	if got := string(approval.VotePayload(v)); got != form {
		t.Errorf("a passkey signs %s", got)
	}
	v.Approve = true
	if got := string(approval.VotePayload(v)); !strings.Contains(got, `"reason":"too much"`) || got == form {
		t.Errorf("a yes with a comment signs %s", got)
	}
	v.Reason = ""
	if forms := approval.VoteForms(v); len(forms) != 1 || !strings.Contains(string(forms[0]), `"v":1`) {
		t.Errorf("without a reason it signs %s", forms)
	}
}

func TestMovedAndStaleNameTheMember(t *testing.T) {
	t.Parallel()
	if m := approval.Moved(sample(), sample()) + approval.Stale(sample(), sample()); m != "" {
		t.Errorf("the same action differs in %q", m)
	}
	for want, change := range map[string]func(*action.Action){
		"/vendorId": func(a *action.Action) { a.Evidence[0].Digest[0]++ },
		"resolvers": func(a *action.Action) { a.Evidence = nil },
		"targets":   func(a *action.Action) { a.Targets[0].ID = "VENDOR-002" },
		"arguments": func(a *action.Action) { a.Payload.Args = `{}` },
	} {
		now := sample()
		if change(&now); approval.Moved(sample(), now) != want {
			t.Errorf("moved: got %q, want %q", approval.Moved(sample(), now), want)
		}
	}
	for what, change := range map[string]func(*action.Action){
		"resolver": func(a *action.Action) { a.Evidence[0].Resolver = "people" },
		"member":   func(a *action.Action) { a.Evidence[0].Pointer = "/payeeId" },
	} {
		now := sample()
		if change(&now); approval.Moved(sample(), now) != "/vendorId" {
			t.Errorf("another %s with the same answer: got %q", what, approval.Moved(sample(), now))
		}
	}
	version := sample()
	if version.Evidence[0].Version = "8"; approval.Moved(sample(), version) != "" {
		t.Error("an unrelated row of the table voids the approval")
	}
	for want, change := range map[string]func(*action.Action){
		"tenant":               func(a *action.Action) { a.Tenant = "x" },
		"principal":            func(a *action.Action) { a.Principal = "x" },
		"agentName":            func(a *action.Action) { a.Agent = "x" },
		"toolName":             func(a *action.Action) { a.Tool = "x" },
		"toolDefinitionDigest": func(a *action.Action) { a.Definition[0]++ },
		"proposalHash":         func(a *action.Action) { a.Hash[0]++ },
		"policyVersion":        func(a *action.Action) { a.Decision.PolicyVersion = "x" },
		"task":                 func(a *action.Action) { a.Task = "" },
		"grant":                func(a *action.Action) { a.GrantDigest[0]++ },
	} {
		now := sample()
		if change(&now); approval.Stale(sample(), now) != want {
			t.Errorf("stale: got %q, want %q", approval.Stale(sample(), now), want)
		}
	}
}

type verifier func(action.Vote) error

func (f verifier) VerifyVote(_ context.Context, v action.Vote) error { return f(v) }

func TestEveryVoteIsVerified(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	second := verifier(func(v action.Vote) error {
		if v.Voter == "bob" {
			return bad
		}
		return nil
	})
	if err := approval.CheckVotes(t.Context(), second, []action.Vote{{Voter: "ada"}, {Voter: "bob"}}); !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
	if err := approval.CheckVotes(t.Context(), second, []action.Vote{{Voter: "ada"}}); err != nil {
		t.Error(err)
	}
	if err := approval.CheckVotes(t.Context(), nil, nil); !errors.Is(err, approval.ErrNoVerifier) {
		t.Errorf("got %v", err)
	}
}
