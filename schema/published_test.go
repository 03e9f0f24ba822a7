package schema_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

const suites = "../../shared/suites"

// publishedTool is one tool in any of the shapes in which servers list them.
type publishedTool struct {
	Name        string
	InputSchema json.RawMessage
	Function    struct {
		Name       string
		Parameters json.RawMessage
	}
}

// publishedSchemas returns the input schemas of a file by tool name.
func publishedSchemas(t *testing.T, file string) map[string]*schema.Schema {
	t.Helper()
	raw := readSuite(t, file)
	var tools []publishedTool
	if err := json.Unmarshal(raw, &tools); err != nil {
		var listed struct{ Tools []publishedTool }
		if err := json.Unmarshal(raw, &listed); err != nil {
			t.Fatal(err)
		}
		tools = listed.Tools
	}
	out := map[string]*schema.Schema{}
	for _, tool := range tools {
		name, src := tool.Name, tool.InputSchema
		if src == nil {
			name, src = tool.Function.Name, tool.Function.Parameters
		}
		s, err := schema.Compile(src, schema.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out[name] = s
	}
	if len(out) == 0 {
		t.Fatalf("%s lists no tools", file)
	}
	return out
}

func readSuite(t *testing.T, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(suites, file))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the public suites are not at " + suites)
	}
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestPublishedToolsCompileAndAreClosed(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"mcp-reference-servers/everything.tools.json", "mcp-reference-servers/filesystem.tools.json",
		"mcp-reference-servers/memory.tools.json", "mcp-reference-servers/sequential-thinking.tools.json",
		"agentdojo/banking.tools.json", "agentdojo/slack.tools.json", "tau-bench/airline.tools.json", "tau-bench/retail.tools.json",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			for name, s := range publishedSchemas(t, file) {
				if root := s.Root(); root.Types != schema.TypeObject || root.Union {
					t.Errorf("%s: the view is %s", name, show(root))
				}
				if _, _, err := s.Apply(canon.ObjectValue(canon.Member{Name: "no-such-member", Value: canon.NullValue()}), nil); err == nil {
					t.Errorf("%s: an unknown member passes", name)
				}
			}
		})
	}
}

// TestPublishedCallsPass applies the schemas of two published agents to the
// calls that their authors consider right.
func TestPublishedCallsPass(t *testing.T) {
	t.Parallel()
	for _, domain := range []string{"airline", "retail"} {
		t.Run(domain, func(t *testing.T) {
			t.Parallel()
			tools := publishedSchemas(t, "tau-bench/"+domain+".tools.json")
			var tasks []struct {
				Actions []struct {
					Name      string
					Arguments json.RawMessage
					Kwargs    json.RawMessage
				}
			}
			if err := json.Unmarshal(readSuite(t, "tau-bench/"+domain+".tasks_test.json"), &tasks); err != nil {
				t.Fatal(err)
			}
			calls := 0
			for _, task := range tasks {
				for _, a := range task.Actions {
					s, ok := tools[a.Name]
					if !ok {
						continue
					}
					args := a.Arguments
					if args == nil {
						args = a.Kwargs
					}
					calls++
					out, changes, err := s.Apply(decode(t, string(args)), nil)
					if err != nil || len(changes) > 0 {
						t.Errorf("%s %s: %v, %v", a.Name, args, changes, err)
						continue
					}
					if err := s.Validate(out); err != nil {
						t.Errorf("%s: %v", a.Name, err)
					}
				}
			}
			if calls < 50 {
				t.Errorf("%d calls, want at least 50", calls)
			}
		})
	}
}
