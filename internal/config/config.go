package config

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// Config is the configuration of one daemon.
type Config struct {
	// File is where it was read from. Optional says that the file may be
	// missing.
	File     string
	Optional bool
	// Agent is the agentName of sessions that bring none of their own.
	Agent string
	// Listen is the address of the approvers' page: loopback, unless TLS is set.
	Listen string
	// Origin is where browsers find the page; "" means http://localhost and the
	// port that is listened on. Package origin says what one may be.
	Origin string
	// TLS holds the certificate of the page; nil where it is reached on this
	// machine, or a proxy holds one.
	TLS *Certificate
	// Catalog and Policy are files; a policy may also be a directory of
	// *.cedar files. Paths are relative to the configuration file.
	Catalog string
	Policy  string
	// Candidate is a policy beside the live one, in the same forms: what it
	// would decide is recorded and has no effect. "" for none.
	Candidate string
	// Wait is how long a call is held while people decide.
	Wait time.Duration
	// Idle is how long a daemon without work stays.
	Idle time.Duration
	// KeepKeys is how long idempotency keys are kept after their action has
	// ended, at least.
	KeepKeys time.Duration
	// Retention is how long payloads are kept, by class; a class without an
	// entry is kept until it is erased.
	Retention action.Retention
	// OIDC is nil where people have accounts of this home alone.
	OIDC *OIDC
	// Servers are MCP servers by name.
	Servers map[string]Server
	// Endpoint is nil where only wrap reaches the servers.
	Endpoint *Endpoint
	// Postgres is nil where the home has a store of its own.
	Postgres *Postgres
	// OTLP is nil where no collector is told anything.
	OTLP *OTLP
	// Sinks are where events go, by name.
	Sinks map[string]Sink
	// Metrics is nil where nobody reads metrics.
	Metrics *Metrics
	// Witnesses sign the log's checkpoints where nobody here can rewrite them.
	Witnesses []Witness
}

// Certificate names the files of a certificate chain and its key, in PEM. They
// are read again when they change.
type Certificate struct{ Cert, Key string }

// Server is how to reach one MCP server: a command, or a URL.
type Server struct {
	Command string
	Args    []string
	Env     map[string]string
	// Inherit names variables that the server gets as they are where it is
	// started. Others it does not get, but for those that programs need to run.
	Inherit []string
	Dir     string

	// Audience is the name that warrants for the server's tools bear; "" means
	// that it checks none.
	Audience string

	URL        string
	Credential *Credential // the gateway's own, for a URL; nil sends none
	CA         *string     // file of certificates that vouch for the URL's server; nil: the system's alone

	// OpenAPI is a file that describes a plain HTTP service at the URL: its
	// operations are the tools. nil means an MCP server.
	OpenAPI *string
	// KeyHeader is the header that takes idempotency keys, for operations that
	// declare none; "" if there is none.
	KeyHeader string
	Networks  []string // that such a service may be in although they are not public

	// Resources are patterns of URIs and Prompts of names that clients of the
	// endpoint may use. None means none.
	Resources []string
	Prompts   []string
	// PerSession gives each client session a connection of its own: of a command,
	// a process of its own.
	PerSession bool
	// Start is how long the server may take until it has greeted, and until it
	// has listed what it offers.
	Start time.Duration
}

// Secret is where a secret text is found. Exactly one field is set.
type Secret struct {
	Env     string   // a variable of the daemon's own environment
	File    string   // the first line of a file that only its owner can read
	Command []string // the first line that a program prints
}

// Credential is the header that authenticates the gateway to a server.
type Credential struct {
	Secret // or
	OAuth  *OAuthClient
	Header string // default Authorization
	Prefix string // before the secret; default "Bearer " for Authorization
}

// OAuthClient is how the gateway gets access tokens for a server.
type OAuthClient struct {
	Token    string // URL of the token endpoint
	Client   string // id
	Secret   Secret // of the client; zero where only Subject says who it is
	Scopes   []string
	Resource string // that the token is for; default the server's URL
	// Subject is the gateway's own token that is exchanged (RFC 8693); zero
	// means client credentials.
	Subject     Secret
	SubjectType string
}

// Endpoint is where MCP clients reach the declared servers over HTTP.
type Endpoint struct {
	Listen    string // loopback, unless Cert and Key are set
	Cert, Key string // files
	// Hosts are served besides the address that is listened on; Origins are web
	// pages that may speak to it.
	Hosts   []string
	Origins []string
	Servers []string // that stand behind it; none means all that are declared
	// NameLimit is the longest name of a tool: 64 to 128.
	NameLimit int
	Limits    Limits // of each caller and of all; zero fields are the endpoint's defaults
	Tokens    []Token
	OAuth     *OAuth // an authorization server whose tokens count too; nil: none
}

