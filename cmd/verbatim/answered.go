package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

const statusWaits = string(verbatim.StatusApprovalRequired)

// answered is what came back of a call.
type answered struct {
	Status   string          `json:"status"`
	Code     string          `json:"code"`
	Text     string          `json:"text,omitempty"` // what the model would read
	ActionID string          `json:"actionId,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"` // the result, or the error, as it came

	shown []string
}

// readAnswer tells an answer of the gateway from one of the tool. A server
// could imitate the gateway's form; it would gain a wrong exit code.
func readAnswer(m *wire.Message) (answered, error) {
	if m.Kind() == wire.KindError {
		return readFault(m.Fault())
	}
	a := answered{Status: string(verbatim.StatusOK), Code: string(verbatim.CodeOK), Result: m.Result()}
	v, err := canon.Decode(m.Result(), canon.Options{MaxBytes: canon.CeilingBytes})
	if err != nil { // the tool's answer is passed on as it is
		a.shown = []string{string(m.Result())}
		return a, nil
	}
	for _, part := range at(v, "content").Elements() {
		a.shown = append(a.shown, shownPart(part))
	}
	a.Text = strings.Join(a.shown, "\n")
	structured := at(v, "structuredContent")
	if len(a.shown) == 0 { // the bytes as they came: a decoded number may have been rounded
		if raw, found, err := m.Member("/result/structuredContent"); err == nil && found {
			a.shown = []string{string(raw)}
		}
	}
	if !at(v, "isError").Bool() {
		return a, nil
	}
	a.Status, a.Code = string(verbatim.StatusFailed), string(verbatim.CodeToolError)
	envelope := structured
	if envelope.Kind() != canon.Object {
		envelope = a.lastText()
	}
	code := at(envelope, "code").Text()
	if at(envelope, "status").Kind() == canon.String && verbatim.Code(code).Known() {
		a.Status, a.Code = at(envelope, "status").Text(), code
		a.ActionID = at(at(envelope, "data"), "actionId").Text()
		if structured.Kind() != canon.Object { // for programs; people have the sentence
			a.shown = a.shown[:len(a.shown)-1]
			a.Text = strings.Join(a.shown, "\n")
		}
	}
	return a, nil
}

// lastText reads the last text as JSON: where a tool has an output schema,
// the gateway's envelope stands there and not in structuredContent.
func (a answered) lastText() canon.Value {
	if len(a.shown) < 2 {
		return canon.Value{}
	}
	v, err := canon.Decode([]byte(a.shown[len(a.shown)-1]), canon.Options{})
	if err != nil {
		return canon.Value{}
	}
	return v
}

// at returns a member, or the invalid Value.
func at(v canon.Value, name string) canon.Value {
	if v.Kind() != canon.Object {
		return canon.Value{}
	}
	m, _ := v.Get(name)
	return m
}

func shownPart(part canon.Value) string {
	if text := at(part, "text"); text.Kind() == canon.String {
		return text.Text()
	}
	return "(" + at(part, "type").Text() + ")"
}

func readFault(fault []byte) (answered, error) {
	v, err := canon.Decode(fault, canon.Options{})
	if err != nil {
		return answered{}, fmt.Errorf("%w: its error cannot be read", errPeer)
	}
	code, _ := at(v, "code").Int64()
	a := answered{Status: string(verbatim.StatusFailed), Code: string(verbatim.CodeToolError), Text: at(v, "message").Text(), Result: fault}
	switch wire.Code(code) {
	case wire.CodeParse, wire.CodeInvalidRequest, wire.CodeInvalidParams:
		a.Status, a.Code = string(verbatim.StatusInvalidArguments), string(verbatim.CodeInvalidArguments)
	}
	a.shown = []string{a.Text}
	return a, nil
}

// exit is the exit code of an answer.
func (a answered) exit() int {
	switch verbatim.Status(a.Status) {
	case verbatim.StatusOK:
		return exitOK
	case verbatim.StatusDenied, verbatim.StatusInvalidArguments:
		return exitDenied
	case verbatim.StatusApprovalRequired:
		return exitApproval
	default: // failed, uncertain, in progress
		return exitFailure
	}
}

// print writes the tool's own words to standard output, and everything else
// to standard error.
func (a answered) print(cmd *cobra.Command, s streams) error {
	if wantsJSON(cmd) {
		if err := printJSON(s.out, a); err != nil {
			return err
		}
		return codeOf(a.exit())
	}
	w := s.out
	if a.exit() != exitOK {
		w = s.err
		fmt.Fprintln(w, a.heading())
	}
	for _, text := range a.shown {
		if err := printText(w, text); err != nil {
			return err
		}
	}
	if a.Status == statusWaits && a.ActionID != "" {
		fmt.Fprintf(w, "hint: decide with: verbatim approvals approve %s; then make the same call again\n", plain(a.ActionID))
	}
	return codeOf(a.exit())
}

// heading is what became of a call that did not run.
func (a answered) heading() string {
	if a.Status == a.Code {
		return a.Status
	}
	return a.Status + " (" + a.Code + ")"
}

// printText writes text of a tool. At a terminal nothing in it can move the
// cursor; in a pipe it stays as it is.
func printText(w io.Writer, text string) error {
	if onTerminal(w) {
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = plainJSON(lines[i])
		}
		text = strings.Join(lines, "\n")
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
