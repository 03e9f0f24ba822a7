package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
)

// post sends a body to the decision API of a served endpoint.
func (s *served) post(path, body string) (int, canon.Value) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.context(), http.MethodPost, strings.TrimSuffix(s.url, "/mcp")+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Client{Transport: withToken{endpointToken}}).Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	v, err := canon.Decode(text, canon.Options{})
	if err != nil {
		s.t.Fatalf("%d %s: %v", answer.StatusCode, text, err)
	}
	return answer.StatusCode, v
}

// The decision API stands beside /mcp: a call over plain HTTP waits for a
// person and runs once, at the server of a command.
func TestServeHasTheDecisionAPIBesideMCP(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "200ms")
	s := p.serve("  notes: {command: notes-mcp, env: {NOTES: " + p.notes + "}}\n")
	p.setup()
	const body = `{"toolName":"notes.add","arguments":"{\"text\":\"over-http\"}"`
	status, got := s.post("/v1/call", body+"}")
	id, _ := got.Lookup("/outcome/data/actionId")
	if status != http.StatusAccepted || id.Text() == "" {
		t.Fatalf("%d %s", status, got.Canonical())
	}
	if status, got := s.post("/v1/call", body+`,"approval":"`+id.Text()+`"}`); status != http.StatusAccepted {
		t.Errorf("before the approval: %d %s", status, got.Canonical())
	}
	p.approve(id.Text())
	for range 2 { // the second may not run again
		status, got = s.post("/v1/call", body+`,"approval":"`+id.Text()+`"}`)
	}
	if status == http.StatusAccepted {
		t.Errorf("after the approval: %d %s", status, got.Canonical())
	}
	if diff := cmp.Diff([]string{"over-http"}, p.written()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	log, err := os.ReadFile(s.log)
	if err != nil || strings.Contains(string(log), "canary") {
		t.Errorf("the log holds a secret, %v:\n%s", err, log)
	}
}
