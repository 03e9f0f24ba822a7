package hub

import "github.com/seed-de4804fb/verbatim/mcp/wire"

// handler answers one request of a session; nil means that it has no answer.
type handler func(s *Session, r *request) *wire.Message

// method is a line of the reviewed map.
type method struct {
	answer handler
	eras   [2]bool // legacy, modern
}

var both, onlyLegacy, onlyModern = [2]bool{true, true}, [2]bool{true, false}, [2]bool{false, true}

// fromClient is the reviewed map of what a client may ask. What is not in it
// is answered with "method not found" and goes nowhere.
func fromClient(name string) (method, bool) {
	m, ok := methods()[name]
	return m, ok
}

func methods() map[string]method {
	return map[string]method{
		"tools/call":               {(*Session).call, both},
		"tools/list":               {(*Session).tools, both},
		"resources/list":           {(*Session).resources, both},
		"resources/templates/list": {(*Session).templates, both},
		"resources/read":           {(*Session).read, both},
		"prompts/list":             {(*Session).prompts, both},
		"prompts/get":              {(*Session).prompt, both},
		"completion/complete":      {(*Session).complete, both},

		"initialize":            {(*Session).initialize, onlyLegacy},
		"ping":                  {(*Session).ping, onlyLegacy},
		"logging/setLevel":      {(*Session).level, onlyLegacy},
		"resources/subscribe":   {(*Session).follow, onlyLegacy},
		"resources/unsubscribe": {(*Session).follow, onlyLegacy},

		"server/discover":      {(*Session).discover, onlyModern},
		"subscriptions/listen": {(*Session).listen, onlyModern},

		"tasks/get":    {(*Session).task, onlyModern},
		"tasks/update": {(*Session).task, onlyModern},
		"tasks/cancel": {(*Session).task, onlyModern},
	}
}

// Methods lists every method that a client can ask, for the test that
// enumerates entry points.
func Methods() []string {
	var out []string
	for name := range methods() {
		out = append(out, name)
	}
	return out
}

// fromServer is the reviewed map of what a server may send in the course of a
// request.
var fromServer = map[string]wire.Kind{
	"roots/list":             wire.KindRequest,
	"sampling/createMessage": wire.KindRequest,
	"elicitation/create":     wire.KindRequest,

	"notifications/message":                    wire.KindNotification,
	"notifications/elicitation/complete":       wire.KindNotification,
	"notifications/subscriptions/acknowledged": wire.KindNotification,
}

// needs is the capability that a client must have declared for a request of a
// server.
var needs = map[string]string{"roots/list": "roots", "sampling/createMessage": "sampling", "elicitation/create": "elicitation"}
