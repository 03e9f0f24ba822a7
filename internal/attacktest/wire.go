package attacktest

import (
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// text of a member; "" if there is none.
func text(v canon.Value, pointer string) string {
	found, ok := v.Lookup(pointer)
	if !ok || found.Kind() != canon.String {
		return ""
	}
	return found.Text()
}

// Envelope reads an outcome in its wire form.
func Envelope(v canon.Value) Said {
	out := Said{Status: text(v, "/status"), Code: text(v, "/code"), Stage: text(v, "/data/stage"), Member: text(v, "/data/member"), Action: text(v, "/data/actionId")}
	if list, found := v.Lookup("/data/violations"); found {
		for _, x := range list.Elements() {
			out.Violations = append(out.Violations, text(x, "/pointer")+" "+text(x, "/rule"))
		}
	}
	return out
}

// Answer reads the body of an answer of the decision API.
func Answer(body canon.Value) Said {
	if v, found := body.Get("outcome"); found {
		return Envelope(v)
	}
	return Said{Status: Refused, Code: text(body, "/code")}
}

// Body is the body of a call over the decision API. What is not UTF-8 makes it
// no JSON.
func (s Step) Body(t testing.TB) string {
	t.Helper()
	arguments := s.Text(t)
	if s.ArgumentsBase64 != "" {
		return `{"toolName":` + quote(s.Tool) + `,"arguments":"` + arguments + `"}`
	}
	out := `{"toolName":` + quote(s.Tool) + `,"arguments":` + quote(arguments)
	if s.Approval != "" {
		out += `,"approval":` + quote(s.Approval)
	}
	return out + "}"
}

func quote(text string) string { return string(canon.StringValue(text).Canonical()) }

// Call is the MCP message of a step, on one line, for the tool of this name;
// meta are further members of _meta.
func (s Step) Call(t testing.TB, name, meta string) string {
	t.Helper()
	if s.Approval != "" {
		meta += `,"` + wire.MetaApproval + `":` + quote(s.Approval)
	}
	if s.Key != "" {
		meta += `,"` + wire.MetaIdempotencyKey + `":` + quote(s.Key)
	}
	out := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + quote(name) + `,"arguments":` + s.Text(t) + `,"_meta":{` + strings.TrimPrefix(meta, ",") + `}}}`
	return strings.ReplaceAll(out, "\n", " ")
}

// Message reads an answer over MCP.
func Message(t testing.TB, frame []byte) Said {
	t.Helper()
	m, err := wire.Parse(frame, wire.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	if m.Kind() != wire.KindResult {
		return Said{Status: Refused, Code: string(m.Fault())}
	}
	if flag, _, err := m.Member("/result/isError"); err != nil || string(flag) != "true" {
		return Said{Status: "ok", Code: "ok"}
	}
	raw, _, err := m.Member("/result/structuredContent")
	if err != nil {
		t.Fatal(err)
	}
	v, err := canon.Decode(raw, canon.Options{})
	if err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	return Envelope(v)
}
