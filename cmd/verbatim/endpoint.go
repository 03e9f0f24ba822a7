package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/api"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/remote"
)

// endpoint is the address for MCP clients over HTTP; nil if the configuration
// has none. What is wrong with it is found before anything starts.
func (p *parts) endpoint() (*daemon.Endpoint, error) {
	e := p.cfg.Endpoint
	if e == nil {
		return nil, nil
	}
	d, err := p.doors(p.cfg, nil)
	if err != nil {
		return nil, err
	}
	var secure *tls.Config
	if e.Cert != "" {
		if secure, err = newTLS(e.Cert, e.Key, p.log); err != nil {
			return nil, fmt.Errorf("endpoint: %w", err)
		}
	}
	return &daemon.Endpoint{Listen: e.Listen, TLS: secure, Make: func(page, at string) (daemon.Clients, error) {
		h, err := hub.New(hub.Config{Gate: p.gate, Binder: p.binder, Servers: d.servers, Version: daemon.ThisBuild().Version,
			Wait: p.cfg.Wait, Page: page, NameLimit: e.NameLimit, Log: p.log})
		if err != nil {
			return daemon.Clients{}, err
		}
		p.meters.upstreams(h)
		decisions, err := api.New(api.Config{Calls: h, Actions: p.gate, Log: p.log})
		if err != nil {
			return daemon.Clients{}, err
		}
		handler, err := endpoint.New(endpoint.Config{Hub: h, Authority: d.authority, Resource: d.resource, Beside: decisions,
			Limits: endpoint.Limits{Frame: e.Limits.Message, Requests: e.Limits.Requests, Total: e.Limits.Total, Rate: e.Limits.Rate, Sessions: e.Limits.Sessions},
			Hosts:  hosts(at, e.Hosts), Origins: e.Origins, Log: p.log})
		if err != nil {
			return daemon.Clients{}, err
		}
		p.settings.serve(h, handler, d)
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			h.Warm(ctx)
			h.Mend(ctx)
		}()
		return daemon.Clients{Handler: handler, End: func(ctx context.Context) { cancel(); h.Close(ctx) }}, nil
	}}, nil
}

// hosts are the names under which the endpoint is reached: its address, and
// what the configuration adds.
func hosts(at string, more []string) []string {
	out := append([]string{at}, more...)
	if host, port, err := net.SplitHostPort(at); err == nil && net.ParseIP(host).IsLoopback() {
		out = append(out, net.JoinHostPort("localhost", port))
	}
	return out
}

// tokens reads the static tokens and what they stand for.
func (p *parts) tokens(list []config.Token) (*endpoint.Tokens, error) {
	var out []endpoint.Static
	for _, t := range list {
		s := endpoint.Static{Name: t.Name}
		var err error
		if s.Digest, err = tokenDigest(t); err != nil {
			return nil, fmt.Errorf("token %s: %w", plain(t.Name), err)
		}
		s.Caller = hub.Caller{Servers: t.Servers, Session: verbatim.Session{Tenant: localTenant, Principal: t.Principal,
			Owner: t.Owner, Agent: t.Agent, Roles: t.Roles}}
		if s.Caller.Tools, err = patterns(t.Tools); err != nil {
			return nil, fmt.Errorf("token %s: tools: %w", plain(t.Name), err)
		}
		out = append(out, s)
	}
	return endpoint.NewTokens(out)
}

func tokenDigest(t config.Token) (digest [sha256.Size]byte, err error) {
	if t.SHA256 != "" {
		_, err = hex.Decode(digest[:], []byte(t.SHA256))
		return digest, err
	}
	text, err := readSecret(context.Background(), t.Secret)
	if err == nil && len(text) < minToken {
		err = fmt.Errorf("a token has at least %d characters", minToken)
	}
	return sha256.Sum256([]byte(text)), err
}

// minToken is the shortest static token: who writes one by hand should not be
// able to guess it.
const minToken = 24

// patterns reads a list of patterns; none at all narrow nothing.
func patterns(texts []string) ([]hub.Pattern, error) {
	var out []hub.Pattern
	for _, text := range texts {
		one, err := hub.ParsePattern(text)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// servers are the declared servers that stand behind the endpoint.
func (p *parts) servers(cfg config.Config) ([]hub.Server, error) {
	var out []hub.Server
	for name, declared := range cfg.Servers {
		if len(cfg.Endpoint.Servers) > 0 && !slices.Contains(cfg.Endpoint.Servers, name) {
			continue
		}
		s, err := behind(name, declared, p.log.With("server", name), func(c gate.Command) (gate.Command, error) {
			return launched(p.home, name, c, c.Env)
		})
		if err != nil {
			return nil, fmt.Errorf("server %s: %w", name, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// behind is how a declared server is reached. A command goes through check
// each time before it is started.
func behind(name string, declared config.Server, log *slog.Logger, check func(gate.Command) (gate.Command, error)) (hub.Server, error) {
	s := hub.Server{Name: name, Identity: declaredIdentity(declared, os.Environ(), declared.Dir), Greeting: declared.Start,
		Audience: declared.Audience, PerSession: declared.PerSession}
	roots, err := vouchers(declared)
	if err != nil {
		return s, err
	}
	if s.Version, err = versionOf(declared, s.Identity, roots); err != nil {
		return s, err
	}
	if s.Resources, err = patterns(declared.Resources); err != nil {
		return s, fmt.Errorf("resources: %w", err)
	}
	if s.Prompts, err = patterns(declared.Prompts); err != nil {
		return s, fmt.Errorf("prompts: %w", err)
	}
	if declared.OpenAPI != nil {
		s.Dial, err = service(declared)
		return s, err
	}
	if declared.URL == "" {
		command := gate.Command{Path: declared.Command, Args: declared.Args, Env: environment(os.Environ(), declared), Dir: declared.Dir}
		s.Dial = func(ctx context.Context) (hub.Transport, error) {
			c, err := check(command)
			if err != nil {
				return nil, err
			}
			return hub.Child(c, &logLines{log: log}, log)(ctx)
		}
		return s, nil
	}
	far := remote.Config{URL: declared.URL, Roots: roots, Log: log}
	if err := authenticate(&far, declared); err != nil {
		return s, err
	}
	if _, err := remote.New(far); err != nil { // so that a mistake is found before anything starts
		return s, err
	}
	s.Asks = true
	s.Dial = func(context.Context) (hub.Transport, error) { return remote.New(far) }
	return s, nil
}

// environment is what a declared server gets of an environment: what programs
// need to run at all, and what its entry names or sets.
func environment(env []string, declared config.Server) []string {
	names := []string{"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
	if runtime.GOOS == "windows" {
		names = []string{"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE",
			"PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"}
	}
	var out []string
	for _, pair := range env {
		name, _, _ := strings.Cut(pair, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		if slices.Contains(names, name) || slices.Contains(declared.Inherit, name) {
			out = append(out, pair)
		}
	}
	return withEnv(out, declared.Env)
}
