package hostile_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// webCall is a script over HTTP that differs in its answer to the call.
func webCall(class, name string, says []string, act func(*turn)) *script {
	return &script{class: class, name: name, http: true, runs: true, says: says, on: map[string]func(*turn){"tools/call": act}}
}

func (t *turn) answer() string {
	return `{"jsonrpc":"2.0","id":` + t.id + `,"result":` + honestResult + `}`
}

// streamTricks answer with a stream of events that is not what it should be.
func streamTricks() []*script {
	const class = "stream of events"
	other := `{"jsonrpc":"2.0","id":999,"result":{"content":[{"type":"text","text":"EVIL"}]}}`
	raw := func(t *turn, text string) { t.events(); fmt.Fprint(t.http, text) }
	out := []*script{
		webCall(class, "an answer to another request first", fine, func(t *turn) { t.events(other, t.answer()) }),
		webCall(class, "only an answer to another request", refused, func(t *turn) { t.events(other) }),
		webCall(class, "no event", refused, func(t *turn) { t.events() }),
		webCall(class, "no JSON, then the answer", fine, func(t *turn) { t.events("{", t.answer()) }),
		webCall(class, "half an event", refused, func(t *turn) { raw(t, "data: "+t.answer()) }),
		webCall(class, "the answer in two lines", fine, func(t *turn) { raw(t, "data: "+strings.Replace(t.answer(), ",", ",\ndata: ", 1)+"\n\n") }),
		webCall(class, "carriage returns", append(slices.Clone(fine), refused...), func(t *turn) { raw(t, "data: "+t.answer()+"\r\r") }),
		webCall(class, "a byte order mark", fine, func(t *turn) { raw(t, "\ufeffdata: "+t.answer()+"\n\n") }),
		webCall(class, "a pause of years", fine, func(t *turn) { raw(t, "retry: 99999999999999999999\ndata: "+t.answer()+"\n\n") }),
		webCall(class, "an id with NUL", fine, func(t *turn) { raw(t, "id: a\x00b\ndata: "+t.answer()+"\n\n") }),
		webCall(class, "fifty thousand comments", fine, func(t *turn) { raw(t, strings.Repeat(":\n", 50000)+"data: "+t.answer()+"\n\n") }),
		webCall(class, "events of other kinds", fine, func(t *turn) { raw(t, "event: EVIL\ndata: {}\n\nevent: message\ndata: "+t.answer()+"\n\n") }),
		webCall(class, "a line of 100 megabytes", append(slices.Clone(fine), refused...), func(t *turn) {
			t.events()
			pourHTTP(t, "data: ", 100)
			t.events("", t.answer())
		}),
		webCall(class, "data of 100 megabytes in short lines", append(slices.Clone(fine), refused...), func(t *turn) {
			t.events()
			line := strings.Repeat("data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n", 1<<14)
			for range 100 {
				if _, err := fmt.Fprint(t.http, line); err != nil {
					return
				}
			}
			fmt.Fprint(t.http, "\n")
			t.events(t.answer())
		}),
		webCall(class, "comments without an end", refused, func(t *turn) {
			t.events()
			for t.r.Context().Err() == nil {
				fmt.Fprint(t.http, ":\n")
				t.events()
				time.Sleep(5 * time.Millisecond)
			}
		}),
		webCall(class, "broken off with an id, again and again", refused, func(t *turn) { raw(t, "id: 1\nretry: 1\ndata: \n\n") }),
	}
	for _, method := range []string{"sampling/createMessage", "elicitation/create", "tools/call", "EVIL/method"} {
		out = append(out, webCall(class, "asking "+method, fine, func(t *turn) {
			t.events(`{"jsonrpc":"2.0","id":"ask","method":"`+method+`","params":{"name":"wipe","arguments":{}}}`, t.answer())
		}))
	}
	return out
}

func pourHTTP(t *turn, start string, megabytes int) {
	fmt.Fprint(t.http, start)
	piece := strings.Repeat("x", 1<<20)
	for range megabytes {
		if _, err := fmt.Fprint(t.http, piece); err != nil {
			return
		}
	}
}

