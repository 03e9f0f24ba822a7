package wire_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

func asFault(err error, fault **wire.Error) bool { return errors.As(err, fault) }

// TestPublishedMessagesSurvive takes every example of the MCP specification:
// whole messages as they are, the others as a result and, where they are
// objects, as arguments.
func TestPublishedMessagesSurvive(t *testing.T) {
	t.Parallel()
	files := suiteFiles(t, "mcp-schema/examples-2026-07-28/*/*.json")
	whole := 0
	for name, body := range files {
		if strings.Contains(string(body), `"jsonrpc"`) {
			whole++
			unchanged(t, name, string(body))
			continue
		}
		unchanged(t, name+" as result", `{"jsonrpc":"2.0","id":"i","result":`+string(body)+`}`)
		unchanged(t, name+" as arguments", call+`{"name":"t","arguments":`+string(body)+`}}`)
	}
	if whole == 0 || whole == len(files) {
		t.Errorf("%d of %d examples are whole messages", whole, len(files))
	}
}

// unchanged checks that parsing and edits that change nothing, or are taken
// back, leave every byte.
func unchanged(t *testing.T, name, frame string) {
	t.Helper()
	m := parse(t, frame)
	if string(m.Bytes()) != frame {
		t.Errorf("%s: parsing changed bytes", name)
	}
	same := []func() (*wire.Message, error){
		func() (*wire.Message, error) { return m.WithMember("/jsonrpc", []byte(`"2.0"`)) },
		m.WithoutOwnMeta,
		func() (*wire.Message, error) { return m.Without("/absent") },
	}
	if !m.ID().IsZero() {
		same = append(same, func() (*wire.Message, error) { return m.WithID(m.ID()) })
	}
	if m.Arguments() != nil {
		same = append(same, func() (*wire.Message, error) { return m.WithArguments(m.Arguments()) })
	}
	if at := map[bool]string{true: "/params", false: "/result"}[m.Params() != nil]; m.Params() != nil || m.Result() != nil {
		same = append(same, func() (*wire.Message, error) {
			added, err := m.WithMember(at+"/added", []byte(`{"x":[1]}`))
			if err != nil {
				return nil, err
			}
			return added.Without(at + "/added")
		})
	}
	for i, edit := range same {
		got, err := edit()
		if err != nil {
			if m.Result() != nil && m.Result()[0] != '{' {
				continue // nothing can be added to a result that is no object
			}
			t.Errorf("%s: edit %d: %v", name, i, err)
			continue
		}
		if !got.Equal(m) {
			t.Errorf("%s: edit %d changed bytes:\n%s", name, i, got.Bytes())
		}
	}
	var out bytes.Buffer
	if err := wire.NewWriter(&out).Write(m); err != nil {
		t.Fatal(err)
	}
	if want := strings.NewReplacer("\n", "", "\r", "").Replace(frame) + "\n"; out.String() != want {
		t.Errorf("%s: the written line differs by more than newlines", name)
	}
}

func TestReferenceServerTools(t *testing.T) {
	t.Parallel()
	for name, body := range suiteFiles(t, "mcp-reference-servers/*.tools.json") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := wire.ToolDefinitions(body)
			if err != nil {
				t.Fatal(err)
			}
			if len(list.Tools) == 0 {
				t.Fatal("no tools")
			}
			for _, tool := range list.Tools {
				if !bytes.Contains(body, tool.Raw) || tool.Form != wire.FormCanonical || tool.Digest.IsZero() {
					t.Errorf("tool %s: form %s", tool.Name, tool.Form)
				}
			}
			m := parse(t, `{"jsonrpc":"2.0","id":1,"result":`+string(body)+`}`)
			same, err := m.FilterTools(func(tool wire.Tool) (string, bool) { return tool.Name, true })
			if err != nil || !same.Equal(m) {
				t.Errorf("keeping every tool changed bytes: %v", err)
			}
			renamedAndBack(t, m)
		})
	}
}

func renamedAndBack(t *testing.T, m *wire.Message) {
	t.Helper()
	shown, err := m.FilterTools(func(tool wire.Tool) (string, bool) { return "s__" + tool.Name, true })
	if err != nil {
		t.Fatal(err)
	}
	list, err := wire.ToolDefinitions(shown.Result())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(list.Tools[0].Name, "s__") {
		t.Errorf("tool is shown as %s", list.Tools[0].Name)
	}
	back, err := shown.FilterTools(func(tool wire.Tool) (string, bool) {
		return strings.TrimPrefix(tool.Name, "s__"), true
	})
	if err != nil || !back.Equal(m) {
		t.Errorf("renaming and renaming back changed bytes: %v", err)
	}
}

// TestJSONTestSuite judges the scanner: all that must be accepted survives as
// a member with its exact bytes, all that must be refused is refused.
func TestJSONTestSuite(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	for name, body := range suiteFiles(t, "jsontestsuite/test_parsing/*.json") {
		verdict := name[len("test_parsing/")]
		got, err := m.WithMember("/result/x", body)
		switch {
		case verdict == 'y' && err != nil:
			t.Errorf("%s: %v", name, err)
		case verdict == 'n' && err == nil:
			t.Errorf("%s is accepted", name)
		case err == nil:
			raw, found, err := got.Member("/result/x")
			if want := bytes.Trim(body, " \t\r\n"); err != nil || !found || !bytes.Equal(raw, want) {
				t.Errorf("%s became %q", name, raw)
			}
		}
	}
}
