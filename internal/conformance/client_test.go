//go:build conformance

package conformance_test

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// clientVariable is the path of the client that this test binary runs through
// a gateway, when the suite starts it as a client.
const clientVariable = "VERBATIM_SUITE_CLIENT"

// sides are the client's scenarios that a gateway can be between: not those of
// authorization, which it does not do for its clients, and not what is the
// client's alone.
var sides = []string{"initialize", "tools_call", "request-metadata", "elicitation-sep1034-client-defaults", "sep-2322-client-request-state",
	"json-schema-ref-no-deref", "json-schema-2020-12-preservation", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers"}

// TestAClientOfTheSuite is no test: it is the client that the suite starts, a
// gateway before the suite's server with the Go SDK's client before it.
func TestAClientOfTheSuite(t *testing.T) {
	client := os.Getenv(clientVariable)
	if client == "" {
		return
	}
	cmd := exec.Command(client, gatewayBefore(t, flag.Arg(0), nil))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("the client: %v", err)
	}
}

var checks = regexp.MustCompile(`Passed: (\d+)/(\d+), (\d+) failed`)

// asClient runs one scenario for a client, and returns its score.
func asClient(t *testing.T, scenario, command string) string {
	t.Helper()
	text, _ := suite(t, "client", "--command", command, "--scenario", scenario)
	m := checks.FindStringSubmatch(text)
	if m == nil {
		return "no score: " + text[max(0, len(text)-800):]
	}
	return m[1] + " of " + m[2] + " passed"
}

// A server that looks at its client closely sees through the gateway what it
// sees of the client alone.
func TestTheGatewayIsTheClientThatItsClientIs(t *testing.T) {
	client := built(t, "everything-client")
	self, err := os.Executable()
	if err == nil && strings.ContainsAny(self+client, " ") {
		err = errors.New("the suite splits commands at spaces")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(clientVariable, filepath.ToSlash(client))
	good := 0
	for _, scenario := range sides {
		alone := asClient(t, scenario, client)
		before := asClient(t, scenario, self+" -test.run=^TestAClientOfTheSuite$")
		t.Logf("%s: alone %s, through the gateway %s", scenario, alone, before)
		if reason := otherwise[scenario]; alone != before && reason == "" {
			t.Errorf("%s: alone %s, through the gateway %s", scenario, alone, before)
		}
		if alone == before {
			good++
		}
	}
	if good < len(sides)/2 {
		t.Errorf("%d of %d scenarios score the same", good, len(sides))
	}
}

// otherwise are the scenarios that see another client, and why that is meant.
var otherwise = map[string]string{
	"elicitation-sep1034-client-defaults": "the client speaks 2026-07-28, in which answers ask; the server an older revision, in which it asks by itself",
	"http-custom-headers":                 "null where the schema does not allow it is refused and not sent",
	"http-standard-headers":               "the gateway lists as well, so that one check more is made, and passes",
}
