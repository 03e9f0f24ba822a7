//go:build unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// replaceFile puts a text in the place of a file, as a whole.
func replaceFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// ordinaryNotes catalogues adding a note of some servers as an ordinary change.
func (p *place) ordinaryNotes(servers ...string) {
	p.t.Helper()
	for _, name := range servers {
		if out, err := p.command("catalog", "import", "--write", "--name", name, "--", "notes-mcp").CombinedOutput(); err != nil {
			p.t.Fatalf("%v: %s", err, out)
		}
	}
	text, err := os.ReadFile(p.home.Catalog())
	if err != nil {
		p.t.Fatal(err)
	}
	replaceFile(p.t, p.home.Catalog(), strings.ReplaceAll(string(text), "impact: irreversible", "reason: test\n    impact: ordinary"))
}

// policy puts rules in force that let notes be added, but for one text.
func (p *place) policy(but string) {
	p.t.Helper()
	if err := os.MkdirAll(p.home.Policy(), 0o700); err != nil {
		p.t.Fatal(err)
	}
	replaceFile(p.t, filepath.Join(p.home.Policy(), "notes.cedar"),
		"@id(\"add\") permit (principal, action == Action::\"notes.add\", resource) when { context.args.text != \""+but+"\" };\n"+
			"@id(\"list\") permit (principal, action == Action::\"notes.list\", resource);\n")
}

// configure rewrites the configuration of a served place: its servers, and
// what is behind its tokens, which are called as their files. That of serve is
// called test.
func (s *served) configure(servers string, tokens map[string][]string) {
	s.t.Helper()
	_, principal, err := localPrincipal()
	if err != nil {
		s.t.Fatal(err)
	}
	text := "listen: 127.0.0.1:0\nwait: 200ms\nservers:\n" + servers + "endpoint:\n  listen: 127.0.0.1:0\n  tokens:\n"
	for file, behind := range tokens {
		name := file
		if file == "token" {
			name = "test"
		}
		text += fmt.Sprintf("    - {name: %s, file: %s, principal: %s, agent: tester, servers: [%s]}\n", name, file, principal, strings.Join(behind, ", "))
	}
	replaceFile(s.t, filepath.Join(filepath.Dir(string(s.home)), "serve.yaml"), text)
}

// reload tells the daemon to read its files, and waits until its log says a
// text once more.
func (s *served) reload(text string) {
	s.t.Helper()
	before := s.said(text)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		s.t.Fatal(err)
	}
	s.eventually("the log says: "+text, func() bool { return s.said(text) > before })
}

func (s *served) said(text string) int {
	s.t.Helper()
	log, err := os.ReadFile(s.log)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Count(string(log), text)
}

const readAgain = "the configuration was read again"

// Clients of both eras add notes while policy, servers and tokens are replaced
// a hundred times, and the server that they call is restarted: each call is
// answered with its result, and has run once.
func TestNoCallIsLostInAHundredReloads(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "200ms")
	p.ordinaryNotes("notes")
	p.policy("none")
	server := func(round int) string {
		return fmt.Sprintf("  notes: {command: notes-mcp, env: {NOTES: %s, ROUND: \"%d\"}}\n", p.notes, round)
	}
	s := p.serve(server(0) + "  other: {command: notes-mcp}\n")
	stop := make(chan struct{})
	var all sync.WaitGroup
	var mu sync.Mutex
	acknowledged := make([][]string, 4) // by client
	done := func(i int) int {
		mu.Lock()
		defer mu.Unlock()
		return len(acknowledged[i])
	}
	for i, version := range []string{"2026-07-28", "2025-11-25", "2026-07-28", "2025-11-25"} {
		c := s.client(version)
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				text := fmt.Sprintf("%d-%d", i, n)
				got, err := callTool(t.Context(), agent{ClientSession: c}, "notes__add", `{"text":"`+text+`"}`, "")
				if err != nil || got.Text != "added" {
					t.Errorf("%s: %+v, %v", text, got, err)
					return
				}
				mu.Lock()
				acknowledged[i] = append(acknowledged[i], text)
				mu.Unlock()
			}
		})
	}
	for i := 1; i <= 100 && !t.Failed(); i++ {
		before := []int{done(0), done(1), done(2), done(3)}
		p.policy(fmt.Sprintf("none-%d", i))
		more := fmt.Sprintf("more%d", i%7)
		s.configure(server(i/10)+"  "+more+": {command: notes-mcp}\n", map[string][]string{"token": {"notes", more}})
		s.reload(readAgain)
		s.eventually("each client goes on", func() bool {
			return t.Failed() || done(0) > before[0] && done(1) > before[1] && done(2) > before[2] && done(3) > before[3]
		})
	}
	close(stop)
	all.Wait()
	want := slices.Concat(acknowledged...)
	slices.Sort(want)
	written := p.written()
	slices.Sort(written)
	if diff := cmp.Diff(want, written); diff != "" || len(written) < 400 {
		t.Errorf("%d notes (-acknowledged +written):\n%s", len(written), diff)
	}
}

