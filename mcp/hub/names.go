package hub

import (
	"regexp"
	"strings"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// separator stands between a server's name and a tool's. A server's name has
// no underscore, so the first one ends it.
const separator = "__"

// toolName is what MCP lets a tool be called (2025-11-25, "Tool Names").
var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// shown is the name under which a client sees what a server calls name.
func (f *roof) shown(server, name string) string {
	if !f.prefixed() {
		return name
	}
	return server + separator + name
}

// owner splits a name that a client used.
func (f *roof) owner(shown string) (server, name string, ok bool) {
	if !f.prefixed() {
		return f.only(), shown, true
	}
	server, name, ok = strings.Cut(shown, separator)
	_, known := f.servers[server]
	return server, name, ok && known && name != ""
}

// skeleton makes names equal that a reader could take for one another. The
// alphabet is ASCII; other letters are refused before.
func skeleton(name string) string {
	return strings.ToLower(strings.NewReplacer("I", "l", "1", "l", "|", "l", "0", "o", "-", "_", ".", "_").Replace(name))
}

// closed says why tools of one server are not offered, by the server's name:
// they are too long with their prefix, are no tool names, or look like one
// another. Of two that look alike the one that somebody has catalogued stays.
func (f *roof) closed(server string, tools []wire.Tool) map[string]string {
	out := map[string]string{}
	alike := map[string][]string{}
	for _, t := range tools {
		switch {
		case !toolName.MatchString(t.Name):
			out[t.Name] = "the name has other characters than A-Z a-z 0-9 _ . -"
		case len(f.shown(server, t.Name)) > f.hub.cfg.NameLimit:
			out[t.Name] = "the name is too long"
		}
		for _, key := range []string{"~" + skeleton(t.Name), "=" + strings.ToLower(t.Name)} {
			alike[key] = append(alike[key], t.Name)
		}
	}
	for _, twins := range alike {
		if len(twins) < 2 {
			continue
		}
		for _, name := range f.hub.unreviewed(server, twins, tools) {
			out[name] = "the name looks like that of another tool"
		}
	}
	return out
}

// unreviewed returns those of the twins that must go: all but a single one
// that is catalogued.
func (h *Hub) unreviewed(server string, twins []string, tools []wire.Tool) []string {
	var reviewed, others []string
	for _, t := range tools {
		if !contains(twins, t.Name) {
			continue
		}
		bound, code := h.cfg.Binder.Bind(server, t)
		if code == verbatim.Code("") && bound.Cataloged {
			reviewed = append(reviewed, t.Name)
			continue
		}
		others = append(others, t.Name)
	}
	if len(reviewed) == 1 {
		return others
	}
	return append(reviewed, others...)
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
