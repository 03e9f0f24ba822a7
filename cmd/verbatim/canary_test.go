package main

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sources are the secrets by what they stand in.
func sources() map[string]string {
	return map[string]string{"an argument": canaryArgument, "a secret argument": canaryPin, "a deep argument": canaryDeep, "an unknown member": canaryUnknown,
		"broken input": canaryBroken, "a header": canaryHeader, "an unknown token": canaryBearer, "the endpoint's token": endpointToken, "a credential": canaryCredential,
		"the environment": canaryEnv, "a server's environment": canaryServerEnv, "a tool's error": canaryToolError, "a server's error": canaryRPCError,
		"an HTTP error": canaryHTTPError, "the collector's secret": canaryOTLP, "the webhook's secret": canaryHook, "a result": canaryResult, "a password": testPassword,
		"a service's credential": canaryServiceKey, "a service's error": canaryServiceError, "a document": canaryDocument, "a file with a mistake": canaryReload,
		"a report": canaryVerdict}
}

// shown is where secrets may be seen, and why. All else is a leak.
func shown(place, source string) bool {
	switch place {
	case "results": // what a tool answers is for the model that called it
		return source == "a result" || source == "a tool's error" || source == "a server's error"
	case "pages", "approvals": // people see exactly what would run, but for members marked secret, and what the tool answered
		return slices.Contains([]string{"an argument", "a deep argument", "a result", "a tool's error", "a server's error"}, source)
	case "reports": // what is reported as a result comes back to whoever reported it
		return source == "a result"
	case "requester": // who proposed it gets its own words back, to go on with them
		return slices.Contains([]string{"an argument", "a deep argument", "a secret argument"}, source)
	}
	return false
}

// hits are the leaks in what was collected, as "source in place".
func hits(collected map[string][]byte) (out []string) {
	for place, text := range collected {
		text = unfolded(text, 2)
		for source, secret := range sources() {
			if bytes.Contains(text, []byte(secret)) && !shown(place, source) {
				out = append(out, source+" in "+place)
			}
		}
	}
	slices.Sort(out)
	return out
}

var folded = regexp.MustCompile(`[A-Za-z0-9+/_-]{16,}={0,2}`)

// unfolded is a text with what stands in it as base64, of either alphabet,
// behind it: envelopes hold their payloads so.
func unfolded(text []byte, depth int) []byte {
	out := bytes.Clone(text)
	for _, run := range folded.FindAll(text, -1) {
		run = bytes.TrimRight(run, "=")
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if plain, err := e.DecodeString(string(run)); err == nil {
				if depth > 1 {
					plain = unfolded(plain, depth-1)
				}
				out = append(append(out, '\n'), plain...)
			}
		}
	}
	return out
}

func TestPlantedLeakIsFound(t *testing.T) {
	t.Parallel()
	for source, secret := range sources() {
		for _, place := range []string{"log", "metrics", "spans", "events", "webhook", "exports", "pages", "results", "warrants", "mistakes"} {
			if shown(place, source) {
				continue
			}
			once := base64.StdEncoding.EncodeToString([]byte(`{"a":"` + secret + `"}`))
			for _, form := range []string{secret, once, base64.RawURLEncoding.EncodeToString([]byte(`{"payload":"` + once + `"}`))} {
				if got := hits(map[string][]byte{place: []byte("x \"" + form + "\" y")}); !slices.Contains(got, source+" in "+place) {
					t.Errorf("%s in %s as %s is not found: %v", source, place, form, got)
				}
			}
		}
	}
}

// canaryRun is a real run with secrets in it, and all that came out of it.
type canaryRun struct {
	*served
	dir     string
	hook    *recorder
	otlp    *recorder
	actions []string          // that were approved
	out     map[string][]byte // by place
}

func (c *canaryRun) add(place string, text []byte) { c.out[place] = append(c.out[place], text...) }

