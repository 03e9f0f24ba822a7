package warrant_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/warrant"
)

func member(name, value string) canon.Member {
	return canon.Member{Name: name, Value: canon.StringValue(value)}
}

// odd are texts that nobody would write too.
func odd() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringN(1, 60, -1), rapid.StringMatching(`[a-z"\\<>&/\x00-\x1f]{1,40}`),
		rapid.SampledFrom([]string{"\xff", "é", "\u2028", "\U0001F600", "a\xc0\xaf"}))
}

// TestAWarrantIsWrittenAsItsTreeOfValues holds what is signed to the canonical
// form of the same members.
func TestAWarrantIsWrittenAsItsTreeOfValues(t *testing.T) {
	t.Parallel()
	s, text := signer(t, 1), odd()
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "ms"))
		w := warrant.Warrant{Issuer: text.Draw(t, "issuer"), Audience: text.Draw(t, "audience"), Kind: warrant.Read, Tenant: text.Draw(t, "tenant"),
			Principal: text.Draw(t, "principal"), Agent: text.Draw(t, "agent"), Tool: text.Draw(t, "tool"), Action: text.Draw(t, "action"), Errors: warrant.Reported,
			Proposal: canon.Sum([]byte("p")), Args: canon.Sum([]byte(text.Draw(t, "args"))), IssuedAt: at, SendBy: at.Add(time.Duration(rapid.Int64Range(1, 30_000).Draw(t, "life")) * time.Millisecond)}
		if rapid.Bool().Draw(t, "mutation") {
			w.Kind, w.Attempt, w.Fence, w.ProviderKey = warrant.Mutation, rapid.IntRange(1, 1<<53-1).Draw(t, "attempt"), rapid.Int64Min(1).Draw(t, "fence"), text.Draw(t, "key")
			w.Errors = rapid.SampledFrom([]warrant.Errors{warrant.Reported, warrant.Unclear}).Draw(t, "errors")
		}
		const stamp = "2006-01-02T15:04:05.000Z"
		want := canon.ObjectValue(canon.Member{Name: "v", Value: canon.IntValue(1)}, member("issuer", w.Issuer), member("audience", w.Audience),
			member("kind", string(w.Kind)), member("tenant", w.Tenant), member("principal", w.Principal), member("agentName", w.Agent), member("toolName", w.Tool),
			member("actionId", w.Action), canon.Member{Name: "attempt", Value: canon.IntValue(int64(w.Attempt))}, canon.Member{Name: "fence", Value: canon.IntValue(w.Fence)},
			member("providerKey", w.ProviderKey), member("errors", string(w.Errors)), member("proposalHash", w.Proposal.String()), member("argsDigest", w.Args.String()),
			member("issuedAt", w.IssuedAt.UTC().Format(stamp)), member("sendDeadline", w.SendBy.UTC().Format(stamp))).Canonical()
		envelope, err := w.Sign(s)
		if err != nil {
			t.Fatal(err)
		}
		e, err := keys.ParseEnvelope(envelope)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := keys.Verify(e, warrant.Type, s.Public()...)
		if diff := cmp.Diff(string(want), string(got)); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
	})
}

func TestAProposalHashIsThatOfItsTreeOfValues(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(odd(), rapid.Just(""), rapid.StringN(0, 3000, -1))
	rapid.Check(t, func(t *rapid.T) {
		agent, tool, args := text.Draw(t, "agent"), text.Draw(t, "tool"), text.Draw(t, "args")
		want := canon.Sum(canon.ObjectValue(member("agentName", agent), member("argsCanonicalJson", args), member("kind", "tool"), member("toolName", tool)).Canonical())
		if got := warrant.ProposalHash(agent, tool, args); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}
