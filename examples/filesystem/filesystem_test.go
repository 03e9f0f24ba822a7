package filesystem_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
	"github.com/seed-de4804fb/verbatim/internal/needs"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// binder binds what the server lists to the example's catalog, and fails the
// test where the server is another than the one that was pinned.
type binder struct {
	t *testing.T
	c *catalog.Catalog
}

func (b binder) Bind(server string, tool wire.Tool) (*catalog.Tool, verbatim.Code) {
	found, err := b.c.FromDefinition(server, tool.Name, tool.Raw)
	if err != nil || !found.Cataloged {
		b.t.Errorf("%s is not as the catalog pins it: %v", tool.Name, err)
		return &catalog.Tool{Name: server + "." + tool.Name, Mutation: true}, verbatim.CodeToolRefused
	}
	return found, ""
}

// counted counts the questions that policy hears.
type counted struct {
	policy.Engine
	asked *atomic.Int64
}

func (c counted) Decide(ctx context.Context, in policy.Input) (policy.Decision, error) {
	c.asked.Add(1)
	return c.Engine.Decide(ctx, in)
}

// session is a conversation with the reference server behind the example.
type session struct {
	*verbatimtest.Fixture
	t     *testing.T
	root  string // the folder of the files; beside it lies what must stay out of reach
	in    *wire.Reader
	out   io.Writer
	asked atomic.Int64
}

type duplex struct {
	io.Reader
	io.WriteCloser
}

func start(t *testing.T) *session {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, root: filepath.Join(home, "files")}
	for name, text := range map[string]string{"files/a.txt": "inside", "files/sub/b.txt": "below", "files/.git/HEAD": "ref", "secret.txt": "outside"} {
		s.file(filepath.Join(home, name), text)
	}
	src, err := os.ReadFile("catalog.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := yamlfile.Decode("catalog.yaml", src, home)
	if err != nil {
		t.Fatal(err)
	}
	known, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("policy.cedar")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := cedar.Load(map[string][]byte{"policy.cedar": rules}, tools, cedar.Options{Groups: []string{"owner"}})
	if err != nil {
		t.Fatal(err)
	}
	s.Fixture = verbatimtest.New(t, verbatimtest.Config{Policy: counted{engine, &s.asked}})
	s.AddPerson("maria") // who owns the session, and so is its owner
	s.serve(binder{t, known})
	return s
}

func (s *session) file(path, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) serve(b binder) {
	s.t.Helper()
	p, err := gate.Start(gate.Command{Path: needs.Peer(s.t, "mcp-server-filesystem"), Args: []string{s.root}, Env: needs.Env(s.t), Dir: s.t.TempDir()}, io.Discard)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(p.Stop)
	clientIn, toGate := io.Pipe()
	fromGate, clientOut := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- gate.Serve(context.Background(), gate.Config{Gate: s.Gate, Session: s.Session(), Server: "files", Binder: b,
			Wait: time.Millisecond, Page: "http://127.0.0.1:1/"}, duplex{clientIn, clientOut}, p.Out, p.In)
		clientOut.Close()
	}()
	s.t.Cleanup(func() {
		toGate.Close()
		io.Copy(io.Discard, fromGate)
		<-done
	})
	s.in, s.out = wire.NewReader(fromGate, wire.Limits{}), toGate
	s.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	s.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	s.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
}