func newCanaryRun(t *testing.T) *canaryRun {
	t.Helper()
	far := leakyFar(t)
	p := newPlace(t, "100ms")
	c := &canaryRun{dir: filepath.Dir(string(p.home)), hook: newRecorder(t), otlp: secureRecorder(t), out: map[string][]byte{}}
	ca := filepath.Join(c.dir, "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.otlp.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "LEAKY_DAEMON="+canaryEnv, "FAR_SECRET="+canaryCredential, "OTLP_SECRET="+canaryOTLP, "HOOK_SECRET="+canaryHook)
	catalogLeaky(t, p, "near", "far")
	service, imported := leakyService(t, p)
	c.add("commands", imported)
	c.served = p.serve("  near: {command: leaky-mcp, env: {LEAKY: " + canaryServerEnv + "}}\n  far: {url: " + far.URL + ", credential: {env: FAR_SECRET}, audience: \"urn:far\"}\n" + service +
		"metrics: {listen: \"127.0.0.1:0\"}\ntelemetry: {otlp: {url: \"" + c.otlp.URL + "\", networks: [\"127.0.0.0/8\"], ca: ca.pem, header: X-Key, secret: {env: OTLP_SECRET}, interval: 1s}}\n" +
		"sinks:\n    lines: {file: events.jsonl, runs: true, from: start}\n    collector: {otlp: true, from: start}\n    hook: {webhook: {url: \"" + c.hook.URL + "\", secret: {env: HOOK_SECRET}, networks: [\"127.0.0.0/8\"]}, runs: true, from: start}\n")
	p.setup()
	return c
}

func secureRecorder(t *testing.T) *recorder {
	t.Helper()
	r := newRecorder(t)
	plain := r.Config.Handler
	r.Server = httptest.NewTLSServer(plain)
	t.Cleanup(r.Close)
	return r
}

// catalogLeaky catalogues the tools of servers with a secret member.
func catalogLeaky(t *testing.T, p *place, servers ...string) {
	t.Helper()
	p.env = append(p.env, "LEAKY="+canaryServerEnv)
	for _, name := range servers {
		if out, err := p.command("catalog", "import", "--write", "--name", name, "--", "leaky-mcp").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	text, err := os.ReadFile(p.home.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	marked := strings.ReplaceAll(string(text), "impact: irreversible", "secrets: [/pin]\n    impact: irreversible")
	if err := os.WriteFile(p.home.Catalog(), []byte(marked), 0o600); err != nil {
		t.Fatal(err)
	}
}

// play makes calls of every kind: good and bad, over MCP and plain HTTP, with
// answers that are good and bad, and requests that are none.
func (c *canaryRun) play() {
	c.t.Helper()
	arguments := `{"text":"` + canaryArgument + `","pin":"` + canaryPin + `","more":{"deep":"` + canaryDeep + `"}}`
	jar := withHeader{"Cookie", "session=" + canaryHeader, withHeader{"X-Whatever", canaryHeader, withToken{endpointToken}}}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(c.context(), &mcp.StreamableClientTransport{
		Endpoint: c.url, HTTPClient: &http.Client{Transport: jar}}, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = client.Close() })
	for _, server := range []string{"near", "far"} {
		for _, tool := range []string{"keep", "break", "collapse"} {
			name := server + "__" + tool
			asked := c.call(agent{ClientSession: client}, name, arguments, "")
			if asked.Action == "" {
				c.t.Fatalf("%s: %+v", name, asked)
			}
			c.approve(asked.Action)
			for range 2 { // the run, and its stored answer
				got, err := callTool(c.context(), agent{ClientSession: client}, name, arguments, asked.Action)
				c.add("results", fmt.Appendf(nil, "%s: %+v %v\n", name, got, err))
			}
			c.actions = append(c.actions, asked.Action)
		}
		for _, bad := range []string{`{"text":7,"pin":"` + canaryPin + `"}`, `{"` + canaryUnknown + `":"` + canaryUnknown + `"}`, `{"more":"` + canaryDeep + `"}`} {
			got, err := callTool(c.context(), agent{ClientSession: client}, server+"__keep", bad, "")
			c.add("results", fmt.Appendf(nil, "%+v %v\n", got, err))
		}
	}
	c.rawRequests(arguments)
	c.services()
	c.warrants(arguments)
	c.reloads()
}

// rawRequests sends what no good client sends.
func (c *canaryRun) rawRequests(arguments string) {
	c.t.Helper()
	base := strings.TrimSuffix(c.url, "/mcp")
	body := `{"toolName":"near.keep","arguments":` + quoteJSON(arguments) + `,"callId":"1"}`
	for _, q := range []struct{ path, token, body, header string }{
		{"/v1/call", endpointToken, body, ""},
		{"/v1/call", endpointToken, `{"toolName":"near.keep","arguments":"{\"text\":` + canaryBroken + `"}`, ""},
		{"/v1/call", endpointToken, `{"toolName":"near.keep","arguments":` + canaryBroken, ""},
		{"/v1/explain", endpointToken, `{"toolName":"near.keep","arguments":` + quoteJSON(`{"`+canaryUnknown+`":"`+canaryUnknown+`"}`) + `}`, ""},
		{"/v1/call", canaryBearer, body, ""},
		{"/mcp", canaryBearer, `{}`, ""},
		{"/mcp", endpointToken, `{"jsonrpc":"2.0","id":1,"method":"` + canaryBroken, ""},
		{"/mcp", endpointToken, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"near__keep","arguments":{"text":"` + canaryBroken + `","text":"2"}}}`, ""},
		{"/mcp", endpointToken, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id"},
		{"/mcp", endpointToken, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Protocol-Version"},
		{"/mcp", endpointToken, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Origin"},
		{"/mcp", endpointToken, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Traceparent"},
	} {
		r, err := http.NewRequestWithContext(c.context(), http.MethodPost, base+q.path, strings.NewReader(q.body))
		if err != nil {
			c.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("User-Agent", canaryHeader)
		if q.header != "" {
			r.Header.Set(q.header, canaryHeader)
		}
		answer, err := (&http.Client{Transport: withToken{q.token}}).Do(r)
		if err != nil {
			c.t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			c.t.Fatal(err)
		}
		c.add("results", fmt.Appendf(text, " %v\n", answer.Header))
	}
}

func quoteJSON(text string) string { return strconv.Quote(text) }

// collect gathers what every way out has.
func (c *canaryRun) collect() {
	c.t.Helper()
	c.settled()
	c.add("metrics", []byte(c.metrics()))
	for _, path := range []string{"/v1/tools", "/v1/actions", "/v1/proposals"} {
		c.add("requester", c.getAPI(path))
	}
	for _, args := range [][]string{{"status"}, {"status", "--json"}, {"audit", "list", "--json"}, {"people", "list", "--json"}, {"freeze", "list", "--json"}} {
		out, err := c.command(args...).CombinedOutput()
		if err != nil {
			c.t.Errorf("%v: %v %s", args, err, out)
		}
		c.add("commands", out)
	}
	for _, args := range [][]string{{"approvals", "list"}, {"approvals", "list", "--json"}, {"approvals", "show", c.actions[0]}, {"approvals", "show", "--json", c.actions[0]}} {
		out, err := c.command(args...).CombinedOutput()
		if err != nil {
			c.t.Errorf("%v: %v %s", args, err, out)
		}
		c.add("approvals", out)
	}
	c.exports()
	c.pages()
}
