package verbatim_test

import (
	"context"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/decode"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// FuzzCall proposes any bytes: they are refused as input and nothing runs, or
// exactly their canonical form runs, under the hash that the outcome names.
func FuzzCall(f *testing.F) {
	for _, a := range verbatimtest.Attacks() {
		f.Add([]byte(a.Spoil(`{"a":1}`)))
	}
	for _, raw := range []string{`{}`, `{"text":"é","amount":1e2}`, `{"__proto__":{"a":[1,2.5,null,true]}}`, `{"a":0.1,"b":"\u0000"}`, `{"":""}`} {
		f.Add([]byte(raw))
	}
	var ran []string // of the call at hand; a worker makes one at a time
	bound, err := verbatim.Untyped(ordinary("any", `{"type":"object"}`), execute.HandlerFunc(
		func(_ context.Context, in execute.Input) (execute.Output, error) {
			ran = append(ran, string(in.JSON()))
			return execute.Output{Bytes: []byte(`{}`)}, nil
		}))
	if err != nil {
		f.Fatal(err)
	}
	fixture := verbatimtest.New(f, verbatimtest.Config{Tools: []verbatim.Bound{bound}, Policy: decide(policy.Allow)})
	f.Fuzz(func(t *testing.T, raw []byte) {
		ran = nil
		o, err := fixture.Gate.Call(t.Context(), fixture.Session(), verbatim.Call{Tool: "any", Arguments: raw})
		if err != nil {
			t.Fatal(err)
		}
		requested, refused := decode.Arguments(raw, decode.Options{})
		if o.Status == verbatim.StatusInvalidArguments {
			if refused == nil || len(ran) != 0 || o.ActionID != "" {
				t.Fatalf("refused at %s with %d runs, decoder says %v", o.Stage, len(ran), refused)
			}
			return
		}
		if o.Status != verbatim.StatusOK || len(ran) != 1 || refused != nil || ran[0] != string(requested.Canonical()) {
			t.Fatalf("%s, ran %q, decoder says %v", o.Code, ran, refused)
		}
		v, err := canon.Decode([]byte(ran[0]), canon.Options{})
		if err != nil {
			t.Fatal(err)
		}
		frozen, err := snapshot.Freeze(v)
		if err != nil || snapshot.Propose("Support Agent", "any", frozen).Hash.String() != o.ProposalHash {
			t.Fatalf("the hash is not that of what ran (%v)", err)
		}
	})
}
