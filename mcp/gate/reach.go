package gate

import (
	"regexp"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// Reach is what of a server's resources and prompts a client can use. What no
// pattern names does not exist; the zero value names nothing.
type Reach struct {
	Resources []Pattern // of URIs
	Prompts   []Pattern // of names
}

const textNoRule = "no rule of the gateway allows this"

func (r Reach) resource(uri string) bool { return !Climbs(uri) && AnyMatches(r.Resources, uri) }

// allows reports whether a client may send a message that names a resource or
// a prompt. Other methods are none of its business.
func (r Reach) allows(m *wire.Message) bool {
	switch m.Method() {
	case "resources/read", "resources/subscribe", "resources/unsubscribe", "notifications/resources/updated":
		uri, ok := textAt(m, "/params/uri")
		return ok && r.resource(uri)
	case "prompts/get":
		return AnyMatches(r.Prompts, m.Name())
	case "completion/complete":
		return r.completes(m)
	default:
		return true
	}
}

func (r Reach) completes(m *wire.Message) bool {
	switch kind, _ := textAt(m, "/params/ref/type"); kind {
	case "ref/prompt":
		name, ok := textAt(m, "/params/ref/name")
		return ok && AnyMatches(r.Prompts, name)
	case "ref/resource":
		template, ok := textAt(m, "/params/ref/uri")
		return ok && r.resource(Expanded(template))
	default:
		return false
	}
}

// textAt is the text at a place, if it has one reading.
func textAt(m *wire.Message, pointer string) (string, bool) {
	raw, found, err := m.Member(pointer)
	if err != nil || !found {
		return "", false
	}
	return wire.Text(raw)
}

var variable = regexp.MustCompile(`\{[^{}]*\}`)

// Expanded fills the variables of a URI template (RFC 6570) with a word, for
// the question whether a pattern could name what comes of it.
func Expanded(template string) string { return variable.ReplaceAllString(template, "x") }

// shows leaves out of a list what the client cannot use.
func (r Reach) shows(method string, answer *wire.Message) (*wire.Message, error) {
	if answer.Kind() != wire.KindResult {
		return answer, nil
	}
	keep := func(at, member string, ok func(string) bool) (*wire.Message, error) {
		return answer.WithElements(at, func(raw []byte) bool {
			value, found, err := wire.MemberOf(raw, member)
			if err != nil || !found {
				return false
			}
			text, is := wire.Text(value)
			return is && ok(text)
		})
	}
	switch method {
	case "resources/list":
		return keep("/result/resources", "uri", r.resource)
	case "resources/templates/list":
		return keep("/result/resourceTemplates", "uriTemplate", func(t string) bool { return r.resource(Expanded(t)) })
	case "prompts/list":
		return keep("/result/prompts", "name", func(n string) bool { return AnyMatches(r.Prompts, n) })
	default:
		return answer, nil
	}
}
