package hostile_test

import (
	"fmt"
	"strings"
	"testing"
)

// pipeGame is one hostile client of verbatim wrap: what it writes before an
// honest call, which must be answered all the same.
type pipeGame struct {
	name  string
	write string
	ends  bool // it closes its end there; nothing more is expected
}

func pipeGames() []pipeGame {
	const evil = `{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"look","arguments":{"path":"evil"}}}`
	many := func(n int, line string) string { return strings.Repeat(line+"\n", n) }
	var reused strings.Builder
	for range 200 { // one id, many times, while it is in flight
		fmt.Fprintln(&reused, `{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"wipe","arguments":{"path":"evil"}}}`)
	}
	out := []pipeGame{
		{name: "no JSON", write: "hello\n"},
		{name: "NUL bytes", write: "\x00\x00\x00\n"},
		{name: "blank lines", write: many(5000, "")},
		{name: "a batch", write: "[" + evil + "]\n"},
		{name: "two messages on one line", write: evil + evil + "\n"},
		{name: "the method twice", write: strings.Replace(evil, `"method"`, `"method":"ping","method"`, 1) + "\n"},
		{name: "the name twice", write: strings.Replace(evil, `"name"`, `"name":"wipe","name"`, 1) + "\n"},
		{name: "arguments twice", write: strings.Replace(evil, `"arguments"`, `"arguments":{},"arguments"`, 1) + "\n"},
		{name: "a capital twin", write: strings.Replace(evil, `"arguments"`, `"Arguments":{},"arguments"`, 1) + "\n"},
		{name: "a call without an id", write: strings.Replace(evil, `"id":"e",`, "", 1) + "\n"},
		{name: "an id that is null", write: strings.Replace(evil, `"id":"e"`, `"id":null`, 1) + "\n"},
		{name: "an id of a megabyte", write: strings.Replace(evil, `"id":"e"`, `"id":"`+strings.Repeat("e", 1<<20)+`","x":1`, 1) + "\n"},
		{name: "a line of 30 megabytes", write: strings.Repeat("x", 30<<20) + "\n"},
		{name: "very deep", write: strings.Repeat("[", 200000) + "\n"},
		{name: "answers to nothing", write: many(2000, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)},
		{name: "cancelling what is not there", write: many(2000, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`)},
		{name: "cancelling without an id", write: many(100, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`)},
		{name: "notifications that nobody knows", write: many(2000, `{"jsonrpc":"2.0","method":"notifications/evil"}`)},
		{name: "a tool that waits for a person", write: strings.Replace(evil, `"look"`, `"wipe"`, 1) + "\n"},
		{name: "an id in flight, again and again", write: reused.String()},
		{name: "another tool's name in a header of the frame", write: strings.Replace(strings.Replace(evil, "evil", "ok", 1), `"jsonrpc"`, `"name":"look","jsonrpc"`, 1) + "\n"},
		{name: "a task", write: strings.Replace(evil, `"name"`, `"task":{"ttl":1},"name"`, 1) + "\n"},
		{name: "two greetings", write: many(2, `{"jsonrpc":"2.0","id":"again","method":"initialize","params":{"protocolVersion":"2099-01-01","capabilities":{},"clientInfo":{"name":"admin","version":"1"}}}`)},
		{name: "carriage returns", write: "\r\n\r\n\r"},
		{name: "half a frame, then the end", write: evil[:40], ends: true},
		{name: "the end", ends: true},
		{name: "a call, then the end", write: strings.Replace(evil, "look", "wipe", 1), ends: true},
	}
	for _, method := range []string{"tasks/get", "tasks/list", "sampling/createMessage", "tools/Call", "notifications/tools/call", "resources/read"} {
		out = append(out, pipeGame{name: method, write: strings.Replace(evil, "tools/call", method, 1) + "\n"})
	}
	return out
}

func (a pipeGame) try(t testing.TB, g *gateway) {
	p := g.pipe(t, honestPipe)
	p.say(`{"jsonrpc":"2.0","id":"hi","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	_, _ = p.in.Write([]byte(a.write)) // the other end may have closed
	if !a.ends {
		p.say(`{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"look","arguments":{"path":"ok"}}}`)
		if !p.await(`"id":"call"`, patience) {
			t.Errorf("no answer; wrap printed %.300s", p.text())
		}
	}
	printed := p.close()
	if !a.ends && !strings.Contains(printed, fine[0]) {
		t.Errorf("the honest call failed: %.600s", printed)
	}
	unseen(t, "the client", printed, canaryUpstream, canaryDaemon)
}
