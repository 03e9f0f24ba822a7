package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
)

// upstream is one MCP server with the gateway before it, for one client.
type upstream struct {
	process *gate.Process
	cfg     gate.Config
	notes   *daemon.Notes
}

// attach starts the server that a client asks for. The session comes from
// this machine and the configuration, never from the client's MCP messages.
func (p *parts) attach(page func() string) func(daemon.Hello, *daemon.Notes) (daemon.Upstream, error) {
	return func(h daemon.Hello, notes *daemon.Notes) (daemon.Upstream, error) {
		if err := p.rules.reload(); err != nil { // who edits the catalog and then calls means the new one
			notes.Say("catalog or policy have a mistake, so the earlier ones are in force: %v", err)
		}
		name, command, err := p.server(h)
		if err != nil {
			return nil, err
		}
		agent := h.Agent
		if agent == "" {
			agent = p.cfg.Agent
		}
		reach, err := p.reach(h)
		if err != nil {
			return nil, err
		}
		session, err := localSession(agent)
		if err != nil {
			return nil, err
		}
		process, err := gate.Start(command, notes)
		if err != nil {
			return nil, err
		}
		p.log.Info("attached", "server", name, "agent", agent)
		u := &upstream{process: process, notes: notes, cfg: gate.Config{Gate: p.gate, Session: session, Server: name,
			Identity: p.identity(h, command), Reach: reach, Binder: p.binder, Wait: p.wait(h), Page: page(), Log: p.log,
			Listing: p.settings.now().Servers[h.Server].Start, Audience: p.audience(h)}}
		if h.WaitMS == 0 { // whoever brings a time of its own looks for itself
			u.cfg.Waiting = waits(notes, page())
		}
		if h.TrustReadHints {
			u.cfg.Binder = &trusting{binder: p.binder, rules: p.rules, notes: notes, write: &p.catalogs}
		}
		return u, nil
	}
}

// audience is the name of the executor that a declared server is; a command
// that a client brings has none.
func (p *parts) audience(h daemon.Hello) string {
	if h.Command != "" {
		return ""
	}
	return p.settings.now().Servers[h.Server].Audience
}

// reach is what of a server's resources and prompts its client may use: what
// the configuration says of a declared server, else what the client was started
// with.
func (p *parts) reach(h daemon.Hello) (r gate.Reach, err error) {
	if h.Command == "" {
		h.Resources, h.Prompts = p.settings.now().Servers[h.Server].Resources, p.settings.now().Servers[h.Server].Prompts
	}
	if r.Resources, err = patterns(h.Resources); err != nil {
		return r, fmt.Errorf("resources: %w", err)
	}
	if r.Prompts, err = patterns(h.Prompts); err != nil {
		return r, fmt.Errorf("prompts: %w", err)
	}
	return r, nil
}

// waits tells the people at the client's end that a call is held for them.
func waits(notes *daemon.Notes, page string) func(verbatim.Outcome) {
	return func(o verbatim.Outcome) {
		notes.Say("%s waits for approval; decide at %s or with: verbatim approvals approve %s", plain(o.Tool), page, o.ActionID)
	}
}

// wait is how long the calls of a client are held while people decide.
func (p *parts) wait(h daemon.Hello) time.Duration {
	asked := time.Duration(h.WaitMS) * time.Millisecond
	if h.WaitMS <= 0 || asked > config.MaxWait {
		return p.cfg.Wait
	}
	return asked
}

// server says which server a client means and how to start it.
func (p *parts) server(h daemon.Hello) (name string, c gate.Command, err error) {
	c = gate.Command{Path: h.Command, Args: h.Args, Env: h.Env, Dir: h.Dir}
	name = h.Server
	if h.Command == "" {
		declared, ok := p.settings.now().Servers[name]
		if !ok {
			return "", c, fmt.Errorf("no server of that name is declared; the configuration has: %s", declaredNames(p.settings.now().Servers))
		}
		if declared.URL != "" {
			return "", c, errors.New("this server has a URL; clients reach it at the endpoint of verbatim serve")
		}
		c = gate.Command{Path: declared.Command, Args: declared.Args, Env: environment(h.Env, declared), Dir: declared.Dir}
		if c.Dir == "" {
			c.Dir = h.Dir
		}
	} else if name == "" {
		name = serverName(h.Command, h.Args)
	}
	if !config.ServerName.MatchString(name) {
		return "", c, errors.New("a server's name has 1 to 40 of a-z, 0-9 and -")
	}
	c, err = launched(p.home, name, c, h.Env)
	return name, c, err
}

// identity names the server that a client means, for what it was sent.
func (p *parts) identity(h daemon.Hello, c gate.Command) canon.Digest {
	if h.Command == "" {
		return declaredIdentity(p.settings.now().Servers[h.Server], h.Env, c.Dir)
	}
	return c.Identity()
}

func declaredNames(servers map[string]config.Server) string {
	if len(servers) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(servers)), ", ")
}

// withEnv sets variables on top of an environment.
func withEnv(env []string, set map[string]string) []string {
	out := slices.Clone(env)
	for _, k := range slices.Sorted(maps.Keys(set)) {
		out = slices.DeleteFunc(out, func(pair string) bool { return strings.HasPrefix(pair, k+"=") })
		out = append(out, k+"="+set[k])
	}
	return out
}

// Serve speaks to the client until either side ends.
func (u *upstream) Serve(ctx context.Context, client io.ReadWriteCloser) error {
	return gate.Serve(ctx, u.cfg, client, u.process.Out, u.process.In)
}

// Stop ends the server, and says so if it chose to fail.
func (u *upstream) Stop() {
	u.process.Stop()
	if code := u.process.ExitCode(); code != 0 {
		u.notes.Say("the server ended with exit code %d", code)
	}
}

var _ verbatim.Tools = noTools{}
