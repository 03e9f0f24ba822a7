package api_test

import (
	"context"
	"net/http"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// library is the tool up.note in process, under the rules of the world.
func library(t *testing.T) *verbatim.Gate {
	t.Helper()
	tool, err := verbatim.Untyped(catalog.Spec{Name: "up.note", Schema: []byte(noteSchema), Impact: catalog.Ordinary, Reason: "test",
		Identity: []identity.Member{{Pointer: "/owner", Names: identity.NamesPrincipal}}},
		execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
			t.Error("an attack ran in the library")
			return execute.Output{}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	return verbatimtest.New(t, verbatimtest.Config{Policy: rules(), Tools: []verbatim.Bound{tool}}).Gate
}

// The public table of attacks, and what only a schema or an identity refuses,
// has the same outcome over HTTP as in the library.
func TestAttacksHaveTheOutcomeOfTheLibrary(t *testing.T) {
	t.Parallel()
	w, gate := newWorld(t), library(t)
	attacks := map[string]string{"a wrong type": `{"text":5}`, "a missing member": `{}`, "an unknown member": `{"text":"a","x":1}`,
		"a name in another case": `{"Text":"a"}`, "a number in a string": `{"text":"a","n":"3"}`, "a fraction": `{"text":"a","n":1.5}`,
		"a null": `{"text":null}`, "JSON in a string": `"{\"text\":\"a\"}"`, "a prototype": `{"text":"a","__proto__":{"n":1}}`}
	for _, a := range verbatimtest.Attacks() {
		attacks[a.Name] = a.Spoil(`{"text":"a"}`)
	}
	for name, arguments := range attacks {
		o, err := gate.Call(t.Context(), w.Session(), verbatim.Call{Tool: "up.note", Arguments: []byte(arguments)})
		if err != nil || o.Status != verbatim.StatusInvalidArguments {
			t.Errorf("%s: the library says %+v, %v", name, o, err)
		}
		if !utf8.ValidString(arguments) { // a body that held it would be no JSON
			got := w.ask("maria", http.MethodPost, "/v1/call", `{"toolName":"up.note","arguments":"`+arguments+`"}`)
			if got.status != 400 || got.at("/code") != "invalid_request" {
				t.Errorf("%s: %d %s", name, got.status, got.text)
			}
			continue
		}
		got := w.call("maria", "up.note", arguments)
		said, _ := got.body.Get("outcome")
		if diff := cmp.Diff(canonical(t, o.Envelope()), string(said.Canonical())); got.status != 422 || diff != "" {
			t.Errorf("%s: %d (-library +HTTP):\n%s", name, got.status, diff)
		}
	}
	if len(w.seen()) > 0 {
		t.Errorf("these ran: %v", w.seen())
	}
}

func TestDismissWithdrawsWhatWaitsAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId")
	path := "/v1/actions/" + id + "/dismiss"
	for _, who := range []string{"bob", "foreign", "narrow"} {
		if got := w.ask(who, http.MethodPost, path, "{}"); got.status != 404 {
			t.Errorf("%s: %d %s", who, got.status, got.text)
		}
	}
	if got := w.ask("maria", http.MethodPost, path, `{"by":"ada"}`); got.status != 400 {
		t.Errorf("a member: %d %s", got.status, got.text)
	}
	if got := w.ask("maria", http.MethodPost, path, "{}"); got.status != 200 || got.at("/state") != "revoked" {
		t.Errorf("%d %s", got.status, got.text)
	}
	if got := w.ask("maria", http.MethodPost, path, "{}"); got.status != 409 || got.at("/code") != "too_late" {
		t.Errorf("again: %d %s", got.status, got.text)
	}
	if _, err := w.Vote(id, "ada", true); err == nil {
		t.Error("what was withdrawn was approved")
	}
	done := w.call("maria", "up.note", `{"text":"a"}`).at("/outcome/data/actionId")
	if got := w.ask("maria", http.MethodPost, "/v1/actions/"+done+"/dismiss", "{}"); got.status != 409 || got.at("/code") != "too_late" {
		t.Errorf("what has run: %d %s", got.status, got.text)
	}
}
