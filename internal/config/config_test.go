package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/config"
)

func TestMissingFileIsTheDefaultsOnlyWhereOptional(t *testing.T) {
	t.Parallel()
	home := config.Home(t.TempDir())
	got, err := config.Load(home, home.Config(), true)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Config{File: home.Config(), Optional: true, Agent: "local-agent", Listen: "127.0.0.1:7433", Catalog: home.Catalog(), Policy: home.Policy(),
		Wait: 50 * time.Second, Idle: 10 * time.Minute, KeepKeys: 720 * time.Hour}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := config.Load(home, home.Config(), false); err == nil {
		t.Error("a file that was named and is missing was taken for an empty one")
	}
}

func TestPathsAreFoundFromTheFileThatNamesThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, dir, "catalog: tools.yaml\npolicy: /etc/rules\nservers:\n  files:\n    command: npx\n    args: [-y, server, \"\"]\n    env: {A: \"1\"}\n    dir: /srv\n")
	got, err := config.Load("/home/x", path, false)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Config{File: path, Agent: "local-agent", Listen: "127.0.0.1:7433", Catalog: filepath.Join(dir, "tools.yaml"), Policy: "/etc/rules",
		Wait: 50 * time.Second, Idle: 10 * time.Minute, KeepKeys: 720 * time.Hour, Servers: map[string]config.Server{"files": {
			Command: "npx", Args: []string{"-y", "server", ""}, Env: map[string]string{"A": "1"}, Dir: "/srv", Start: 30 * time.Second}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMistakesNameLineAndField(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"an unknown field", "agent: a\nlisen: x\n", ":2: lisen: there is no such field"},
		{"a field in another case", "Agent: a\n", ":1: Agent: there is no such field"},
		{"a field that comes twice", "agent: a\nagent: b\n", ":2: agent: comes twice, first in line 1"},
		{"an unknown field that may be a secret", "sk-test-000: 1\n", ":1: <unknown>: there is no such field"},
		{"an anchor that is none", "agent: *sk-test-000\n", "anchors, aliases and tags are not read"},
		{"an unknown field of a server", "servers:\n  a:\n    command: x\n    cmd: y\n", ":4: servers.a.cmd: there is no such field"},
		{"a server that comes twice", "servers:\n  a: {command: x}\n  a: {command: y}\n", ":3: servers.a: comes twice"},
		{"a server without command", "servers:\n  a: {args: []}\n", ":2: servers.a.command: is needed"},
		{"a server whose name is none", "servers:\n  A_b: {command: x}\n", ":2: servers.A_b: a name has"},
		{"a page for everybody", "listen: 0.0.0.0:80\n", ":1: listen: must be a loopback address"},
		{"a page at a host name", "listen: localhost:80\n", ":1: listen: must be a loopback address"},
		{"a page for everybody with an origin alone", "origin: https://a.example.com\nlisten: 0.0.0.0:80\n", ":2: listen: must be a loopback address, or needs tls"},
		{"an origin with a path", "origin: https://a.example.com/page\n", ":1: origin: must be https://HOST[:PORT]"},
		{"an origin in the clear", "origin: http://a.example.com\n", ":1: origin: must be https://HOST[:PORT]"},
		{"an origin with a default port", "origin: https://a.example.com:443\n", ":1: origin: must be https://HOST[:PORT]"},
		{"a certificate for plain http", "tls: {cert: a, key: b}\n", ":1: tls: needs an origin"},
		{"a certificate without key", "origin: https://a.example.com\ntls: {cert: a}\n", ":2: tls: needs cert and key"},
		{"a provider without groups", "oidc: {issuer: \"https://id.example.com\", client: c}\n", ":1: oidc.groups: is needed"},
		{"a provider without issuer", "oidc: {client: c, groups: {a: b}}\n", ":1: oidc.issuer: is needed"},
		{"a secret in the file", "oidc: {issuer: \"https://id.example.com\", client: c, groups: {a: b}, secret: x}\n", ":1: oidc.secret: must be a mapping"},
		{"waiting without end", "wait: 24h\n", ":1: wait: must be a duration from 1ms to 10m0s"},
		{"payloads that are kept too short", "retention: {reads: 1h}\n", ":1: retention.reads: must be a duration from 24h0m0s"},
		{"payloads of an unknown class", "retention: {writes: 720h}\n", "retention"},
		{"keys that are kept too short", "keepKeys: 24h\n", ":1: keepKeys: must be a duration from 720h0m0s"},
		{"no waiting at all", "wait: 0s\n", ":1: wait: must be a duration"},
		{"a number where text is wanted", "agent: 5\n", ":1: agent: must be text"},
		{"an empty agent", "agent: \"\"\n", ":1: agent: must be text that is not empty"},
		{"null", "agent:\n", ":1: agent: must be text"},
		{"an alias", "agent: &a x\ncatalog: *a\n", ":1: agent: anchors, aliases and tags"},
		{"a tag", "agent: !!str x\n", ":1: agent: anchors, aliases and tags"},
		{"two documents", "agent: a\n---\nagent: b\n", ": more than one document"},
		{"a list", "- a\n", ":1: must be a mapping"},
		{"no YAML", "agent: [\n", "verbatim.yaml:1: did not find"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load("/home/x", write(t, t.TempDir(), tt.text), true)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestEveryMistakeIsSaid(t *testing.T) {
	t.Parallel()
	_, err := config.Load("/home/x", write(t, t.TempDir(), "agnet: a\nidle: soon\n"), true)
	for _, want := range []string{"agnet", "idle"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not name %s", err, want)
		}
	}
}

// docs/operations.md shows every field; what it shows must load.
func TestDocumentedConfigurationLoads(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page shows no configuration")
	}
	dir := t.TempDir()
	path := write(t, dir, example)
	got, err := config.Load("/home/x", path, false)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Config{File: path, Agent: config.DefaultAgent, Listen: config.DefaultListen, Catalog: filepath.Join(dir, "catalog.yaml"),
		Policy: filepath.Join(dir, "policy"), Wait: config.DefaultWait, Idle: config.DefaultIdle, KeepKeys: config.DefaultKeepKeys,
		Servers: map[string]config.Server{"files": {Command: "npx", Dir: "/srv", Start: config.DefaultStart, Env: map[string]string{"LOG_LEVEL": "warn"},
			Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/srv/files"}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the page tells other defaults (-code +page):\n%s", diff)
	}
}

func TestStoreIsADatabaseThatSaysWhetherAStandbyMustFollow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const good = "store:\n  postgres:\n    dsn: {file: store.dsn}\n    requireSync: true\n    connections: 32\n"
	got, err := config.Load("/home/x", write(t, dir, good), false)
	if err != nil {
		t.Fatal(err)
	}
	want := &config.Postgres{DSN: config.Secret{File: filepath.Join(dir, "store.dsn")}, RequireSync: true, Connections: 32}
	if diff := cmp.Diff(want, got.Postgres); diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct{ name, old, new, want string }{
		{"not said whether a standby must follow", "    requireSync: true\n", "", "requireSync: is needed"},
		{"something else than yes or no", "requireSync: true", "requireSync: maybe", "must be true or false"},
		{"no connection string", "    dsn: {file: store.dsn}\n", "", "dsn: is needed"},
		{"one written into the file", "dsn: {file: store.dsn}", "dsn: host=db", "must be a mapping"},
		{"one of two sources", "file: store.dsn", "file: store.dsn, env: X", "exactly one of"},
		{"a single connection", "connections: 32", "connections: 1", "a number from 2"},
		{"another database", "postgres:", "oracle:", "there is no such field"},
	} {
		_, err := config.Load("/home/x", write(t, t.TempDir(), strings.Replace(good, tt.old, tt.new, 1)), false)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q in it", tt.name, err, tt.want)
		}
	}
}

