package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// More secrets, of services, warrants and files that are replaced.
const (
	canaryServiceKey   = "canary-service-key-17"   // the gateway's credential at an HTTP service
	canaryServiceError = "canary-service-error-18" // body and headers of a service's 500
	canaryDocument     = "canary-document-19"      // in an OpenAPI document, where no operation needs it
	canaryReload       = "canary-reload-20"        // in a configuration with a mistake
	canaryVerdict      = "canary-verdict-21"       // what a caller reports for an executor
)

const leakyDocument = `openapi: 3.0.3
info: {title: Notes, version: "1", x-token: ` + canaryDocument + `}
servers: [{url: "https://user:` + canaryDocument + `@evil.test"}]
x-secret: ` + canaryDocument + `
paths:
  /notes/{id}:
    put:
      operationId: putNote
      x-internal: ` + canaryDocument + `
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [text], properties: {text: {type: string}}}}}}
  /upload:
    post: {operationId: upload, x-internal: ` + canaryDocument + `, requestBody: {required: true, content: {multipart/form-data: {schema: {}}}}}
`

// leakyService answers every call with a 500 full of secrets, and imports its
// document into the catalog. It returns the setting of the service.
func leakyService(t *testing.T, p *place) (setting string, said []byte) {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil || r.Header.Get("X-Api-Key") != canaryServiceKey {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("X-Reason", canaryServiceError)
		http.Error(w, canaryServiceError, http.StatusInternalServerError)
	}))
	t.Cleanup(web.Close)
	dir := filepath.Dir(string(p.home))
	for name, text := range map[string]string{"notes.yaml": leakyDocument, "service.key": canaryServiceKey + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said, err := p.command("catalog", "import", "--openapi", filepath.Join(dir, "notes.yaml"), "--name", "plain", "--write").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return "  plain: {openapi: notes.yaml, url: \"" + web.URL + "\", networks: [\"127.0.0.0/8\"], credential: {file: service.key, header: X-Api-Key}}\n", said
}

// answered makes a request of the API that waits for a person, has it
// approved, makes it again and returns what came.
func (c *canaryRun) answered(path, tool, arguments string) string {
	c.t.Helper()
	body := `{"toolName":"` + tool + `","arguments":` + quoteJSON(arguments)
	status, got := c.post(path, body+"}")
	id, _ := got.Lookup("/outcome/data/actionId")
	if status != http.StatusAccepted {
		c.t.Fatalf("%s %s: %d %s", path, tool, status, got.Canonical())
	}
	c.approve(id.Text())
	c.actions = append(c.actions, id.Text())
	status, got = c.post(path, body+`,"approval":"`+id.Text()+`"}`)
	return fmt.Sprintf("%d %s", status, got.Canonical())
}

// services calls an operation whose service fails.
func (c *canaryRun) services() {
	c.t.Helper()
	got := c.answered("/v1/call", "plain.putNote", `{"id":"1","body":{"text":"`+canaryArgument+`"}}`)
	if !strings.Contains(got, "outcome_uncertain") {
		c.t.Errorf("the service: %s", got)
	}
	c.add("results", []byte(got))
}

// warrants has a call authorized for an executor and reports how it ended. The
// warrant goes to others; what it binds must not stand in it.
func (c *canaryRun) warrants(arguments string) {
	c.t.Helper()
	body := `{"toolName":"far.keep","arguments":` + quoteJSON(arguments)
	_, got := c.post("/v1/authorize", body+"}")
	id, _ := got.Lookup("/outcome/data/actionId")
	c.approve(id.Text())
	c.actions = append(c.actions, id.Text())
	status, got := c.post("/v1/authorize", body+`,"approval":"`+id.Text()+`"}`)
	warrant, found := got.Lookup("/warrant")
	if status != http.StatusOK || !found {
		c.t.Fatalf("%d %s", status, got.Canonical())
	}
	c.add("warrants", []byte(warrant.Text()))
	for _, report := range []string{`"ended":"succeeded","verdict":"` + canaryVerdict + `"`, `"ended":"` + canaryVerdict + `","verdict":"ok"`,
		`"ended":"succeeded","verdict":"ok","output":"{\"kept\":\"` + canaryResult + `\"}"`} {
		status, got := c.post("/v1/actions/"+id.Text()+"/outcome", `{"warrant":`+quoteJSON(warrant.Text())+`,`+report+`}`)
		c.add("reports", fmt.Appendf(nil, "%d %s\n", status, got.Canonical()))
	}
}

// reloads replaces the configuration by ones with mistakes in and beside
// secrets, and has the daemon say what is wrong. The last one stays, so that
// pages tell of it, too. Package config tries more of them.
func (c *canaryRun) reloads() {
	c.t.Helper()
	file := filepath.Join(c.dir, "serve.yaml")
	var before string
	for _, bad := range []string{"agent: *" + canaryReload + "\n", canaryReload + ": 1\n",
		"servers:\n  near: {command: leaky-mcp, env: {LEAKY: " + canaryReload + "}, secret: " + canaryReload + "}\n"} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			c.t.Fatal(err)
		}
		c.until("a mistake in the configuration is told", func() bool {
			said, _ := c.command("status").CombinedOutput()
			_, mistake, found := strings.Cut(string(said), "serve.yaml")
			if !found || mistake == before {
				return false
			}
			before = mistake
			c.add("mistakes", said)
			return true
		})
	}
}
