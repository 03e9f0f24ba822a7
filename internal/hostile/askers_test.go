package hostile_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// asker is one hostile client of the endpoint: one request. Behind it stands
// an honest server, which must never hear of "evil".
type asker struct {
	class, name string
	method      string // of HTTP; "" is POST
	token       string // "" is the right one, "-" none
	body        string
	headers     []string // after the right ones; see dress
	status      []int    // one of these
	says        string   // what the answer must hold
}

// calling are the headers of a right call.
func calling() []string {
	return []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", honestWeb + "__look"}
}

// asking is the body of a call of look with these raw arguments.
func asking(arguments string) string {
	return `{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"` + honestWeb + `__look","arguments":` + arguments + `,` + meta + `}}`
}

var (
	bad     = []int{http.StatusBadRequest}
	barred  = []int{http.StatusUnauthorized, http.StatusForbidden}
	unknown = []int{http.StatusNotFound, http.StatusBadRequest}
)

// askers are all hostile clients of the endpoint.
func askers() []asker {
	return slices.Concat(ambiguousMessages(), strangeArguments(), otherHeaders(), methodGames(), metaGames(), sessionGames(), transportGames(), wrongTokens())
}

// ambiguousMessages have two readings, of which one is evil.
func ambiguousMessages() []asker {
	const class = "ambiguous message"
	right := asking(`{"path":"ok"}`)
	swap := func(old, with string) string { return strings.Replace(right, old, with, 1) }
	var out []asker
	for name, body := range map[string]string{
		"the name twice":                 swap(`"name":`, `"name":"`+honestWeb+`__wipe","name":`),
		"the name twice, one escaped":    swap(`"name":`, `"n\u0061me":"`+honestWeb+`__wipe","name":`),
		"the name and its capital twin":  swap(`"name":`, `"Name":"`+honestWeb+`__wipe","name":`),
		"arguments twice":                swap(`"arguments":`, `"arguments":{"path":"evil"},"arguments":`),
		"arguments and a capital twin":   swap(`"arguments":`, `"Arguments":{"path":"evil"},"arguments":`),
		"params twice":                   swap(`"params":`, `"params":{"name":"`+honestWeb+`__wipe"},"params":`),
		"the method twice":               swap(`"method":`, `"method":"ping","method":`),
		"the id twice":                   swap(`"id":`, `"id":1,"id":`),
		"jsonrpc twice":                  swap(`"jsonrpc":`, `"jsonrpc":"1.0","jsonrpc":`),
		"_meta twice":                    swap(`"_meta":`, `"_meta":{},"_meta":`),
		"a batch":                        "[" + right + "]",
		"two messages":                   right + right,
		"something behind":               right + "x",
		"a byte order mark":              "\ufeff" + right,
		"a comment":                      "/* */" + right,
		"a comma too many":               swap(`"path":"ok"`, `"path":"ok",`),
		"single quotes":                  strings.ReplaceAll(right, `"`, `'`),
		"no UTF-8":                       swap("ok", "\xff\xfe"),
		"an overlong form":               swap("ok", "\xc0\xaf"),
		"a raw control character":        swap("ok", "o\x00k"),
		"half":                           right[:len(right)/2],
		"nothing":                        "",
		"blanks":                         "  \n ",
		"text":                           `"tools/call"`,
		"null":                           "null",
		"very deep":                      strings.Repeat("[", 100000) + strings.Repeat("]", 100000),
		"a result":                       `{"jsonrpc":"2.0","id":"call","result":{},"method":"tools/call"}`,
		"no jsonrpc":                     swap(`"jsonrpc":"2.0",`, ""),
		"an id that is null":             swap(`"id":"call"`, `"id":null`),
		"an id that is an object":        swap(`"id":"call"`, `"id":{}`),
		"an id with a fraction":          swap(`"id":"call"`, `"id":1.5`),
		"UTF-16":                         "{\x00\"\x00j\x00",
		"params as a list":               `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["` + honestWeb + `__look",{"path":"evil"}]}`,
		"a name that is an object":       swap(`"name":"`+honestWeb+`__look"`, `"name":{"a":1}`),
		"a method that is an object":     swap(`"method":"tools/call"`, `"method":{}`),
		"params that are nothing":        `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		"a fence of a model":             "```json\n" + right + "\n```",
		"a message in a text":            fmt.Sprintf("%q", right),
		"arguments between two capitals": swap(`"arguments":`, `"ARGUMENTS":{"path":"evil"},"arguments":`),
	} {
		out = append(out, asker{class: class, name: name, body: body, headers: calling(), status: bad})
	}
	return sorted(out)
}

func sorted(list []asker) []asker {
	slices.SortFunc(list, func(a, b asker) int { return strings.Compare(a.class+a.name, b.class+b.name) })
	return list
}

// strangeArguments are read in one way only, which the tool does not take.
func strangeArguments() []asker {
	var out []asker
	for name, raw := range map[string]string{
		"path twice":              `{"path":"ok","path":"evil"}`,
		"path twice, one escaped": `{"path":"ok","p\u0061th":"evil"}`,
		"a capital twin":          `{"path":"ok","PATH":"evil"}`,
		"another member":          `{"path":"ok","also":"evil"}`,
		"the prototype":           `{"path":"ok","__proto__":{"path":"evil"}}`,
		"a text that holds JSON":  `"{\"path\":\"evil\"}"`,
		"a list":                  `[{"path":"evil"}]`,
		"null":                    `null`,
		"a number":                `5`,
		"no path":                 `{}`,
		"a path that is a list":   `{"path":["evil"]}`,
		"a path that is null":     `{"path":null}`,
		"a path with NUL":         `{"path":"evil\u0000"}`,
		"half an escape":          `{"path":"evil\ud800"}`,
		"a number too large":      `{"path":"evil","n":9007199254740993}`,
		"minus zero":              `{"path":"evil","n":-0}`,
		"an overflow":             `{"path":"evil","n":1e400}`,
		"a text for a number":     `{"path":"evil","n":"5"}`,
		"a truth for a number":    `{"path":"evil","n":true}`,
		"out of range":            `{"path":"evil","n":10}`,
		"very deep":               `{"path":` + strings.Repeat(`[`, 70) + strings.Repeat(`]`, 70) + `}`,
		"two megabytes":           `{"path":"` + strings.Repeat("e", 2<<20) + `"}`,
		"a hundred thousand":      `{"path":"evil","x":[` + strings.Repeat("1,", 100000) + `1]}`,
		"an entity of a policy":   `{"path":{"__entity":{"type":"User","id":"evil"}}}`,
	} {
		out = append(out, asker{class: "strange arguments", name: name, body: asking(raw), headers: calling(), status: []int{200, 400}, says: `rror"`})
	}
	return sorted(out)
}

