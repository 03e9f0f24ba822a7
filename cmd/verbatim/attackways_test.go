package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/attacktest"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/warrant"
)

func memberOf(v canon.Value, pointer string) string {
	found, _ := v.Lookup(pointer)
	if found.Kind() != canon.String {
		return ""
	}
	return found.Text()
}

// authorized has a call authorized, sends it to the executor, first with other
// arguments, then right, then again, and reports what the executor said.
func (a *attacked) authorized(t testing.TB, s attacktest.Step) attacktest.Said {
	got := a.api(t, http.MethodPost, "/v1/authorize", s.Body(t), keyHeader(s)...)
	if memberOf(got, "/outcome/code") != "authorized" {
		return attacktest.Answer(got)
	}
	args, tool := memberOf(got, "/argsCanonicalJson"), strings.TrimPrefix(s.Tool, "up.")
	verdict := ""
	for _, try := range []struct {
		args string
		want warrant.Verdict
	}{{"{}", warrant.ArgumentsChanged}, {strings.Replace(args, `"text":"`, `"text":"x`, 1), warrant.ArgumentsChanged}, {args, warrant.OK}, {args, warrant.Replayed}} {
		answer, _ := a.asks(t, http.MethodPost, a.executor+"/"+tool, try.args, warrant.Header, memberOf(got, "/warrant"))
		said := answer.Header.Get(warrant.VerdictHeader)
		if said != string(try.want) {
			t.Errorf("%s may run as %s: %q", args, try.args, said)
		}
		if try.want == warrant.OK {
			verdict = said
		}
	}
	report, err := json.Marshal(map[string]string{"warrant": memberOf(got, "/warrant"), "ended": "succeeded", "verdict": verdict, "output": `{"content":[]}`})
	if err != nil {
		t.Fatal(err)
	}
	return attacktest.Answer(a.api(t, http.MethodPost, "/v1/actions/"+memberOf(got, "/outcome/data/actionId")+"/outcome", string(report)))
}

// overMCP makes a call over streamable HTTP.
func (a *attacked) overMCP(t testing.TB, s attacktest.Step) attacktest.Said {
	const version = "2026-07-28"
	const meta = `"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{}`
	name := strings.TrimPrefix(s.Tool, "up.") // one server alone: its own names
	answer, text := a.asks(t, http.MethodPost, a.url, s.Call(t, name, meta), "Accept", "application/json, text/event-stream",
		"Mcp-Protocol-Version", version, "Mcp-Method", "tools/call", "Mcp-Name", name)
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		text = []byte(strings.TrimPrefix(lines[len(lines)-1], "data: "))
	}
	return attacktest.Message(t, text)
}

// piped is a client of a wrap process, over its standard input and output.
func (a *attacked) piped() func(testing.TB, attacktest.Step) attacktest.Said {
	a.t.Helper()
	cmd := a.command("wrap", "--server", "up")
	cmd.Stderr = a.t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { in.Close(); _ = cmd.Wait() }) // the gateway may have ended before
	answers := wire.NewReader(out, wire.Limits{})
	send := func(t testing.TB, frame string) []byte {
		if _, err := io.WriteString(in, frame+"\n"); err != nil {
			t.Fatal(err)
		}
		for {
			m, err := answers.Read()
			if err != nil {
				t.Fatal(err)
			}
			if m.Kind() == wire.KindResult || m.Kind() == wire.KindError {
				return m.Bytes()
			}
		}
	}
	send(a.t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`)
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		a.t.Fatal(err)
	}
	return func(t testing.TB, s attacktest.Step) attacktest.Said {
		return attacktest.Message(t, send(t, s.Call(t, strings.TrimPrefix(s.Tool, "up."), "")))
	}
}
