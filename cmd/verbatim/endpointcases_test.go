package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// G09: nothing is keyed by the session of a protocol, which may last one
// request: what waits belongs to tenant, principal and proposal.
func TestG09WhatWaitsBelongsToTheCallerNotToASession(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "100ms")
	s := p.serve("  notes: {command: notes-mcp, env: {NOTES: " + p.notes + "}}\n")
	p.setup()
	const params = `{"text":"once"}`
	first := s.client("2025-11-25")
	asked := p.call(agent{ClientSession: first}, "add", params, "")
	if asked.Code != "approval_required" {
		t.Fatalf("%+v", asked)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"2026-07-28", "2025-06-18"} {
		if again := p.call(agent{ClientSession: s.client(version)}, "add", params, ""); again.Action != asked.Action {
			t.Errorf("%s: another session got another action: %+v", version, again)
		}
	}
	p.approve(asked.Action)
	if got := p.call(agent{ClientSession: s.client("2026-07-28")}, "add", params, asked.Action); got.Code != "" {
		t.Errorf("a session that did not ask: %+v", got)
	}
	if diff := cmp.Diff([]string{"once"}, p.written()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}
