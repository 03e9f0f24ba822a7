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

// overStdio are the scenarios that a server which is a command cannot pass
// behind the gateway, and why that is meant.
var overStdio = map[string]string{
	"elicitation-sep1034-defaults": asksNobody, "elicitation-sep1330-enums": asksNobody, "tools-call-elicitation": asksNobody, "tools-call-sampling": asksNobody,
	"tools-call-with-logging": "messages on a pipe belong to no call that could be told",
}

const asksNobody = "what a server asks on a pipe belongs to no call that could be told, so no client is asked"

// The same server as a command scores behind the gateway what it scores alone
// over HTTP, but for what needs a stream of its own.
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
			want, got := compared(scores(t, alone)), compared(scores(t, before))
			for name := range overStdio {
				delete(want, name)
				delete(got, name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("scores (-alone +through the gateway):\n%s", diff)
			}
		})
	}
}
