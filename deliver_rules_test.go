package verbatim_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
)

const internalReason = "internal: account 4711 is watched"

// outcomes brings about one outcome of each status.
func outcomes(t *testing.T, mode policy.ResultMode, look func(name string, s *stage, o verbatim.Outcome, err error)) {
	t.Helper()
	for _, tc := range []struct {
		name string
		d    policy.Decision
		raw  string
		do   func(context.Context, execute.Input) (execute.Output, error)
	}{
		{"ok", policy.Decision{Effect: policy.Allow}, `{}`, nil},
		{"denied", policy.Decision{Effect: policy.Deny}, `{}`, nil},
		{"approval_required", policy.Decision{Effect: policy.RequireApproval}, `{}`, nil},
		{"invalid_arguments", policy.Decision{Effect: policy.Allow}, `{"text":5}`, nil},
		{"failed", policy.Decision{Effect: policy.Allow}, `{}`, failing(errors.New(internalReason))},
		{"uncertain", policy.Decision{Effect: policy.Allow}, `{}`, failing(execute.ErrLost)},
	} {
		tc.d.Reason, tc.d.PublicReason, tc.d.ResultMode = internalReason, "said in public", mode
		s := newStage(t, parts{policy: answering(tc.d), gate: func(c *verbatim.Config) { c.ArgumentErrors = mode }})
		s.probe.set(tc.do)
		o, err := s.Gate.Call(t.Context(), s.Session(), verbatim.Call{Tool: s.name, Arguments: []byte(tc.raw)})
		look(tc.name, s, o, err)
	}
}

func TestThrowModeDeliversTypedErrors(t *testing.T) {
	t.Parallel()
	outcomes(t, policy.Throw, func(name string, _ *stage, o verbatim.Outcome, err error) {
		var denied *verbatim.DeniedError
		var required *verbatim.ApprovalRequiredError
		var arguments *verbatim.ArgumentsError
		var failed *verbatim.FailedError
		var uncertain *verbatim.UncertainError
		got := map[string]bool{"ok": err == nil, "denied": errors.As(err, &denied), "approval_required": errors.As(err, &required),
			"invalid_arguments": errors.As(err, &arguments), "failed": errors.As(err, &failed), "uncertain": errors.As(err, &uncertain)}
		if !got[name] || string(o.Status) != name {
			t.Errorf("%s: status %s, error %v", name, o.Status, err)
		}
		if err != nil && strings.Contains(err.Error(), internalReason) {
			t.Errorf("%s: the error tells the internal reason", name)
		}
		if required != nil && required.Outcome.ActionID == "" {
			t.Error("the suspended proposal has no name")
		}
	})
}

func TestToolResultModeDeliversTheEnvelope(t *testing.T) {
	t.Parallel()
	outcomes(t, policy.ToolResult, func(name string, _ *stage, o verbatim.Outcome, err error) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text := o.Envelope()
		var members map[string]json.RawMessage
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatal(err)
		}
		for m := range members {
			switch m {
			case "status", "class", "code", "publicReason", "data":
			default:
				t.Errorf("%s: envelope has a member %s", name, m)
			}
		}
		if string(members["status"]) != `"`+name+`"` || string(members["code"]) == "" {
			t.Errorf("%s: envelope %s", name, text)
		}
		class := ""
		if name == "denied" {
			class = `"tool_forbidden"`
		}
		if string(members["class"]) != class {
			t.Errorf("%s: class %s", name, members["class"])
		}
		if strings.Contains(string(text)+o.Sentence(), internalReason) {
			t.Errorf("%s: the model is told the internal reason", name)
		}
		if o.Sentence() == "" {
			t.Errorf("%s: no sentence", name)
		}
	})
}

func TestArgumentErrorsAreAResultByDefaultAndDenialsAnError(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.Deny), gate: func(c *verbatim.Config) { c.ArgumentErrors, c.Denials = "", "" }})
	o, err := s.Gate.Call(t.Context(), s.Session(), verbatim.Call{Tool: s.name, Arguments: []byte(`[]`)})
	if err != nil || o.Mode != policy.ToolResult {
		t.Errorf("arguments: mode %q, %v", o.Mode, err)
	}
	o, err = s.Gate.Call(t.Context(), s.Session(), verbatim.Call{Tool: s.name, Arguments: []byte(`{}`)})
	var denied *verbatim.DeniedError
	if !errors.As(err, &denied) || o.Mode != policy.Throw {
		t.Errorf("denial: mode %q, %v", o.Mode, err)
	}
}

func TestPolicySaysHowItsDenialIsDelivered(t *testing.T) {
	t.Parallel()
	for _, mode := range []policy.ResultMode{policy.Throw, policy.ToolResult} {
		other := map[policy.ResultMode]policy.ResultMode{policy.Throw: policy.ToolResult, policy.ToolResult: policy.Throw}[mode]
		s := newStage(t, parts{policy: answering(policy.Decision{Effect: policy.Deny, Reason: "r", ResultMode: mode}),
			gate: func(c *verbatim.Config) { c.Denials = other }})
		_, err := s.Gate.Call(t.Context(), s.Session(), verbatim.Call{Tool: s.name, Arguments: []byte(`{}`)})
		if (err != nil) != (mode == policy.Throw) {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

func TestViolationsNamePlacesAndNeverValues(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: ordinary("note", `{"type":"object","properties":{"pin":{"type":"string","maxLength":2}},"additionalProperties":false}`)})
	o := s.call(`{"pin":"SECRET-VALUE","SECRET-NAME":1}`)
	want(t, o, verbatim.StatusInvalidArguments, verbatim.CodeInvalidArguments)
	text := string(o.Envelope()) + o.Sentence() + o.Violations.Error()
	if strings.Contains(text, "SECRET") {
		t.Errorf("an argument is printed: %s", text)
	}
	var got []string
	for _, v := range o.Violations {
		got = append(got, v.Pointer)
	}
	if diff := cmp.Diff([]string{"/<unknown>", "/pin"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestEnvelopeCarriesTheToolsAnswerOnlyIfItIsJSON(t *testing.T) {
	t.Parallel()
	for out, wanted := range map[string]string{`{"a":9007199254740993}`: `{"a":9007199254740993}`, `not json`: ""} {
		s := newStage(t, parts{spec: catalog.Spec{Name: "x", Schema: []byte(noteSchema), Read: true, Reason: "r"}})
		s.probe.set(func(context.Context, execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: []byte(out)}, nil
		})
		var e struct {
			Data struct{ Output json.RawMessage }
		}
		if err := json.Unmarshal(s.call(`{}`).Envelope(), &e); err != nil {
			t.Fatal(err)
		}
		if string(e.Data.Output) != wanted {
			t.Errorf("output %s", e.Data.Output)
		}
	}
}