func (s *session) write(frame string) {
	s.t.Helper()
	if _, err := io.WriteString(s.out, frame+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) ask(frame string) string {
	s.t.Helper()
	s.write(frame)
	for {
		m, err := s.in.Read()
		if err != nil {
			s.t.Fatal(err)
		}
		if m.Kind() == wire.KindResult || m.Kind() == wire.KindError {
			return string(m.Bytes())
		}
	}
}

// call calls a tool with members that are all text.
func (s *session) call(tool string, pairs ...string) string {
	s.t.Helper()
	var members []canon.Member
	for i := 0; i < len(pairs); i += 2 {
		members = append(members, canon.Member{Name: pairs[i], Value: canon.StringValue(pairs[i+1])})
	}
	return s.raw(tool, string(canon.ObjectValue(members...).Canonical()))
}

func (s *session) raw(tool, args string) string {
	s.t.Helper()
	return s.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`)
}

func (s *session) pending() []action.Action {
	s.t.Helper()
	rows, err := s.Gate.Actions(s.t.Context(), action.Filter{Tenant: "acme", States: []action.State{action.PendingApproval}})
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}

func TestReadsBelowTheFolderPass(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"a.txt", "./a.txt", "sub/../a.txt", s.root + "/a.txt", s.root + "/sub/../a.txt"} {
		if got := s.call("read_text_file", "path", path); !strings.Contains(got, "inside") {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := s.raw("read_multiple_files", `{"paths":["a.txt","sub/b.txt"]}`); !strings.Contains(got, "inside") || !strings.Contains(got, "below") {
		t.Error(got)
	}
	if got := s.call("list_directory", "path", "."); !strings.Contains(got, "a.txt") {
		t.Error(got)
	}
	if got := s.raw("list_allowed_directories", `{}`); !strings.Contains(got, s.root) {
		t.Error(got)
	}
}

func TestWhatLiesElsewhereIsRefusedBeforePolicy(t *testing.T) {
	t.Parallel()
	s := start(t)
	outside := filepath.Join(filepath.Dir(s.root), "secret.txt")
	for link, to := range map[string]string{"out": outside, "up": filepath.Dir(s.root), "etc": "/etc"} {
		if err := os.Symlink(to, filepath.Join(s.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	before := s.asked.Load()
	paths := []string{outside, "../secret.txt", "sub/../../secret.txt", s.root + "/../secret.txt", "out", "up/secret.txt", "etc/passwd", "/etc/passwd",
		"/", filepath.Dir(s.root), s.root + "2/a.txt", "~/a.txt", "..", "sub/../..", "", "absent.txt", "a.txt\x00", "sub\\..\\..\\secret.txt", "/proc/self/environ"}
	for _, path := range paths {
		for _, tool := range []string{"read_text_file", "list_directory", "get_file_info"} {
			if got := s.call(tool, "path", path); !strings.Contains(got, `"isError":true`) || strings.Contains(got, "outside") {
				t.Errorf("%s %q: %s", tool, path, got)
			}
		}
		if path == "absent.txt" {
			continue
		}
		s.call("write_file", "path", path, "content", "x")
		s.call("create_directory", "path", path)
		s.call("move_file", "source", "a.txt", "destination", path)
		s.call("move_file", "source", path, "destination", "c.txt")
	}
	s.raw("read_multiple_files", `{"paths":["a.txt","../secret.txt"]}`)
	if s.asked.Load() != before || len(s.pending()) != 0 {
		t.Errorf("policy was asked %d times, %d calls wait", s.asked.Load()-before, len(s.pending()))
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "outside" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestWritesBelowTheFolderAskAndRunAsApproved(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := filepath.Join(s.root, "new.txt")
	got := s.call("write_file", "path", "sub/../new.txt", "content", "approved")
	if _, err := os.Stat(path); !os.IsNotExist(err) || !strings.Contains(got, "approve") {
		t.Fatalf("%v, %s", err, got)
	}
	waiting := s.pending()
	if len(waiting) != 1 || len(waiting[0].Targets) != 1 || waiting[0].Targets[0].ID != filepath.ToSlash(path) {
		t.Fatalf("waiting: %+v", waiting)
	}
	s.Approve(waiting[0].ID, "maria")
	if got := s.call("write_file", "path", "sub/../new.txt", "content", "approved"); strings.Contains(got, `"isError":true`) {
		t.Fatal(got)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "approved" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestFileThatBecameALinkAfterApprovalIsNotWritten(t *testing.T) {
	t.Parallel()
	s := start(t)
	outside := filepath.Join(filepath.Dir(s.root), "secret.txt")
	s.call("write_file", "path", "a.txt", "content", "overwritten")
	s.Approve(s.pending()[0].ID, "maria")
	path := filepath.Join(s.root, "a.txt")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, path); err != nil {
		t.Fatal(err)
	}
	if got := s.call("write_file", "path", "a.txt", "content", "overwritten"); !strings.Contains(got, `"isError":true`) {
		t.Error(got)
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "outside" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestEditShowsItsDifferenceAndHistoryStays(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.raw("edit_file", `{"path":"a.txt","edits":[{"oldText":"inside","newText":"changed"}]}`)
	waiting := s.pending()
	if len(waiting) != 1 || !strings.Contains(waiting[0].Payload.Preview, "changed") {
		t.Fatalf("waiting: %+v", waiting)
	}
	for _, path := range []string{".git/HEAD", "sub/../.git/HEAD"} {
		if got := s.call("write_file", "path", path, "content", "x"); !strings.Contains(got, "history of a repository") {
			t.Errorf("%s: %s", path, got)
		}
	}
	if len(s.pending()) != 1 {
		t.Error("a forbidden call waits")
	}
}
