package corpus_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/corpus"
)

const allowAll = `permit (principal, action, resource);`

const askAll = `@decision("require_approval") @groups("owner:1") permit (principal, action, resource);`

// unowned takes the tables and marks out of a catalog.
var unowned = regexp.MustCompile(`(?m)^ {4}(resolve|identity):\n( {6}- .*\n)+`)

// TestBarsAreSeenFailing breaks a policy or a catalog on purpose. A bar that
// holds whatever the policy says would prove nothing.
func TestBarsAreSeenFailing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, domain string
		policy       string // "" as it is
		unowned      bool
		missed       []string
	}{
		{"a bank that allows everything", "banking", allowAll, false, []string{barAttack, barRefused}},
		{"a bank that asks for everything", "banking", askAll, false, []string{barReads, barMutations, barRefused}},
		{"a workspace that allows everything", "slack", allowAll, false, []string{barAttack}},
		{"an airline that allows everything still refuses strangers", "airline", allowAll, false, []string{barUnconfirmed}},
		{"an airline without tables and marks", "airline", "", true, []string{barAttack, barStranger}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			breach(t, folder, tc.domain, tc.policy, tc.unowned)
			if diff := cmp.Diff(tc.missed, missed(walked(t, folder, tc.domain))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// breach copies a domain's files with one thing broken.
func breach(t *testing.T, folder, domain, policy string, noOwners bool) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(folder, domain), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"catalog.yaml", "policy.cedar"} {
		data, err := os.ReadFile(corpus.Paths{Examples: examples}.File(domain, file))
		if err != nil {
			t.Fatal(err)
		}
		if file == "policy.cedar" && policy != "" {
			data = []byte(policy)
		}
		if file == "catalog.yaml" && noOwners {
			data = unowned.ReplaceAll(data, nil)
		}
		if err := os.WriteFile(filepath.Join(folder, domain, file), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
