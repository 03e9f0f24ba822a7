package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

func answer(t *testing.T, frame string) answered {
	t.Helper()
	m, err := wire.Parse([]byte(frame), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := readAnswer(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnswersHaveTheExitCodeOfTheirStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, frame, status, code string
		exit                      int
	}{
		{"a tool ran", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}]}}`, "ok", "ok", exitOK},
		{"a tool that says ok about a denial is no denial", `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"status":"denied","code":"policy_denied"}}}`, "ok", "ok", exitOK},
		{"a tool reports an error", `{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`, "failed", "tool_error", exitFailure},
		{"a tool's own codes are not ours", `{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true,"structuredContent":{"status":"denied","code":"my_code"}}}`, "failed", "tool_error", exitFailure},
		{"the gateway denied", `{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true,"structuredContent":{"status":"denied","code":"policy_denied"}}}`, "denied", "policy_denied", exitDenied},
		{"it waits", `{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true,"structuredContent":{"status":"approval_required","code":"no_approver"}}}`, "approval_required", "no_approver", exitApproval},
		{"nobody knows", `{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true,"structuredContent":{"status":"uncertain","code":"outcome_uncertain"}}}`, "uncertain", "outcome_uncertain", exitFailure},
		{"the frame was refused", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`, "invalid_arguments", "invalid_arguments", exitDenied},
		{"the server is broken", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`, "failed", "tool_error", exitFailure},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := answer(t, tt.frame)
			got, want := []any{a.Status, a.Code, a.exit()}, []any{tt.status, tt.code, tt.exit}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("status, code and exit code (-want +got):\n%s", diff)
			}
		})
	}
}

func TestV02CallShowsNumbersAsTheyCame(t *testing.T) {
	t.Parallel()
	const result = `{"content":[],"structuredContent":{"id":9007199254740993,"x":1.10}}`
	a := answer(t, `{"jsonrpc":"2.0","id":1,"result":`+result+`}`)
	if diff := cmp.Diff([]string{`{"id":9007199254740993,"x":1.10}`}, a.shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	if string(a.Result) != result {
		t.Errorf("result %s", a.Result)
	}
	var out bytes.Buffer
	if err := printJSON(&out, a); err != nil || !strings.Contains(out.String(), "9007199254740993") {
		t.Errorf("document %s, %v", out.String(), err)
	}
}

func TestArgumentsAreFramedWithoutChange(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"{\n \"a\" : 1.0,\n \"a\":9007199254740993}": `{"a":1.0,"a":9007199254740993}`,
		`{"b":"\ud800 <&>"}`:                         `{"b":"\ud800 <&>"}`,
	} {
		got, err := framed([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "{", "{}\n{}", `{"a":1}}`, `{"jsonrpc":"2.0"}` + "\n" + `{"id":2}`} {
		if got, err := framed([]byte(in)); err == nil {
			t.Errorf("%q became the frame %q", in, got)
		}
	}
}

func TestTextForATerminalKeepsQuotesAndShowsTheUnseen(t *testing.T) {
	t.Parallel()
	if got := plainJSON(`{"a":"x\ny"}`); got != `{"a":"x\ny"}` {
		t.Errorf("got %s", got)
	}
	if got := plainJSON("a\x1b[2J\u202eb"); strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("got %q", got)
	}
}
