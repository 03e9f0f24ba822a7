package corpus_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/internal/corpus"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

func TestGrantForAnotherActionIsNotShown(t *testing.T) {
	t.Parallel()
	frozen, err := snapshot.FreezeGo(map[string]any{"order": "1"})
	if err != nil {
		t.Fatal(err)
	}
	proposal := snapshot.Propose("assistant", "cancel", frozen)
	own, other := canon.Digest(proposal.Hash), canon.Sum([]byte("another action"))
	for _, tc := range []struct {
		name        string
		given, seen identity.Grant
	}{
		{"a yes to this action", identity.Grant{ID: corpus.Yes, Digest: own}, identity.Grant{ID: corpus.Yes, Digest: own}},
		{"a yes to another action", identity.Grant{ID: corpus.Yes, Digest: other}, identity.Grant{}},
		{"a yes to nothing", identity.Grant{ID: corpus.Yes}, identity.Grant{}},
		{"this action named", identity.Grant{ID: corpus.Named, Digest: own}, identity.Grant{ID: corpus.Named, Digest: own}},
		{"another action named", identity.Grant{ID: corpus.Named, Digest: other}, identity.Grant{}},
		{"authority of another kind", identity.Grant{ID: "contract", Digest: other}, identity.Grant{ID: "contract", Digest: other}},
		{"none", identity.Grant{}, identity.Grant{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var seen identity.Grant
			engine := corpus.Confirmed(policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
				seen = in.Session.Grant
				return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
			}))
			in := policy.Input{Proposal: proposal, Session: identity.Session{Grant: tc.given}}
			if d, err := engine.Decide(t.Context(), in); err != nil || d.Effect != policy.Allow {
				t.Fatalf("got %s, %v", d.Effect, err)
			}
			if diff := cmp.Diff(tc.seen, seen); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVersionFollowsTheInnerRules(t *testing.T) {
	t.Parallel()
	one := corpus.Confirmed(policy.FromFunc("v1", silent)).Version("cancel")
	two := corpus.Confirmed(policy.FromFunc("v2", silent)).Version("cancel")
	if one == two || one == "v1" {
		t.Errorf("versions %s and %s", one, two)
	}
}

func silent(context.Context, policy.Input) (policy.Decision, error) { return policy.Decision{}, nil }