// OAuth is an authorization server, and what its tokens stand for.
type OAuth struct {
	Issuer   string // exact, as in tokens
	Resource string // the endpoint's own URL, which tokens have as audience
	JWKS     string // URL of the server's keys
	Scopes   []string
	Roles    string // the claim that lists roles; "" takes none
	// Principals are called Prefix and the token's subject, so that no token can
	// name a principal of another source.
	Prefix  string
	Servers []string // that exist for its tokens; required
	Tools   []string
}

// Token is one static bearer token, and what it stands for.
type Token struct {
	Name   string
	SHA256 string // of the token, in hex; or
	Secret Secret // where the token itself is

	Principal string
	Owner     string // default: the principal
	Agent     string
	Roles     []string
	Servers   []string // that exist for it; required
	Tools     []string // patterns of server.tool that exist for it; none means all of these servers
}

// The defaults and ranges.
const (
	DefaultAgent  = "local-agent"
	DefaultListen = "127.0.0.1:7433"
	DefaultWait   = 50 * time.Second
	MaxWait       = 10 * time.Minute
	DefaultStart  = 30 * time.Second
	MinStart      = time.Second
	MaxStart      = 10 * time.Minute
	DefaultIdle   = 10 * time.Minute
	MinIdle       = time.Second
	MaxIdle       = 24 * time.Hour
	// DefaultKeepKeys is the least, too: action.MinKeyRetention.
	DefaultKeepKeys = 30 * 24 * time.Hour
	MaxKeepKeys     = 10 * 365 * 24 * time.Hour
)

// ServerName is what a server may be called in the catalog.
var ServerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// Load reads a configuration file. If it is missing and optional, the
// defaults of the home apply. Errors name file, line and field.
func Load(h Home, path string, optional bool) (Config, error) {
	c := Config{File: path, Optional: optional, Agent: DefaultAgent, Listen: DefaultListen, Wait: DefaultWait, Idle: DefaultIdle, KeepKeys: DefaultKeepKeys}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && optional:
		return c.located(h, string(h)), nil
	case err != nil:
		return Config{}, err
	}
	if err := parse(path, text, &c); err != nil {
		return Config{}, err
	}
	return c.located(h, filepath.Dir(path)), nil
}

// located makes paths absolute and fills in those of the home.
func (c Config) located(h Home, dir string) Config {
	for _, p := range append(c.files(), &c.Catalog, &c.Policy, &c.Candidate) {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(dir, *p)
		}
	}
	if c.Catalog == "" {
		c.Catalog = h.Catalog()
	}
	if c.Policy == "" {
		c.Policy = h.Policy()
	}
	return c
}

// files are the paths of the endpoint, the servers and the store.
func (c Config) files() []*string {
	var out []*string
	for _, s := range c.Servers {
		if s.Credential != nil {
			out = append(out, &s.Credential.File)
			if o := s.Credential.OAuth; o != nil {
				out = append(out, &o.Secret.File, &o.Subject.File)
			}
		}
		for _, file := range []*string{s.CA, s.OpenAPI} {
			if file != nil {
				out = append(out, file)
			}
		}
	}
	if c.TLS != nil {
		out = append(out, &c.TLS.Cert, &c.TLS.Key)
	}
	if c.OIDC != nil {
		out = append(out, &c.OIDC.Secret.File)
	}
	if c.Postgres != nil {
		out = append(out, &c.Postgres.DSN.File)
	}
	if o := c.OTLP; o != nil {
		out = append(out, &o.Secret.File)
		if o.CA != nil {
			out = append(out, o.CA)
		}
	}
	for _, s := range c.Sinks {
		if s.File != nil {
			out = append(out, &s.File.Path)
		}
		if s.Webhook != nil {
			out = append(out, &s.Webhook.Secret.File)
			if s.Webhook.CA != nil {
				out = append(out, s.Webhook.CA)
			}
		}
	}
	if m := c.Metrics; m != nil {
		out = append(out, &m.Cert, &m.Key, &m.Token.File)
	}
	if e := c.Endpoint; e != nil {
		out = append(out, &e.Cert, &e.Key)
		for i := range e.Tokens {
			out = append(out, &e.Tokens[i].Secret.File)
		}
	}
	return out
}