// httpTricks play with status, headers and bodies.
func httpTricks() []*script {
	const class = "HTTP trick"
	var out []*script
	for _, status := range []int{201, 204, 301, 302, 307, 308, 400, 401, 403, 404, 405, 418, 429, 500, 502, 503} {
		out = append(out, webCall(class, fmt.Sprintf("status %d", status), refused, func(t *turn) {
			t.http.Header().Set("Location", "http://"+t.r.Host+"/s000")
			t.http.Header().Set("WWW-Authenticate", `Bearer realm="EVIL", error="invalid_token"`)
			t.http.Header().Set("Retry-After", "99999999")
			t.http.WriteHeader(status)
		}))
	}
	typed := func(kind, encoding string) func(*turn) {
		return func(t *turn) {
			t.http.Header()["Content-Type"] = []string{kind}
			if encoding != "" {
				t.http.Header().Set("Content-Encoding", encoding)
			}
			fmt.Fprint(t.http, t.answer())
		}
	}
	return append(out,
		webCall(class, "markup", refused, typed("text/html", "")),
		webCall(class, "no type", refused, typed("", "")),
		webCall(class, "a type with a line of its own", refused, typed("application/json/json", "")),
		webCall(class, "a body that says it is packed", append(slices.Clone(fine), refused...), typed("application/json", "gzip")),
		webCall(class, "cookies", fine, func(t *turn) { t.http.Header().Set("Set-Cookie", "EVIL=1"); t.line(t.answer()) }),
		webCall(class, "headers of a page", fine, func(t *turn) {
			t.http.Header().Set("Access-Control-Allow-Origin", "*")
			t.http.Header().Set("X-EVIL", "1")
			t.line(t.answer())
		}),
		webCall(class, "two answers in one body", refused, func(t *turn) { t.line(t.answer() + t.answer()) }),
		webCall(class, "something behind the answer", refused, func(t *turn) { t.line(t.answer() + "EVIL") }),
		webCall(class, "another id in the body", refused, func(t *turn) {
			t.line(strings.Replace(t.answer(), `"id":`+t.id, `"id":12345`, 1))
		}),
		webCall(class, "less than announced", refused, func(t *turn) {
			t.http.Header().Set("Content-Length", "100000")
			t.line(t.answer())
		}),
		webCall(class, "the connection breaks", refused, func(t *turn) { panic(http.ErrAbortHandler) }),
		webCall(class, "a body of 100 megabytes", refused, func(t *turn) {
			t.http.Header().Set("Content-Type", "application/json")
			pourHTTP(t, `{"jsonrpc":"2.0","id":`+t.id+`,"result":{"content":[{"type":"text","text":"`, 100)
		}),
		webCall(class, "headers of a megabyte", refused, func(t *turn) {
			t.http.Header().Set("X-Long", strings.Repeat("x", 1<<20))
			t.line(t.answer())
		}),
		webCall(class, "silence", refused, func(t *turn) { <-t.r.Context().Done() }),
		webCall(class, "half a body, then silence", refused, func(t *turn) {
			t.http.Header().Set("Content-Type", "application/json")
			fmt.Fprint(t.http, `{"jsonrpc":`)
			t.http.(http.Flusher).Flush()
			<-t.r.Context().Done()
		}),
	)
}

// sessionTricks play with the session of the older revisions.
func sessionTricks() []*script {
	const class = "session trick"
	greet := func(id string) map[string]func(*turn) {
		return map[string]func(*turn){"initialize": func(t *turn) {
			if id != "" {
				t.http.Header()["Mcp-Session-Id"] = []string{id}
			}
			t.result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"h","version":"1"}}`)
		}}
	}
	lost := greet("session-1")
	lost["tools/call"] = func(t *turn) { t.http.WriteHeader(http.StatusNotFound) }
	moved := greet("session-1")
	moved["tools/call"] = func(t *turn) { t.http.Header().Set("Mcp-Session-Id", "EVIL"); honestly(t) }
	open := greet("session-1")
	open["GET"] = func(t *turn) { // a stream that tells of changes for ever
		for t.r.Context().Err() == nil {
			t.events(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			time.Sleep(20 * time.Millisecond)
		}
	}
	either := append(slices.Clone(fine), refused...)
	return []*script{
		{class: class, name: "an id of a megabyte", http: true, says: either, runs: true, on: greet(strings.Repeat("x", 1<<20))},
		{class: class, name: "an id with a space", http: true, says: either, runs: true, on: greet("a b")},
		{class: class, name: "an id that is no ASCII", http: true, says: either, runs: true, on: greet("\u00e9")},
		{class: class, name: "an empty id", http: true, says: fine, runs: true, on: greet("")},
		{class: class, name: "the session is lost at once", http: true, says: refused, runs: true, on: lost},
		{class: class, name: "another session in the middle", http: true, says: fine, runs: true, on: moved},
		{class: class, name: "changes without an end", http: true, says: either, runs: true, on: open},
	}
}
