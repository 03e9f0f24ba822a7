package endpoint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

func TestKeyInTheHeaderIsTheKeyOfTheCall(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
	_, greeting, _ := p.post(goodToken, initialize)
	session := []string{"Mcp-Session-Id", greeting.Get("Mcp-Session-Id")}
	stateless := []string{"Mcp-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", "write"}
	call := func(text, more string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"write","arguments":{"text":"` + text + `"}` + more + `}}`
	}
	for i, era := range []struct {
		headers []string
		meta    string
	}{{session, ""}, {stateless, "," + meta}} {
		text := fmt.Sprint("era", i)
		key := []string{"Idempotency-Key", `"k` + text + `"`}
		status, _, first := p.post(goodToken, call(text, era.meta), append(era.headers, key...)...)
		if status != 200 || !strings.Contains(first, text) {
			t.Fatalf("%s: %d %s", text, status, first)
		}
		for _, again := range [][]string{key, {"Idempotency-Key", "k" + text}} { // with and without quotes it is one key
			if _, _, got := p.post(goodToken, call(text, era.meta), append(era.headers, again...)...); got != first {
				t.Errorf("%s: first %s then %s", text, first, got)
			}
		}
		if _, _, got := p.post(goodToken, call("other", era.meta), append(era.headers, key...)...); !strings.Contains(got, "idempotency_mismatch") {
			t.Errorf("%s: another call under the key: %s", text, got)
		}
		if _, _, got := p.post(otherToken, call(text, era.meta), append(era.headers, key...)...); strings.Contains(got, `"text":"`+text) {
			t.Errorf("%s: somebody else got the result: %s", text, got)
		}
	}
	rows, err := p.Gate.Actions(t.Context(), action.Filter{States: []action.State{action.Succeeded}})
	if err != nil || len(rows) != 2 || rows[0].Key != "kera1" || rows[1].Key != "kera0" {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if sent, headers := u.received("tools/call"); len(sent) != 2 {
		t.Errorf("the server was called %d times", len(sent))
	} else if headers[0].Get("Idempotency-Key") != "" || strings.Contains(sent[0], "kera") {
		t.Errorf("the server got the client's key: %s", sent[0])
	}
}

func TestWrongKeysInTheHeaderRefuseTheCall(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
	headers := []string{"Mcp-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", "write"}
	const own = `"io.github.seed-de4804fb.verbatim/idempotencyKey":`
	for name, tc := range map[string]struct {
		keys []string
		meta string
	}{
		"empty":                 {[]string{""}, ""},
		"an empty string":       {[]string{`""`}, ""},
		"two keys":              {[]string{"a", "b"}, ""},
		"two equal keys":        {[]string{"a", "a"}, ""},
		"a list":                {[]string{"a, b"}, ""},
		"one quote":             {[]string{`"a`}, ""},
		"parameters":            {[]string{`"a";x=1`}, ""},
		"a space":               {[]string{"a b"}, ""},
		"no ASCII":              {[]string{"\u00e4"}, ""},
		"too long":              {[]string{strings.Repeat("k", 256)}, ""},
		"another one in _meta":  {[]string{"a"}, own + `"b",`},
		"no text in _meta":      {[]string{"1"}, own + `1,`},
		"twice in _meta":        {[]string{"a"}, own + `"a",` + own + `"a",`},
		"another case in _meta": {[]string{"a"}, strings.ToUpper(own) + `"b",`},
	} {
		body := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"write","arguments":{"text":"x"},` +
			strings.Replace(meta, "{", "{"+tc.meta, 1) + `}}`
		all := headers
		for _, k := range tc.keys {
			all = append(all[:len(all):len(all)], "Idempotency-Key", k)
		}
		if status, _, got := p.post(goodToken, body, all...); status != 400 {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}
	if sent, _ := u.received("tools/call"); len(sent) != 0 {
		t.Errorf("the server was called: %v", sent)
	}
}
