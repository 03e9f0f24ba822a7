package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/decode"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

var update = flag.Bool("update", false, "rewrite generated pages")

// codesHead stands before the list. A stroke stands for a back quote.
const codesHead = `# Codes

Every answer has a status and one code of this closed list. Library, MCP, command line and records share it. This page is
generated from ´errors.go´: ´go test ./cmd/verbatim -run TestCodesPage -update´.

| status | means | exit code of ´verbatim call´ |
|---|---|---|
| ok | it ran, now or earlier | 0 |
| denied | policy, a person or the runtime said no; nothing ran. To a model, every denial has the class ´tool_forbidden´ | 3 |
| invalid_arguments | refused before any decision | 3 |
| approval_required | it waits for people; nothing has run | 4 |
| in_progress | this very call is running | 1 |
| failed | it did not happen: proved, or the word of the tool | 1 |
| uncertain | nobody knows whether it happened | 1 |

## The envelope

A call that did not run is answered with this object: over MCP as ´structuredContent´ beside one plain sentence (as a second text where the tool has an output schema), in the library as
´Outcome.Envelope´. A tool that ran answers for itself, byte for byte.

| member | |
|---|---|
| ´status´, ´code´ | as on this page |
| ´class´ | ´tool_forbidden´ where the status is denied |
| ´publicReason´ | what policy lets a caller know; the internal reason is in the record only |
| ´data.toolName´, ´data.actionId´, ´data.state´, ´data.proposalHash´ | which action it is about; absent where there is none |
| ´data.stage´, ´data.violations´ | of refused arguments: ´json´, ´schema´, ´resolve´ or ´snapshot´, and all that is wrong as ´{pointer, rule, expected, offset}´, never a value |
| ´data.member´ | what differs, for ´approval_mismatch´, ´approval_stale´ and ´target_changed´; which limit, for ´limit_exceeded´ and ´limit_uncountable´; what is frozen, for ´stopped´ |
| ´data.evidence´ | of a failure: ´proved´ or ´reported´ |
| ´data.replayed´, ´data.joined´ | the answer of an earlier run; of another call of the same action |
| ´data.standingGrant´ | id of the [standing grant](policy.md#standing-grants) that approved it in the place of votes |
| ´data.expiresAt´ | when waiting ends, RFC 3339 |
| ´data.output´ | what the tool answered, where that is known |

## The list

| code | what a model is told |
|---|---|
`

func TestCodesPageIsTheListOfTheCode(t *testing.T) {
	t.Parallel()
	const page = "../../docs/codes.md"
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(codesHead, "´", "`"))
	codes := verbatim.Codes()
	for _, c := range slices.Sorted(maps.Keys(codes)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c, strings.ReplaceAll(codes[c], "|", "\\|"))
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(b.String(), text(t, page)); diff != "" {
		t.Errorf("docs/codes.md (-code +page); run with -update:\n%s", diff)
	}
}

func TestProposalHashPageHoldsItsVectors(t *testing.T) {
	t.Parallel()
	vectors := 0
	for line := range strings.Lines(text(t, "../../docs/spec/proposal-hash.md")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 5 || !strings.Contains(cells[3], "`") {
			continue
		}
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		v, err := decode.Arguments([]byte(cells[3]), decode.Options{})
		if err != nil {
			t.Fatal(err)
		}
		frozen, err := snapshot.Freeze(v)
		if err != nil {
			t.Fatal(err)
		}
		got := snapshot.Propose(cells[1], cells[2], frozen).Hash
		if cells[0] == "handoff" {
			got = snapshot.ProposeHandoff(cells[1], cells[2], frozen).Hash
		}
		if frozen.Text() != cells[3] || got.String() != cells[4] {
			t.Errorf("%s: got %s of %s", line, got, frozen.Text())
		}
		vectors++
	}
	if vectors != 4 {
		t.Errorf("the page has %d vectors, want 4", vectors)
	}
}

func TestCommandPageNamesEveryCommandAndFlag(t *testing.T) {
	t.Parallel()
	page := text(t, "../../docs/cli.md")
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Hidden || sub.Name() == "help" || sub.Name() == "completion" {
				continue
			}
			walk(sub)
		}
		if c.HasParent() && !c.HasSubCommands() && !strings.Contains(page, "`"+c.CommandPath()) {
			t.Errorf("docs/cli.md does not name %q", c.CommandPath())
		}
		for name := range flagNames(c) {
			if !strings.Contains(page, "`--"+name) {
				t.Errorf("docs/cli.md does not name --%s of %q", name, c.CommandPath())
			}
		}
	}
	walk(rootCommand(terminalStreams()))
}

// flagNames are the flags that people may give.
func flagNames(c *cobra.Command) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(c.LocalFlags().FlagUsages()) { // hidden ones are not in it
		if _, rest, ok := strings.Cut(line, "--"); ok {
			name, _, _ := strings.Cut(rest, " ")
			names[name] = true
		}
	}
	delete(names, "help")
	return names
}