// A token that is taken out of the configuration, and a server that is, are
// gone with the next request; what is wrong with a file changes nothing, and
// is said.
func TestAReloadTakesOverAllOrNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "200ms")
	p.ordinaryNotes("notes")
	p.policy("none")
	dir := filepath.Dir(string(p.home))
	if err := os.WriteFile(filepath.Join(dir, "second"), []byte("another-token-of-a-client-2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	notes, diary := "  notes: {command: notes-mcp, env: {NOTES: "+p.notes+"}}\n", "  diary: {command: notes-mcp, env: {NOTES: "+p.notes+"}}\n"
	s := p.serve(notes)
	tools := func(version string) string {
		t.Helper()
		list, err := s.client(version).ListTools(s.context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		return strings.Join(names, " ")
	}
	status := func(token string) int {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, s.url, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	if got := tools("2026-07-28"); got != "add list" {
		t.Fatalf("before: %s", got)
	}

	s.configure(notes+diary, map[string][]string{"token": {"notes", "diary"}, "second": {"diary"}})
	s.reload(readAgain)
	if got := tools("2025-11-25"); got != "diary__add diary__list notes__add notes__list" {
		t.Errorf("with a second server: %s", got)
	}
	if got := status("another-token-of-a-client-2"); got != http.StatusBadRequest {
		t.Errorf("the new token: %d", got)
	}

	// Without being told: the file is looked at.
	s.configure(diary, map[string][]string{"token": {"diary"}})
	p.eventually("the token is refused", func() bool { return status("another-token-of-a-client-2") == http.StatusUnauthorized })
	if got := tools("2026-07-28"); got != "add list" {
		t.Errorf("without the first server: %s", got)
	}

	// A mistake anywhere leaves all as it was.
	for _, wrong := range []struct{ what, servers, token string }{
		{"a field that is none", diary + "agnet: x\n", "token"},
		{"a token without a file", diary, "missing"},
		{"a server of no kind", diary + "  wrong: {dir: /srv}\n", "token"},
		{"servers that look alike", diary + "  mail1: {command: notes-mcp}\n  maill: {command: notes-mcp}\n", "token"},
		{"what needs a restart", "  new: {command: notes-mcp}\norigin: https://approve.example.com\n", "token"},
	} {
		behind := []string{"diary"}
		if strings.Contains(wrong.servers, "new:") {
			behind = []string{"new"}
		}
		s.configure(wrong.servers, map[string][]string{wrong.token: behind})
		s.reload("stage=configuration")
		out, err := p.command("status").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "not in use: ") {
			t.Errorf("%s: status says, %v:\n%s", wrong.what, err, out)
		}
		if got := tools("2026-07-28"); got != "add list" {
			t.Errorf("%s: %s", wrong.what, got)
		}
		if got := p.call(agent{ClientSession: s.client("2025-11-25")}, "list", "{}", ""); !strings.HasPrefix(got.Text, "notes:") && got.Code == "" {
			t.Errorf("%s: %+v", wrong.what, got)
		}
	}
	s.configure(diary, map[string][]string{"token": {"diary"}})
	s.reload(readAgain)
	out, err := p.command("status").CombinedOutput()
	if err != nil || strings.Contains(string(out), "not in use") {
		t.Errorf("mended: %v\n%s", err, out)
	}
	log, err := os.ReadFile(s.log)
	if err != nil || strings.Contains(string(log), "another-token") || strings.Contains(string(log), endpointToken) {
		t.Errorf("the log holds a token, %v", err)
	}
}

// A client of wrap hears of a catalog that somebody has changed, and of
// nothing that only policy says, or that wrap itself has added for reads that
// its user trusts.
func TestOnlyAChangedCatalogIsToldToAClient(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "10ms")
	told := make(chan struct{}, 10)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told <- struct{}{} },
	}).Connect(p.context(), &mcp.CommandTransport{Command: p.command("wrap", "--trust-read-hints", "--name", "notes", "--", "notes-mcp")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // the daemon may have ended before
	if got := p.call(agent{ClientSession: c}, "list", "{}", ""); !strings.HasPrefix(got.Text, "notes:") {
		t.Fatalf("%+v", got)
	}
	log := func() string {
		text, err := os.ReadFile(p.home.Log())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if err := os.MkdirAll(p.home.Policy(), 0o700); err != nil {
		t.Fatal(err)
	}
	replaceFile(t, filepath.Join(p.home.Policy(), "notes.cedar"), "@id(\"list\") permit (principal, action == Action::\"notes.list\", resource);\n")
	p.eventually("the policy is read again", func() bool { return strings.Contains(log(), "catalog and policy were read again") })
	if len(told) != 0 {
		t.Error("the client was told of a policy, or of trusted reads")
	}
	text, err := os.ReadFile(p.home.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	replaceFile(t, p.home.Catalog(), "# another one\n"+string(text))
	select {
	case <-told:
	case <-time.After(20 * time.Second):
		t.Error("the client was not told of the catalog")
	}
}