func TestEmptyFileSaysNothing(t *testing.T) {
	t.Parallel()
	if _, err := config.Load("/home/x", write(t, t.TempDir(), "# nothing\n"), true); err != nil {
		t.Error(err)
	}
}

func FuzzLoadNeverPanics(f *testing.F) {
	f.Add([]byte("agent: a\nservers: {a: {command: x, env: {A: b}}}\n"))
	f.Add([]byte("servers: [a]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load("/home/x", path, false)
		if err == nil && (c.Agent == "" || c.Wait <= 0 || c.Idle < config.MinIdle) {
			t.Errorf("accepted %+v", c)
		}
	})
}

func write(t *testing.T, dir, text string) string {
	t.Helper()
	path := filepath.Join(dir, "verbatim.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const endpointText = `servers:
  files: {command: npx, resources: ["file:///srv/**"], prompts: ["*"], perSession: true}
  far:
    url: https://mcp.example.com/mcp
    credential: {env: FAR_TOKEN}
    ca: far.pem
    audience: far.example.com
endpoint:
  listen: 127.0.0.1:9000
  hosts: [gate.example.com]
  tokens:
    - name: ci
      sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
      principal: ada
      agent: builder
      roles: [clerk]
      servers: [files, far]
      tools: ["files.*"]
`

func TestEndpointIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got, err := config.Load("/home/x", write(t, dir, endpointText), false)
	if err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(dir, "far.pem")
	servers := map[string]config.Server{
		"files": {Command: "npx", Start: config.DefaultStart, Resources: []string{"file:///srv/**"}, Prompts: []string{"*"}, PerSession: true},
		"far": {URL: "https://mcp.example.com/mcp", Audience: "far.example.com", CA: &ca, Start: config.DefaultStart,
			Credential: &config.Credential{Secret: config.Secret{Env: "FAR_TOKEN"}, Header: "Authorization", Prefix: "Bearer "}},
	}
	if diff := cmp.Diff(servers, got.Servers); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	want := &config.Endpoint{Listen: "127.0.0.1:9000", Hosts: []string{"gate.example.com"}, NameLimit: 64, Tokens: []config.Token{{
		Name: "ci", SHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", Principal: "ada", Owner: "ada",
		Agent: "builder", Roles: []string{"clerk"}, Servers: []string{"files", "far"}, Tools: []string{"files.*"}}}}
	if diff := cmp.Diff(want, got.Endpoint); diff != "" {
		t.Errorf("endpoint (-want +got):\n%s", diff)
	}
}

func TestAnEndpointThatWouldBeOpenIsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, old, new, want string }{
		{"no tokens", endpointText[strings.Index(endpointText, "  tokens:"):], "", "endpoint.tokens: is needed"},
		{"the whole network in the clear", "127.0.0.1:9000", "0.0.0.0:9000", "tokens never travel in the clear"},
		{"an authorization server without scopes", "  tokens:", "  oauth: {issuer: https://i.example.com, resource: https://g.example.com/mcp, jwks: https://i.example.com/k, servers: [far]}\n  tokens:", "scopes and servers are needed"},
		{"an authorization server that names local people", "  tokens:", "  oauth: {issuer: https://i.example.com, resource: https://g.example.com/mcp, jwks: https://i.example.com/k, scopes: [mcp], servers: [far], prefix: \"local:\"}\n  tokens:", "and not be local:"},
		{"an authorization server without keys", "  tokens:", "  oauth: {issuer: https://i.example.com, resource: https://g.example.com/mcp, scopes: [mcp], servers: [far]}\n  tokens:", "oauth.jwks: is needed"},
		{"an authorization server for an unknown server", "  tokens:", "  oauth: {issuer: https://i.example.com, resource: https://g.example.com/mcp, jwks: https://i.example.com/k, scopes: [mcp], servers: [none]}\n  tokens:", "is not behind the endpoint"},
		{"a host name", "127.0.0.1:9000", "localhost:9000", "must be an address with a port"},
		{"a token for no server", "      servers: [files, far]\n", "", "tokens[0].servers: is needed"},
		{"a token for an unknown server", "servers: [files, far]", "servers: [none]", "is not behind the endpoint"},
		{"a token that is no digest", "sha256: e3b0", "sha256: E3B0", "must be 64 hex digits"},
		{"a token of two sources", "      principal: ada\n", "      principal: ada\n      env: X\n", "stands alone"},
		{"no principal", "      principal: ada\n", "", "principal: is needed"},
		{"a secret of two sources", "{env: FAR_TOKEN}", "{env: FAR_TOKEN, file: x}", "exactly one of env, file and command"},
		{"a header of MCP", "{env: FAR_TOKEN}", "{env: FAR_TOKEN, header: Mcp-Name}", "none of MCP's own"},
		{"a user in the URL", "https://mcp", "https://user:pass@mcp", "without a user"},
		{"a URL beside a command", "    url:", "    command: x\n    url:", "not both"},
		{"a key without its certificate", "  listen:", "  key: k.pem\n  listen:", "come together"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(endpointText, tt.old, tt.new, 1)
			_, err := config.Load("/home/x", write(t, t.TempDir(), text), false)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestPageForTheNetworkHasACertificateAndAnOrigin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got, err := config.Load("/home/x", write(t, dir, "listen: 0.0.0.0:8443\norigin: https://approve.example.com:8443\ntls: {cert: page.pem, key: /etc/page.key}\n"), false)
	if err != nil {
		t.Fatal(err)
	}
	if got.Listen != "0.0.0.0:8443" || got.Origin != "https://approve.example.com:8443" ||
		*got.TLS != (config.Certificate{Cert: filepath.Join(dir, "page.pem"), Key: "/etc/page.key"}) {
		t.Errorf("%+v, %+v", got, got.TLS)
	}
	got, err = config.Load("/home/x", write(t, t.TempDir(), "origin: https://approve.example.com\n"), false)
	if err != nil || got.TLS != nil || got.Listen != config.DefaultListen {
		t.Errorf("behind a proxy: %+v, %v", got, err)
	}
}

// G28: a client's credentials are no setting: nothing in a configuration can
// ask for them, nor for any other header of a client, to be passed on.
func TestG28NoSettingPassesAClientsHeadersOn(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"forwardHeaders: [authorization]", "forward_headers: [authorization]", "headers: {authorization: x}",
		"passthrough: true", "disableAuthTokenPassthrough: false", "credential: {client: true}", "credential: {header: Mcp-Session-Id, env: A}"} {
		text := "servers:\n  far:\n    url: https://mcp.example.com/mcp\n    " + setting + "\n"
		if _, err := config.Load("/home/x", write(t, t.TempDir(), text), false); err == nil {
			t.Errorf("%s was accepted", setting)
		}
	}
}

func TestCredentialOfAServerIsOneThing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{oauth: {token: \"https://l.example.com/t\", client: a, secret: {env: A}, scopes: [x], resource: \"https://m.example.com\"}}": "",
		"{oauth: {token: \"https://l.example.com/t\", client: a, subject: {file: a.jwt}}}":                                             "",
		"{oauth: {token: \"https://l.example.com/t\", client: a}}":                                                                     "needs the secret of the client",
		"{oauth: {client: a, secret: {env: A}}}":                                                                                       "oauth.token: is needed",
		"{oauth: {token: \"https://l.example.com/t\", secret: {env: A}}}":                                                              "oauth.client: is needed",
		"{oauth: {token: \"https://l.example.com/t\", client: a, secret: {env: A, file: b}}}":                                          "exactly one of",
		"{oauth: {token: \"https://l.example.com/t\", client: a, secret: {env: A}}, env: B}":                                           "oauth stands alone",
		"{oauth: {token: \"https://l.example.com/t\", client: a, secret: {env: A}}, header: X-Key}":                                    "oauth stands alone",
		"{}": "exactly one of env, file and command, or oauth",
	} {
		_, err := config.Load("/home/x", write(t, t.TempDir(), "servers:\n  far:\n    url: https://m.example.com/mcp\n    credential: "+text+"\n"), false)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestMistakesTellNoValue: an error goes to the daemon's log and to clients.
func TestMistakesTellNoValue(t *testing.T) {
	t.Parallel()
	const secret = "canary-3f7"
	for _, text := range []string{
		"servers:\n  near: {command: a, env: {KEY: " + secret + "}, secret: " + secret + "}\n", "wait: " + secret + "\n", secret + ": 1\n",
		"agent: \"" + secret + "\nwait: 1s\n", "agent: *" + secret + "\n", "agent: &a " + secret + "\n", "agent: !" + secret + " x\n", "agent: [" + secret + "]\n",
		"servers:\n  far: {url: \"http://user:" + secret + "@a.test\", credential: " + secret + "}\n", "agent: a\nagent: " + secret + "\n",
		"servers:\n  far: {url: \"https://a.test\", credential: {env: NOT_SET}, env: [" + secret + "]}\n", "retention: {reads: " + secret + "}\n",
		"listen: " + secret + "\n", "endpoint: {listen: 127.0.0.1:1, tokens: " + secret + "}\n", "store: {postgres: {dsn: " + secret + "}}\n", secret + "\n", "- " + secret + "\n",
	} {
		_, err := config.Load("/home/x", write(t, t.TempDir(), text), false)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
