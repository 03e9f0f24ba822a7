package hub

import "github.com/seed-de4804fb/verbatim/mcp/gate"

// Pattern names URIs, prompts or tools; see [gate.Pattern].
type Pattern = gate.Pattern

// ParsePattern reads a pattern; see [gate.ParsePattern].
func ParsePattern(text string) (Pattern, error) { return gate.ParsePattern(text) }

func anyMatches(list []Pattern, text string) bool { return gate.AnyMatches(list, text) }

// resource returns the one server that a rule lets read uri for.
func (f *roof) resource(c *Caller, uri string) (string, bool) {
	if gate.Climbs(uri) {
		return "", false
	}
	found := ""
	for _, name := range f.names {
		if !c.sees(name) || !anyMatches(f.servers[name].Resources, uri) {
			continue
		}
		if found != "" {
			return "", false // two servers: which is meant is not for us to guess
		}
		found = name
	}
	return found, found != ""
}