// otherHeaders are headers that say something else than the body.
func otherHeaders() []asker {
	const class = "headers and body"
	evil := honestWeb + "__wipe"
	enc := "=?base64?" + base64.StdEncoding.EncodeToString([]byte(evil)) + "?="
	var out []asker
	for name, h := range map[string][]string{
		"another name": {"=Mcp-Name", evil}, "another name, encoded": {"=Mcp-Name", enc}, "no name": {"-Mcp-Name", ""}, "two names": {"Mcp-Name", evil},
		"the same name twice": {"Mcp-Name", honestWeb + "__look"}, "no Base64": {"=Mcp-Name", "=?base64?!!!?="}, "an empty name": {"=Mcp-Name", ""},
		"a capital in the name": {"=Mcp-Name", honestWeb + "__Look"}, "another method": {"=Mcp-Method", "tools/list"}, "no method": {"-Mcp-Method", ""},
		"two methods": {"Mcp-Method", "tools/list"}, "a capital in the method": {"=Mcp-Method", "Tools/Call"}, "another version": {"=Mcp-Protocol-Version", "2025-11-25"},
		"no version": {"-Mcp-Protocol-Version", ""}, "two versions": {"Mcp-Protocol-Version", "2025-11-25"}, "a version that nobody speaks": {"=Mcp-Protocol-Version", "2099-01-01"},
		"the prefix left out": {"=Mcp-Name", "look"}, "half of Base64": {"=Mcp-Name", strings.TrimSuffix(enc, "?=")},
	} {
		out = append(out, asker{class: class, name: name, body: asking(`{"path":"evil"}`), headers: append(calling(), h...), status: bad})
	}
	// No header of a client's own is believed.
	for _, h := range []string{"X-HTTP-Method-Override", "X-Forwarded-User", "X-Principal", "X-Forwarded-Host", "Forwarded", "Mcp-Param-Path", "Mcp-Session"} {
		out = append(out, asker{class: class, name: "believing " + h, body: asking(`{"path":"ok"}`), headers: append(calling(), h, "DELETE"), status: []int{200, 400}})
	}
	return sorted(out)
}

// TestHostileClientsRunNothingThatWasNotDecided sends every request that means
// harm, and after each an honest call.
func TestHostileClientsRunNothingThatWasNotDecided(t *testing.T) {
	t.Parallel()
	g := newGateway(t, map[string]*script{honestWeb: {http: true, modern: true}, honestPipe: {}})
	all := askers()
	classes := map[string]bool{}
	for _, a := range all {
		classes[a.class] = true
	}
	if len(all)+len(pipeGames()) < leastAskers || len(classes) < leastAskerClasses {
		t.Errorf("%d clients of %d classes, want %d of %d", len(all)+len(pipeGames()), len(classes), leastAskers, leastAskerClasses)
	}
	together(all, func(a asker) { a.try(probe{t, a.class + ", " + a.name}, g) })
	together(pipeGames(), func(a pipeGame) { a.try(probe{t, "pipe, " + a.name}, g) })
	if got := g.lookup(t, honestWeb); !strings.Contains(got.body, fine[0]) {
		t.Errorf("an honest call after all that: %d %s", got.status, got.body)
	}
	for _, name := range g.names() {
		for _, x := range g.stage.received(t, name) {
			checkFrame(t, x.Frame, true, frozen)
			unseen(t, "the server", x.Frame+x.Header+strings.Join(x.Env, "\n"), canaryClient, canaryDaemon, canaryHeader)
		}
	}
	g.checkBounds(t)
	g.stop()
	unseen(t, "the log", g.logged(), canaryUpstream, canaryDaemon, canaryClient, canaryHeader)
}

const (
	leastAskers       = 250
	leastAskerClasses = 8
)

func (a asker) try(t testing.TB, g *gateway) {
	method, token := a.method, a.token
	if method == "" {
		method = http.MethodPost
	}
	switch token {
	case "":
		token = tokenOf(honestWeb)
	case "-":
		token = ""
	}
	got := g.send(t, method, token, a.body, a.headers...)
	if !slices.Contains(a.status, got.status) || !strings.Contains(got.body, a.says) {
		t.Errorf("status %d, want one of %v, with %q: %.300s", got.status, a.status, a.says, got.body)
	}
	unseen(t, "the client", got.body, canaryUpstream, canaryDaemon)
}
