//go:build bench && linux

package gatewaybench_test

import (
	"context"
	"strings"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
)

// What client and server say. The two tools have one schema; "look" reads and
// "put" writes.
const (
	schema   = `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"},"filter":{"type":"string"},"deep":{"type":"boolean"}}}`
	args     = `{"deep":true,"filter":"created after 2026-01-01 and owned by somebody in the finance group","limit":50,"path":"/srv/notes/2026/invoices"}`
	result   = `{"content":[{"type":"text","text":"forty-two notes, the newest of them from this morning"}],"resultType":"complete"}`
	meta     = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"b","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`
	greeted  = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	hello    = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
	look     = `{"name":"look","inputSchema":` + schema + `,"annotations":{"readOnlyHint":true}}`
	put      = `{"name":"put","inputSchema":` + schema + `}`
	listed   = `{"tools":[` + look + `,` + put + `],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
	found    = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`
	answerIs = "forty-two"
)

// The two eras of the protocol.
const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// callOf is one call of a tool, with a number as its id. Calls of different ids
// ask for different things: the same mutation twice at once is a case of its own.
func callOf(tool, era, id string) string {
	tail := ""
	if era == modern {
		tail = "," + meta
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + strings.Replace(args, "invoices", "invoices-"+id, 1) + tail + `}}`
}

var results = map[string]string{"initialize": hello, "tools/list": listed, "server/discover": found, "tools/call": result}

// serverAnswer is the whole server.
func serverAnswer(m *wire.Message) *wire.Message {
	a, err := wire.NewResult(m.ID(), []byte(results[m.Method()]))
	if results[m.Method()] == "" {
		a, err = wire.NewError(m.ID(), wire.CodeMethodNotFound, "no", nil)
	}
	if err != nil {
		panic(err)
	}
	return a
}

// catalogued is the catalog of the server "s", and the policy: reads run, and
// so does a write of few notes.
type catalogued map[string]*catalog.Tool

const rules = `
@id("reads") permit (principal, action in Action::"read", resource);
@id("writes") permit (principal, action == Action::"s.put", resource) when { context.args has limit && context.args.limit < 100 };`

func newCatalog() (catalogued, *cedar.Engine, error) {
	page, err := wire.ToolDefinitions([]byte(listed))
	if err != nil {
		return nil, nil, err
	}
	tools, list := catalogued{}, []*catalog.Tool{}
	for _, t := range page.Tools {
		spec := catalog.Spec{Name: "s." + t.Name, Server: "s", Definition: t.Raw, Pin: t.Digest, Read: t.Name == "look", Reason: "a measurement"}
		if !spec.Read {
			spec.Impact = catalog.Ordinary
		}
		tool, err := catalog.Define(spec)
		if err != nil {
			return nil, nil, err
		}
		tools[t.Name], list = tool, append(list, tool)
	}
	engine, err := cedar.Load(map[string][]byte{"bench.cedar": []byte(rules)}, list, cedar.Options{})
	return tools, engine, err
}

func (c catalogued) Bind(_ string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	tool := c[t.Name]
	if tool == nil {
		return nil, verbatim.CodeToolRefused
	}
	return tool, ""
}

var always = context.Background()
