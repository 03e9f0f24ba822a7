package verifier_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/internal/needs"
	"github.com/seed-de4804fb/verbatim/internal/wycheprooftest"
)

// TestWycheproofCheckpointsAndReceipts: what both checkers verify signatures
// of logs with.
func TestWycheproofCheckpointsAndReceipts(t *testing.T) {
	t.Parallel()
	const file = "ed25519_test.json"
	type question struct {
		Key     string `json:"key"`
		Message string `json:"message"`
		Sig     string `json:"sig"`
	}
	vectors := wycheprooftest.Read(t, file, 151)
	var questions []question
	for _, v := range vectors {
		text, err := audit.LogKey("log.example/x", v.Raw)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := note.NewVerifier(text)
		if err != nil {
			t.Fatal(err)
		}
		v.Check(t, "ours, "+file, ours.Verify(v.Message, v.Sig))
		questions = append(questions, question{hex.EncodeToString(v.Raw), hex.EncodeToString(v.Message), hex.EncodeToString(v.Sig)})
	}
	asked, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), needs.Peer(t, "node"), filepath.Join("testdata", "check.mjs"), "signatures")
	c.Stdin = bytes.NewReader(asked)
	out, err := c.Output()
	var holds []bool
	if err == nil {
		err = json.Unmarshal(out, &holds)
	}
	if err != nil || len(holds) != len(vectors) {
		t.Fatalf("%d answers: %v", len(holds), err)
	}
	for i, v := range vectors {
		v.Check(t, "the independent one, "+file, holds[i])
	}
}
