//go:build conformance

package conformance_test

import (
	"log/slog"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// The same server as a command, one process for each session, scores behind
// the gateway what it scores alone over HTTP.
func TestTheGatewayScoresOverStdio(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			alone, ok := suite(t, "server", "--url", everythingServer(t, revision == "2026-07-28"), "--requirements", revision)
			if !ok {
				t.Fatalf("the server alone does not pass:\n%s", alone)
			}
			child := hub.Child(gate.Command{Path: built(t, "everything-server"), Env: os.Environ()}, os.Stderr, slog.New(slog.DiscardHandler))
			before, _ := suite(t, "server", "--url", gatewayFor(t, child, false, nil), "--requirements", revision)
			t.Logf("alone: %s; as a command, through the gateway: %s", total.FindString(alone), total.FindString(before))
			if diff := cmp.Diff(compared(scores(t, alone)), compared(scores(t, before))); diff != "" {
				t.Errorf("scores (-alone +through the gateway):\n%s", diff)
			}
		})
	}
}
