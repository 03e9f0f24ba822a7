package yamlfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/schema"
)

// ImportOptions say what an operator trusts a server with.
type ImportOptions struct {
	// TrustReadHints takes the server's word (annotations.readOnlyHint) for
	// which tools only read. Each such entry says so in its reason.
	TrustReadHints bool
	Date           time.Time // of the import; needed with TrustReadHints
}

// Import writes a catalog file for the tools of one server, each given as its
// tool object in tools/list. Every definition is pinned. Everything is
// high-impact until a person says otherwise; what a name makes one think of
// stands as a comment that begins with "TODO:". A tool whose definition
// cannot be enforced is left out, with a comment that says why; calls to it
// stay refused.
func Import(server string, definitions [][]byte, opt ImportOptions) ([]byte, error) {
	if opt.TrustReadHints && opt.Date.IsZero() {
		return nil, errors.New("import: trusting the server needs a date")
	}
	w := importer{server: server, opt: opt}
	entries := map[string]string{}
	for _, raw := range definitions {
		name, text, err := w.entry(raw)
		if err != nil {
			return nil, err
		}
		if _, twice := entries[name]; twice {
			return nil, fmt.Errorf("import: the server lists a tool twice")
		}
		entries[name] = text
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Tools of the server %s. Lines that begin with \"TODO:\" are guesses for a person to settle.\n", comment(server))
	b.WriteString("# The format is told in docs/catalog.md.\nversion: \"1\"\ntools:\n")
	if len(entries) == 0 {
		return nil, errors.New("import: the server lists no tool")
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		b.WriteString(entries[name])
	}
	return []byte(b.String()), nil
}

type importer struct {
	server string
	opt    ImportOptions
}

// entry writes one tool.
func (w importer) entry(raw []byte) (name, text string, err error) {
	def, err := catalog.ReadDefinition(raw)
	if err != nil {
		return "", "", fmt.Errorf("import: a tool of the server: %w", err)
	}
	name = w.server + "." + def.Name
	t, err := catalog.Uncataloged(w.server, def.Name, raw)
	if err != nil {
		return name, fmt.Sprintf("  # refused: %s\n  # %s\n\n", comment(def.Name), comment(err.Error())), nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %s:\n", quote(name))
	if line := firstLine(def.Description); line != "" {
		fmt.Fprintf(&b, "    # %s\n", comment(line))
	}
	w.class(&b, def)
	w.guesses(&b, t)
	fmt.Fprintf(&b, "    definition:\n      sha256: \"%s\"\n      raw: %s\n", catalog.DefinitionDigest(raw), block(raw, "        "))
	return name, b.String(), nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > 100 {
		return string(runes[:100]) + "..."
	}
	return line
}

func (w importer) class(b *strings.Builder, def catalog.Definition) {
	if !def.ReadOnlyHint {
		b.WriteString("    impact: irreversible # TODO: or financial, administrative, external; ordinary needs a reason\n")
		return
	}
	if w.opt.TrustReadHints {
		fmt.Fprintf(b, "    mutation: false\n    reason: %s\n",
			quote("server says read-only; trusted by operator on "+w.opt.Date.UTC().Format(time.DateOnly)))
		return
	}
	b.WriteString("    impact: irreversible\n")
	b.WriteString("    # TODO: the server says that it only reads; if you agree: mutation: false, with a reason\n")
}

var advice = map[catalog.Guess]string{
	catalog.GuessPrincipal: "identity? {at: %s, names: principal}",
	catalog.GuessTenant:    "identity? {at: %s, names: tenant}",
	catalog.GuessMoney:     "money? resolve %s with its currency into minor units",
	catalog.GuessPath:      "path? a target {type: file, at: %[1]s}, and resolve {use: a resolver of kind path, from: %[1]s, into: %[1]s}",
	catalog.GuessURL:       "url? a target {type: url, at: %[1]s}, and resolve {use: a resolver of kind url, from: %[1]s, into: %[1]s}",
	catalog.GuessEmail:     "email? resolve {use: a resolver of kind email, from: %[1]s, into: %[1]s}",
	catalog.GuessInstant:   "instant? resolve {use: a resolver of kind instant, from: %[1]s, into: %[1]s}",
	catalog.GuessSecret:    "secret? list %s in secrets",
	catalog.GuessID:        "target? {type: thing, at: %s}",
}

// guesses writes what a person should look at.
func (w importer) guesses(b *strings.Builder, t *catalog.Tool) {
	root := t.Own.Root()
	for _, m := range catalog.Marks(root) {
		fmt.Fprintf(b, "    # TODO: "+advice[m.Guess]+"\n", comment(m.Pointer))
	}
	if p := catalog.DryRunArgument(root); p != "" {
		fmt.Fprintf(b, "    # TODO: preview? dryRun: {argument: %s}\n", comment(p))
	}
	if unbounded := integerIDs(root); len(unbounded) > 0 {
		fmt.Fprintf(b, "    # TODO: integer ids beyond 2^53-1 are refused: %s\n", comment(strings.Join(unbounded, ", ")))
	}
}

func integerIDs(root *schema.Node) []string {
	var out []string
	for m := range catalog.Members(root) {
		if catalog.GuessMember(m.Name, m.Node) == catalog.GuessID && m.Node.Types&schema.TypeInteger != 0 && m.Node.Maximum == "" {
			out = append(out, m.Pointer)
		}
	}
	return out
}
