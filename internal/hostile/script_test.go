package hostile_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// script is one hostile server. The client before it is honest: it lists the
// tools, and calls look once with the path "ok".
type script struct {
	class, name string
	http        bool // over HTTP; else it is a child process
	modern      bool // it speaks 2026-07-28
	// tools are the tools that it lists, as the inside of an array; "" is the
	// honest list.
	tools string
	// on says how it behaves; what is not there is honest.
	on map[string]func(*turn)
	// first is what it writes before anybody has spoken.
	first func(io.Writer)

	// says is what one of which the answer to the call must hold.
	says []string
	// runs: the call may reach the server.
	runs bool
	// lists and hides are names that the list must and must not hold.
	lists, hides []string
	slow         bool // takes seconds; left out of the short form
}

// definition is the honest tool, with every field that a tool can have.
const definition = `{"name":"look","title":"Look","description":"Looks at a file.",` +
	`"inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{` +
	`"path":{"type":"string","description":"where","minLength":1,"maxLength":100,"pattern":"^[a-z]+$"},` +
	`"n":{"type":"integer","default":1,"minimum":0,"maximum":9}},"required":["path"],"additionalProperties":false},` +
	`"outputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]},` +
	`"annotations":{"title":"L","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},` +
	`"icons":[{"src":"https://icons.example.com/i.png","mimeType":"image/png","sizes":["48x48"]}],` +
	`"execution":{"taskSupport":"forbidden"},"_meta":{"example.com/owner":"team"},"x-unknown":{"a":1}}`

// wipe is a tool that nobody has catalogued: it waits for a person, who never
// comes.
const wipe = `{"name":"wipe","description":"Removes everything.","inputSchema":{"type":"object"}}`

const (
	honestResult = `{"content":[{"type":"text","text":"seen"}],"structuredContent":{"text":"seen"}}`
	// frozen is what look must get: the schema's default is in it.
	frozen = `{"n":1,"path":"ok"}`
)

// turn is one message to a hostile server, and its way to answer.
type turn struct {
	id     string // raw; "" for a notification
	method string
	frame  string
	out    io.Writer
	http   http.ResponseWriter // nil for a child
	r      *http.Request
	modern bool
}

// line writes a frame: a line of a child, the JSON body of an HTTP server.
func (t *turn) line(frame string) {
	if t.http == nil {
		fmt.Fprint(t.out, frame+"\n")
		return
	}
	t.http.Header().Set("Content-Type", "application/json")
	fmt.Fprint(t.http, frame)
}

// events writes the events of a stream.
func (t *turn) events(frames ...string) {
	t.http.Header().Set("Content-Type", "text/event-stream")
	for _, f := range frames {
		fmt.Fprintf(t.http, "data: %s\n\n", f)
	}
	if f, ok := t.http.(http.Flusher); ok {
		f.Flush()
	}
}

func (t *turn) result(raw string) {
	t.line(`{"jsonrpc":"2.0","id":` + t.id + `,"result":` + raw + `}`)
}

func (t *turn) fail(code int, text string) {
	t.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, t.id, code, text))
}

// token is the raw progress token of the request, or "".
func (t *turn) token() string {
	var m struct {
		Params struct {
			Meta struct {
				Token json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal([]byte(t.frame), &m) // a frame without one has none
	return string(m.Params.Meta.Token)
}

// parsed reads what a server needs of a frame.
func parsed(frame string) *turn {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.Unmarshal([]byte(frame), &m) // what cannot be read has no method
	return &turn{id: string(m.ID), method: m.Method, frame: frame}
}

// serve answers one message.
func (s *script) serve(t *turn) {
	if act, ok := s.on[t.method]; ok {
		act(t)
		return
	}
	if t.id == "" || t.method == "" {
		if t.http != nil {
			t.http.WriteHeader(http.StatusAccepted)
		}
		return
	}
	s.honest(t)
}

func (s *script) honest(t *turn) {
	switch t.method {
	case "server/discover":
		if s.modern {
			t.result(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"h","version":"1"}}}`)
			return
		}
		t.fail(-32601, "Method not found")
	case "initialize":
		t.result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"h","version":"1"}}`)
	case "tools/list":
		tools := s.tools
		if tools == "" {
			tools = definition + "," + wipe
		}
		t.result(`{"tools":[` + tools + `]` + s.complete() + `}`)
	case "tools/call":
		t.result(strings.TrimSuffix(honestResult, "}") + s.complete() + "}")
	case "ping":
		t.result("{}")
	default:
		t.fail(-32601, "Method not found")
	}
}

// complete is what results of the newer revision need.
func (s *script) complete() string {
	if s.modern {
		return `,"resultType":"complete","ttlMs":0,"cacheScope":"private"`
	}
	return ""
}

// scripts are all hostile servers, in a fixed order.
func scripts() []*script {
	var out []*script
	for _, class := range []func() []*script{
		changedDefinitions, hostileNames, hostileSchemas, malformedFrames, malformedResults, confusedIDs, floods, halfAnswers,
		hugeAnswers, versionGames, askingServers, changingServers, streamTricks, httpTricks, sessionTricks, endlessLists,
	} {
		out = append(out, class()...)
	}
	return out
}

// Servers without a trick, for clients that have some.
const (
	honestWeb  = "honest-web"
	honestPipe = "honest-pipe"
)

func find(name string) *script {
	if name == honestPipe {
		return &script{}
	}
	for i, s := range scripts() {
		if serverOf(i) == name {
			return s
		}
	}
	return nil
}

func serverOf(i int) string { return fmt.Sprintf("s%03d", i) }

// chosen is all scripts; in the short form every third, without the slow ones.
func chosen(all []*script) map[string]*script {
	out := map[string]*script{}
	for i, s := range all {
		if !testing.Short() || i%3 == 0 && !s.slow {
			out[serverOf(i)] = s
		}
	}
	return out
}
