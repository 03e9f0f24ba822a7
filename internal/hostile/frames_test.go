package hostile_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// oneCall is a script that differs from the honest one in its answer to the
// call.
func oneCall(class, name string, act func(*turn), says []string) *script {
	return &script{class: class, name: name, runs: true, says: says, on: map[string]func(*turn){"tools/call": act}}
}

// honestly sends the answer that is expected.
func honestly(t *turn) { t.result(honestResult) }

// malformedFrames send something that is no message, and then the answer; or
// only that.
func malformedFrames() []*script {
	const class = "malformed frame"
	var out []*script
	for _, x := range []struct{ name, text string }{
		{"no JSON", "hello there"}, {"half a frame", `{"jsonrpc":"2.0"`}, {"a byte order mark", "\ufeff{}"}, {"no UTF-8", "{\"a\":\"\xff\xfe\"}"},
		{"an overlong form", "{\"a\":\"\xc0\xaf\"}"}, {"NUL bytes", "\x00\x00\x00"}, {"no jsonrpc", `{"id":7,"result":{}}`}, {"another jsonrpc", `{"jsonrpc":"1.0","id":7,"result":{}}`},
		{"an empty object", "{}"}, {"a number", "5"}, {"text", `"tools/call"`}, {"null", "null"}, {"an empty batch", "[]"}, {"blank lines", strings.Repeat("\n", 5000)},
		{"a method that is a number", `{"jsonrpc":"2.0","method":5}`}, {"a method and a result", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`},
		{"a capital twin", `{"jsonrpc":"2.0","Method":"x","method":"notifications/message"}`}, {"half an escape", `{"jsonrpc":"2.0","method":"\ud800"}`},
		{"very deep", strings.Repeat("[", 100000)}, {"a terminal's escape", "\x1b]0;owned\x07\x1b[2J"},
	} {
		out = append(out, oneCall(class, x.name+", then the answer", func(t *turn) { t.line(x.text); honestly(t) }, fine))
	}
	for _, x := range []struct{ name, format string }{
		{"a result and an error", `{"jsonrpc":"2.0","id":%s,"result":{},"error":{"code":1,"message":"x"}}`},
		{"two results", `{"jsonrpc":"2.0","id":%s,"result":{"content":[]},"result":{"content":[{"type":"text","text":"EVIL"}]}}`},
		{"two results, one escaped", `{"jsonrpc":"2.0","id":%s,"result":{},"re\u0073ult":{"content":[{"type":"text","text":"EVIL"}]}}`},
		{"a result and its capital twin", `{"jsonrpc":"2.0","id":%s,"result":{},"Result":{"content":[{"type":"text","text":"EVIL"}]}}`},
		{"an answer in a batch", `[{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"EVIL"}]}}]`},
		{"no result and no error", `{"jsonrpc":"2.0","id":%s}`},
		{"an error without a code", `{"jsonrpc":"2.0","id":%s,"error":{"message":"x"}}`},
		{"an error that is text", `{"jsonrpc":"2.0","id":%s,"error":"x"}`},
		{"two answers on one line", `{"jsonrpc":"2.0","id":%[1]s,"result":{}}{"jsonrpc":"2.0","id":%[1]s,"result":{"content":[{"type":"text","text":"EVIL"}]}}`},
	} {
		s := oneCall(class, x.name, func(t *turn) { t.line(fmt.Sprintf(x.format, t.id)) }, refused)
		s.hides = []string{"EVIL"}
		out = append(out, s)
	}
	return out
}

// malformedResults are whole messages whose result is no tool's.
func malformedResults() []*script {
	const class = "malformed result"
	var out []*script
	for _, raw := range []string{`null`, `5`, `"done"`, `[]`, `true`, `{"content":[],"isError":"no"}`, `{"content":[],"isError":1}`, `{"content":[],"isError":null}`,
		`{"content":[],"isError":false,"isError":true}`, `{"content":[],"IsError":true,"isError":false}`} {
		// A read has no effect to be uncertain of: its answer may go through as it is.
		out = append(out, oneCall(class, raw, func(t *turn) { t.result(raw) }, append(slices.Clone(refused), strings.TrimSuffix(raw, "}"))))
	}
	for name, raw := range map[string]string{
		"no content": `{}`, "content that is text": `{"content":"x"}`, "structured text": `{"content":[],"structuredContent":"x"}`,
		"another type than declared": `{"content":[],"structuredContent":{"text":5}}`, "a number too large": `{"content":[],"structuredContent":{"text":"x","n":9007199254740993}}`,
		"half an escape":  `{"content":[{"type":"text","text":"\ud800"}]}`,
		"unknown members": `{"content":[],"future":{"a":[1,2]},"structuredContent":{"text":"x"}}`,
		// G26: an error that says it is none, although the tool has an output schema.
		"G26: an error in words": `{"content":[{"type":"text","text":"invalid_argument"}],"isError":false}`,
	} {
		// What a server says of its own results is its word: it goes through as it is.
		out = append(out, oneCall(class, name, func(t *turn) { t.result(raw) }, []string{strings.TrimSuffix(raw, "}")}))
	}
	for _, kind := range []string{`"task"`, `"input_required"`, `"done"`, `""`, `5`, `null`} {
		s := oneCall(class, "resultType "+kind, func(t *turn) {
			t.result(`{"content":[],"resultType":` + kind + `,"taskId":"t","requestState":"s","inputRequests":{}}`)
		}, []string{`"result":{`, `"error":{`})
		s.modern = true
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *script) int { return strings.Compare(a.name, b.name) })
	return out
}

// confusedIDs answer under ids that are not the request's, and then under it.
func confusedIDs() []*script {
	const class = "confused ids"
	evil := `{"content":[{"type":"text","text":"EVIL"}]}`
	var out []*script
	for name, id := range map[string]string{
		"none": "", "null": "null", "as text": `"%s"`, "with a fraction": "%s.0", "with an exponent": "%se0", "the next": "%s1", "zero": "0", "negative": "-%s",
		"a list": "[%s]", "an object": `{"id":%s}`, "the client's": `"call"`, "an earlier one": "1", "very large": "1e400", "true": "true",
	} {
		at := strings.ReplaceAll(id, "%s", "%[1]s")
		s := oneCall(class, name, func(t *turn) {
			member := ""
			if id != "" {
				member = `"id":` + strings.TrimSuffix(fmt.Sprintf(at+"%.0[1]s", t.id), "%!(EXTRA string=)") + ","
			}
			t.line(`{"jsonrpc":"2.0",` + member + `"result":` + evil + `}`)
			honestly(t)
		}, append(slices.Clone(fine), refused...))
		s.hides = []string{"EVIL"}
		out = append(out, s)
	}
	out = append(out,
		oneCall(class, "the answer twice", func(t *turn) { honestly(t); t.result(evil) }, fine),
		oneCall(class, "an error after the answer", func(t *turn) { honestly(t); t.fail(-32000, "EVIL") }, fine),
		&script{class: class, name: "an answer to what was not asked", says: fine, runs: true, hides: []string{"EVIL"}, first: func(w io.Writer) {
			for i := range 500 {
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":{"tools":[{"name":"EVIL","inputSchema":{"type":"object"}}],"protocolVersion":"2025-11-25","content":[]}}`+"\n", i+100)
			}
		}})
	slices.SortFunc(out, func(a, b *script) int { return strings.Compare(a.name, b.name) })
	return out
}

