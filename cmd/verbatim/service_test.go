package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const notesService = `openapi: 3.0.3
info: {title: Notes, version: "1"}
servers: [{url: "https://evil.test"}]
paths:
  /notes/{id}:
    put:
      operationId: putNote
      summary: Write a note.
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [text], properties: {text: {type: string}}}}}}
  /upload:
    post: {operationId: upload, requestBody: {required: true, content: {multipart/form-data: {schema: {}}}}}
`

// plainService is an HTTP service behind the gateway, in a process of its own.
type plainService struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []string
}

func newPlainService(t *testing.T) *plainService {
	t.Helper()
	s := &plainService{status: http.StatusCreated}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got = append(s.got, fmt.Sprintf("%s %s %s %s", r.Method, r.RequestURI, r.Header.Get("X-Api-Key"), body))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// answers sets the status of later answers, and returns what came so far.
func (s *plainService) answers(status int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
	return append([]string{}, s.got...)
}

// The operations of a document are imported, closed until a person has looked
// at them, and run once, at the configured address, with the credential that the
// gateway holds.
func TestOperationsOfADocumentAreToolsBehindTheGateway(t *testing.T) {
	t.Parallel()
	far := newPlainService(t)
	p := newPlace(t, "200ms")
	dir := filepath.Dir(string(p.home))
	document := filepath.Join(dir, "notes.yaml")
	for path, text := range map[string]string{document: notesService, filepath.Join(dir, "key"): "canary-key-of-the-service\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said, err := p.command("catalog", "import", "--openapi", document, "--name", "plain", "--write").CombinedOutput()
	if err != nil || !strings.Contains(string(said), "left out: POST /upload: its body is not JSON") || !strings.Contains(string(said), "1 of 1 tools of plain added") {
		t.Fatalf("%v\n%s", err, said)
	}
	catalog, err := os.ReadFile(filepath.Join(string(p.home), "catalog.yaml"))
	if err != nil || !strings.Contains(string(catalog), "impact: irreversible # TODO") || strings.Contains(string(catalog), "effect:") {
		t.Fatalf("%v\n%s", err, catalog)
	}
	s := p.serve("  plain: {openapi: notes.yaml, url: " + far.URL + "/v2, networks: [127.0.0.0/8], credential: {file: key, header: X-Api-Key}}\n")
	p.setup()
	call := func(id, text string) (int, string) {
		body := `{"toolName":"plain.putNote","arguments":"{\"id\":\"` + id + `\",\"body\":{\"text\":\"` + text + `\"}}"`
		status, got := s.post("/v1/call", body+"}")
		action, _ := got.Lookup("/outcome/data/actionId")
		if status != http.StatusAccepted {
			t.Fatalf("%d %s", status, got.Canonical())
		}
		p.approve(action.Text())
		status, got = s.post("/v1/call", body+`,"approval":"`+action.Text()+`"}`)
		return status, string(got.Canonical())
	}
	if status, got := call("n 1", "hello"); status != http.StatusOK || !strings.Contains(got, `"structuredContent":{"body":{"ok":true},"status":201}`) {
		t.Errorf("%d %s", status, got)
	}
	if status, got := call("..", "x"); status != http.StatusFailedDependency || !strings.Contains(got, "tool_not_run") || !strings.Contains(got, "proved") {
		t.Errorf("a path of its own: %d %s", status, got)
	}
	far.answers(http.StatusInternalServerError)
	if status, got := call("n2", "y"); status != http.StatusConflict || !strings.Contains(got, "outcome_uncertain") {
		t.Errorf("a server error: %d %s", status, got)
	}
	want := []string{`PUT /v2/notes/n%201 canary-key-of-the-service {"text":"hello"}`, `PUT /v2/notes/n2 canary-key-of-the-service {"text":"y"}`}
	if diff := cmp.Diff(want, far.answers(0)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if status, got := s.post("/v1/explain", `{"toolName":"plain.putNote","arguments":"{\"id\":\"a\",\"body\":{\"text\":5}}"}`); status != http.StatusOK || !strings.Contains(string(got.Canonical()), "/body/text") {
		t.Errorf("%d %s", status, got.Canonical())
	}
	log, err := os.ReadFile(s.log)
	if err != nil || strings.Contains(string(log), "canary") {
		t.Errorf("the log holds a secret, %v:\n%s", err, log)
	}
}

// A document that says something else than what was pinned closes the tool.
func TestAnOperationThatMovedIsClosed(t *testing.T) {
	t.Parallel()
	far := newPlainService(t)
	p := newPlace(t, "200ms")
	document := filepath.Join(filepath.Dir(string(p.home)), "notes.yaml")
	write := func(text string) {
		if err := os.WriteFile(document, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(notesService)
	if said, err := p.command("catalog", "import", "--openapi", document, "--name", "plain", "--write").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	write(strings.Replace(notesService, "/notes/{id}", "/admin/{id}", 1))
	s := p.serve("  plain: {openapi: notes.yaml, url: " + far.URL + ", networks: [127.0.0.0/8]}\n")
	status, got := s.post("/v1/call", `{"toolName":"plain.putNote","arguments":"{\"id\":\"a\",\"body\":{\"text\":\"a\"}}"}`)
	if status != http.StatusForbidden || !strings.Contains(string(got.Canonical()), "definition_changed") || len(far.answers(0)) > 0 {
		t.Errorf("%d %s", status, got.Canonical())
	}
}

func TestServicesThatAreNotSafeDoNotStart(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "200ms")
	dir := filepath.Dir(string(p.home))
	if err := os.WriteFile(filepath.Join(dir, "notes.yaml"), []byte(notesService), 0o600); err != nil {
		t.Fatal(err)
	}
	token := "{name: t, sha256: \"" + strings.Repeat("0", 64) + "\", principal: p, agent: a, servers: [plain]}"
	for _, tt := range []struct{ name, server, want string }{
		{"no address", "{openapi: notes.yaml}", "has a url"},
		{"an MCP server's command", "{openapi: notes.yaml, url: 'https://a.test', command: x}", "not both"},
		{"no such document", "{openapi: none.yaml, url: 'https://a.test'}", "none.yaml"},
		{"plain http", "{openapi: notes.yaml, url: 'http://a.test'}", "http"},
		{"a network that is none", "{openapi: notes.yaml, url: 'https://a.test', networks: [here]}", "networks"},
		{"a header for no service", "{url: 'https://a.test', keyHeader: Idempotency-Key}", "keyHeader"},
		{"resources of a service", "{openapi: notes.yaml, url: 'https://a.test', resources: ['**']}", "neither resources"},
		{"sessions of a service", "{openapi: notes.yaml, url: 'https://a.test', perSession: true}", "perSession"},
		{"a credential in the open", "{openapi: notes.yaml, url: 'http://10.0.0.1', networks: [10.0.0.0/8], credential: {env: X}}", "credential"},
	} {
		file := filepath.Join(dir, "serve.yaml")
		text := "listen: 127.0.0.1:0\nservers:\n  plain: " + tt.server + "\nendpoint: {listen: '127.0.0.1:0', tokens: [" + token + "]}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := p.command("serve", "--config", file)
		started := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Signal(os.Interrupt) })
		said, err := cmd.CombinedOutput()
		started.Stop()
		if err == nil || !strings.Contains(string(said), tt.want) {
			t.Errorf("%s was started, or refused for something else than %q: %v\n%s", tt.name, tt.want, err, said)
		}
	}
}
