package gate

import "github.com/seed-de4804fb/verbatim/mcp/wire"

// fromClient is the reviewed map of what a client may send to a server. What
// is not in it is answered with "method not found" and goes nowhere.
// tools/call is not in it: it goes through the Gate.
var fromClient = map[string]wire.Kind{
	"initialize":               wire.KindRequest,
	"server/discover":          wire.KindRequest,
	"ping":                     wire.KindRequest,
	"tools/list":               wire.KindRequest,
	"resources/list":           wire.KindRequest,
	"resources/templates/list": wire.KindRequest,
	"resources/read":           wire.KindRequest,
	"resources/subscribe":      wire.KindRequest,
	"resources/unsubscribe":    wire.KindRequest,
	"prompts/list":             wire.KindRequest,
	"prompts/get":              wire.KindRequest,
	"completion/complete":      wire.KindRequest,
	"logging/setLevel":         wire.KindRequest,
	listenMethod:               wire.KindRequest,
	// of the tasks extension, for tasks that the client was given
	"tasks/get":    wire.KindRequest,
	"tasks/update": wire.KindRequest,
	"tasks/cancel": wire.KindRequest,

	"notifications/initialized":        wire.KindNotification,
	"notifications/progress":           wire.KindNotification,
	"notifications/roots/list_changed": wire.KindNotification,
	// notifications/cancelled is handled by id.
}

// fromServer is the reviewed map of what a server may send to a client.
var fromServer = map[string]wire.Kind{
	"ping":                   wire.KindRequest,
	"roots/list":             wire.KindRequest,
	"sampling/createMessage": wire.KindRequest,
	"elicitation/create":     wire.KindRequest,

	"notifications/progress":               wire.KindNotification,
	"notifications/cancelled":              wire.KindNotification,
	"notifications/message":                wire.KindNotification,
	"notifications/tools/list_changed":     wire.KindNotification,
	"notifications/resources/list_changed": wire.KindNotification,
	"notifications/resources/updated":      wire.KindNotification,
	"notifications/prompts/list_changed":   wire.KindNotification,
	"notifications/elicitation/complete":   wire.KindNotification,

	"notifications/subscriptions/acknowledged": wire.KindNotification,
}

// needs is the capability that a client must have declared for a request of a
// server (MCP 2025-11-25, "Capability Negotiation").
var needs = map[string]string{"roots/list": "roots", "sampling/createMessage": "sampling", "elicitation/create": "elicitation"}

// ClientMethods lists every method that a client can reach, for the test that
// enumerates entry points.
func ClientMethods() []string {
	out := []string{"tools/call", "notifications/cancelled"}
	for m := range fromClient {
		out = append(out, m)
	}
	return out
}
