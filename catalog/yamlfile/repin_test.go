package yamlfile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
)

const (
	sendOne = `{"name":"send","description":"Sends.","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}`
	sendTwo = `{"name":"send","description":"Sends it.","inputSchema":{"type":"object","properties":{"to":{"type":"string"},"bcc":{"type":"string"}}},"x":1}`
	look    = `{"name":"look","inputSchema":{"type":"object"}}`
)

// G05: what changed in a definition is told by place, and only that tool is
// pinned anew.
func TestG05RepinTouchesOneDefinition(t *testing.T) {
	t.Parallel()
	src, err := yamlfile.Import("mail", [][]byte{[]byte(sendOne), []byte(look)}, yamlfile.ImportOptions{Date: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	noted := strings.Replace(string(src), "    impact: irreversible", "    # a person's note\n    impact: financial", 1)
	got, err := yamlfile.Repin("c.yaml", []byte(noted), t.TempDir(), "mail.send", []byte(sendTwo))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := yamlfile.Decode("c.yaml", got, t.TempDir())
	if err != nil || len(tools) != 2 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	if d := tools[1].Definition; d != catalog.DefinitionDigest([]byte(sendTwo)) {
		t.Errorf("send is pinned to %s", d)
	}
	back, err := yamlfile.Repin("c.yaml", got, t.TempDir(), "mail.send", []byte(sendOne))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(noted, string(back)); diff != "" {
		t.Errorf("there and back again (-want +got):\n%s", diff)
	}
	want := []string{"/description", "/inputSchema/properties/bcc", "/x"}
	if diff := cmp.Diff(want, catalog.Differences([]byte(sendOne), []byte(sendTwo))); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

// G06: the order of members is no difference.
func TestG06MemberOrderIsNoDifference(t *testing.T) {
	t.Parallel()
	if got := catalog.Differences([]byte(`{"a":1,"b":{"c":[1,2]}}`), []byte(`{ "b":{"c":[1,2]}, "a":1 }`)); len(got) > 0 {
		t.Errorf("differences at %q", got)
	}
}

func TestRepinRefusesWhatItCannotEditAlone(t *testing.T) {
	t.Parallel()
	src, err := yamlfile.Import("mail", [][]byte{[]byte(sendOne)}, yamlfile.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, tool, text, definition string }{
		{"an unknown tool", "mail.none", string(src), sendTwo},
		{"a definition of another tool", "mail.send", string(src), look},
		{"no definition at all", "mail.send", string(src), `{}`},
		{"a file that does not load", "mail.send", "tools: [", sendTwo},
	} {
		if out, err := yamlfile.Repin("c.yaml", []byte(tt.text), t.TempDir(), tt.tool, []byte(tt.definition)); err == nil {
			t.Errorf("%s: written:\n%s", tt.name, out)
		}
	}
}
