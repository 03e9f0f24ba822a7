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

// reviewed is the map of what a client may ask, by era. What is not in it is
// answered with "method not found" and goes nowhere.
var reviewed = map[string][2]bool{
	"tools/call":               both,
	"tools/list":               both,
	"resources/list":           both,
	"resources/templates/list": both,
	"resources/read":           both,
	"prompts/list":             both,
	"prompts/get":              both,
	"completion/complete":      both,
	"initialize":               onlyLegacy,
	"ping":                     onlyLegacy,
	"logging/setLevel":         onlyLegacy,
	"resources/subscribe":      onlyLegacy,
	"resources/unsubscribe":    onlyLegacy,
	"server/discover":          onlyModern,
	"subscriptions/listen":     onlyModern,
	"tasks/get":                onlyModern,
	"tasks/update":             onlyModern,
	"tasks/cancel":             onlyModern,
}

// fromClient finds a method of the reviewed map. One that nobody answers is
// not in it.
func fromClient(name string) (method, bool) {
	m := method{answerOf(name), reviewed[name]}
	return m, m.answer != nil
}

// answerOf says who answers a method. It is no table, because answers lead
// back here.
func answerOf(name string) handler {
	switch name {
	case "tools/call":
		return (*Session).call
	case "tools/list":
		return (*Session).tools
	case "resources/list":
		return (*Session).resources
	case "resources/templates/list":
		return (*Session).templates
	case "resources/read":
		return (*Session).read
	case "prompts/list":
		return (*Session).prompts
	case "prompts/get":
		return (*Session).prompt
	case "completion/complete":
		return (*Session).complete
	case "initialize":
		return (*Session).initialize
	case "ping":
		return (*Session).ping
	case "logging/setLevel":
		return (*Session).level
	case "resources/subscribe", "resources/unsubscribe":
		return (*Session).follow
	case "server/discover":
		return (*Session).discover
	case "subscriptions/listen":
		return (*Session).listen
	case "tasks/get", "tasks/update", "tasks/cancel":
		return (*Session).task
	default:
		return nil
	}
}

// Methods lists every method that a client can ask, for the test that
// enumerates entry points.
func Methods() []string {
	var out []string
	for name := range reviewed {
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
