package daemon_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/keys"
)

// signing has the daemon sign the log of its store.
func signing(t *testing.T) (set func(*daemon.Config), with func(*running)) {
	t.Helper()
	k, err := keys.NewSigner(keys.Checkpoints, bytes.Repeat([]byte{9}, 32))
	if err != nil {
		t.Fatal(err)
	}
	var q *audit.Sequencer
	ready := make(chan struct{})
	return func(c *daemon.Config) {
			c.Sequence = func(ctx context.Context) (int, error) {
				select {
				case <-ready:
					return q.Turn(ctx)
				default:
					return 0, nil
				}
			}
		}, func(r *running) {
			if q, err = audit.NewSequencer(r.gate.Store, k); err != nil {
				t.Fatal(err)
			}
			close(ready)
		}
}

// TestEvidenceIsThereWithinASecond and shows no payload of a tool that has a
// secret member: nothing inside a text that was committed to can be masked.
func TestEvidenceIsThereWithinASecond(t *testing.T) {
	t.Parallel()
	set, with := signing(t)
	r := start(t, set)
	with(r)
	id := r.pending(`{"amount":5,"to":"x","pin":"canarypin"}`)
	var found daemon.Evidence
	var err error
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if found, err = r.client.Evidence(t.Context(), id, false); status(err) != http.StatusConflict || time.Now().After(until) {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := audit.ParseBundle([]byte(found.Bundle))
	if err != nil || b.Action != id || strings.Contains(found.Bundle, "canarypin") {
		t.Errorf("%s, %v", found.Bundle, err)
	}
	if found, err := r.client.Evidence(t.Context(), id, true); status(err) != http.StatusForbidden || found.Bundle != "" {
		t.Errorf("a payload with a secret member: %s, %v", found.Bundle, err)
	}
	if _, err := r.client.Evidence(t.Context(), "act_none", true); status(err) != http.StatusNotFound {
		t.Errorf("no such action: %v", err)
	}
}

func TestPayloadsWithoutSecretsAreShown(t *testing.T) {
	t.Parallel()
	set, with := signing(t)
	r := start(t, func(c *daemon.Config) {
		set(c)
		c.Tools = func(string) (*catalog.Tool, bool) { return nil, false }
	})
	with(r)
	id := r.pending(`{"amount":5,"to":"x"}`)
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		found, err := r.client.Evidence(t.Context(), id, true)
		if status(err) == http.StatusConflict && time.Now().Before(until) {
			continue
		}
		if err != nil || !strings.Contains(found.Bundle, `"opened"`) {
			t.Errorf("%s, %v", found.Bundle, err)
		}
		return
	}
}

// TestEraseNeedsAPersonAndAnEnd: what is open is not erased, and nobody's
// password erases nothing.
func TestEraseNeedsAPersonAndAnEnd(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	id := r.pending(`{"amount":5,"to":"x"}`)
	for name, w := range map[string]daemon.Withdrawal{"no reason": {Name: "ada", Password: "x"}, "no password": {Reason: "x", Name: "ada"}} {
		if _, err := r.client.Erase(t.Context(), id, w); status(err) < 400 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