// floods send far too much beside the answer.
func floods() []*script {
	const class, many = "flood", 5000
	var out []*script
	for _, x := range []struct{ name, frame string }{
		{"G17: progress for tokens that nobody gave", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"EVIL","progress":1}}`},
		{"changes of lists", `{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`},
		{"log messages", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`},
		{"notifications that nobody knows", `{"jsonrpc":"2.0","method":"notifications/EVIL"}`},
		{"cancellations", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`},
		{"questions without an end", `{"jsonrpc":"2.0","id":"EVIL","method":"sampling/createMessage","params":{"messages":[]}}`},
		{"a client's own requests", `{"jsonrpc":"2.0","id":"EVIL","method":"tools/call","params":{"name":"look","arguments":{}}}`},
		{"pings", `{"jsonrpc":"2.0","id":"p","method":"ping"}`},
	} {
		s := oneCall(class, x.name, func(t *turn) {
			for range many {
				t.line(x.frame)
			}
			honestly(t)
		}, fine)
		out = append(out, s)
	}
	return append(out,
		oneCall(class, "progress for the token", func(t *turn) {
			for i := range many {
				t.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, orNull(t.token()), i))
			}
			honestly(t)
		}, fine),
		oneCall(class, "questions with ids of their own", func(t *turn) {
			for i := range many {
				t.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"roots/list"}`, i))
			}
			honestly(t)
		}, fine),
		&script{class: class, name: "before the greeting", says: fine, runs: true, first: func(w io.Writer) {
			for range many {
				fmt.Fprintln(w, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			}
		}})
}

func orNull(raw string) string {
	if raw == "" {
		return "null"
	}
	return raw
}

// halfAnswers end, or fall silent, in the middle.
func halfAnswers() []*script {
	const class = "half an answer"
	silence := func(*turn) {}
	ends := func(how func(*turn)) func(*turn) { return func(t *turn) { how(t); exit() } }
	half := func(t *turn) { fmt.Fprintf(t.out, `{"jsonrpc":"2.0","id":%s,"resu`, t.id) }
	return []*script{
		oneCall(class, "no answer", silence, refused),
		oneCall(class, "half a frame, then silence", half, refused),
		oneCall(class, "half a frame, then the end", ends(half), refused),
		oneCall(class, "the end", ends(silence), refused),
		oneCall(class, "a whole frame without a line end, then the end", ends(func(t *turn) {
			fmt.Fprintf(t.out, `{"jsonrpc":"2.0","id":%s,"result":%s}`, t.id, honestResult)
		}), fine),
		oneCall(class, "one byte at a time", func(t *turn) {
			for _, c := range []byte(`{"jsonrpc":"2.0","id":` + t.id + `,"result":` + honestResult + "}\n") {
				_, _ = t.out.Write([]byte{c})
				time.Sleep(time.Millisecond)
			}
		}, fine),
		{class: class, name: "silence at the list of tools", says: refused, slow: true, on: map[string]func(*turn){"tools/list": silence}},
		{class: class, name: "the end at the list of tools", says: refused, on: map[string]func(*turn){"tools/list": ends(silence)}},
		{class: class, name: "silence at the greeting", says: refused, slow: true,
			on: map[string]func(*turn){"initialize": silence, "server/discover": silence, "tools/list": silence}},
		{class: class, name: "the end at the greeting", says: refused, on: map[string]func(*turn){"initialize": ends(silence), "server/discover": ends(silence)}},
		{class: class, name: "the end before anything", says: refused, first: func(io.Writer) { exit() }},
	}
}
