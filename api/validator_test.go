package api_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/api"
	"github.com/seed-de4804fb/verbatim/internal/needs"
)

// judged has documents read by validators that we did not write, and returns
// what is wrong with each.
func judged(t *testing.T, documents []string) [][]string {
	t.Helper()
	input, err := json.Marshal(documents)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(needs.Peer(t, "node"), "../testdata/npm/openapi.mjs")
	cmd.Env, cmd.Stdin, cmd.Stderr = needs.Env(t), bytes.NewReader(input), t.Output()
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	if err := json.Unmarshal(text, &out); err != nil || len(out) != len(documents) {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

// The document is valid for the published schema of OpenAPI 3.1, its
// references lead somewhere, and its schemas compile; one fault of each kind
// put in is found, so that this would be seen.
func TestTheDocumentIsValidForOtherValidators(t *testing.T) {
	t.Parallel()
	document := string(api.OpenAPI())
	changes := []struct{ name, from, to string }{
		{"a place of a parameter", `"in": "query"`, `"in": "qery"`},
		{"a member of an operation", `"operationId"`, `"operationID"`},
		{"a reference to nothing", `#/components/schemas/Problem"`, `#/components/schemas/Problems"`},
		{"a keyword of no schema", `"additionalProperties"`, `"aditionalProperties"`},
		{"a type that is none", `"type": "integer"`, `"type": "int"`},
	}
	documents := []string{document}
	for _, c := range changes {
		documents = append(documents, strings.Replace(document, c.from, c.to, 1))
	}
	faults := judged(t, documents)
	if len(faults[0]) > 0 {
		t.Errorf("the document:\n%s", strings.Join(faults[0], "\n"))
	}
	for i, c := range changes {
		if documents[i+1] == document || len(faults[i+1]) == 0 {
			t.Errorf("%s: nobody minds", c.name)
		}
	}
}
