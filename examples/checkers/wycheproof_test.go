package checkers_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/seed-de4804fb/verbatim/internal/needs"
	"github.com/seed-de4804fb/verbatim/internal/wycheprooftest"
)

// TestWycheproofSignaturesInPython: the checker in Python has Ed25519 of its
// own.
func TestWycheproofSignaturesInPython(t *testing.T) {
	t.Parallel()
	const file = "ed25519_test.json"
	vectors := wycheprooftest.Read(t, file, 151)
	var questions [][]string
	for _, v := range vectors {
		questions = append(questions, []string{hex.EncodeToString(v.Raw), hex.EncodeToString(v.Message), hex.EncodeToString(v.Sig)})
	}
	asked, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), needs.Program(t, "python3"), "-c", `import json, sys, warrant
print(json.dumps([warrant.signed(*map(bytes.fromhex, q)) for q in json.load(sys.stdin)]))`)
	c.Env = append(needs.Env(t), "PYTHONDONTWRITEBYTECODE=1")
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
		v.Check(t, file, holds[i])
	}
}
