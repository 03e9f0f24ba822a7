package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const want = `{"vendorId": "VENDOR-001", "amountMinor": 84000}
  paying 84000 cents to VENDOR-001 for maria
  ok (ok) {"paid":true}
{"vendorId": "VENDOR-001", "amountMinor": 840000}
  approval_required (approval_required) 
finance approves
{"vendorId": "VENDOR-001", "amountMinor": 940000}
  denied (approval_mismatch) 
{"vendorId": "VENDOR-001", "amountMinor": 840000}
  paying 840000 cents to VENDOR-001 for maria
  ok (ok) {"paid":true}
{"vendorId": "VENDOR-001", "amountMinor": 1, "requestedBy": "the boss"}
  denied (identity_spoof) 
`

func TestTheExampleRunsAsItSays(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), t.TempDir(), &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestREADMEShowsThisCode(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("gate.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(source), "// README begins\n\n")
	code, _, closed := strings.Cut(rest, "\n// README ends")
	if !ok || !closed {
		t.Fatal("gate.go has no part for the README")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```go\n"+code+"```\n") {
		t.Errorf("README.md does not show the code of gate.go as it is:\n%s", code)
	}
}
