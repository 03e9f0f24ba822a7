package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func serveCommand(s streams) *cobra.Command {
	var path string
	var background bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon in the foreground",
		Long:  "Run the daemon in the foreground until Ctrl-C: it owns the store, serves the\napprovers' page and starts MCP servers for its clients. The other commands start\none by themselves; serve is for running it under a supervisor, with another\nconfiguration, or with an endpoint for MCP clients over HTTP.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, cfg, err := configured(path)
			if err != nil {
				return err
			}
			if background {
				return serveInBackground(cmd.Context(), home, cfg, s.err)
			}
			return serveInForeground(cmd.Context(), home, cfg, s, wantsJSON(cmd))
		},
	}
	c.Flags().StringVar(&path, "config", "", "configuration file (default verbatim.yaml in the home directory)")
	c.Flags().BoolVar(&background, "background", false, "end when there is nothing to do; used by the other commands")
	if err := c.Flags().MarkHidden("background"); err != nil {
		panic(err) // the flag is defined one line above
	}
	return c
}

// configured finds the home and reads its configuration, or the file named.
func configured(path string) (config.Home, config.Config, error) {
	home, err := config.FindHome()
	if err != nil {
		return "", config.Config{}, err
	}
	optional := path == ""
	if optional {
		path = home.Config()
	}
	cfg, err := config.Load(home, path, optional)
	return home, cfg, err
}

func serveInForeground(ctx context.Context, home config.Home, cfg config.Config, s streams, asJSON bool) error {
	lock, err := daemon.TakeLock(home)
	if errors.Is(err, daemon.ErrRunning) {
		return hinted(err, "end it with: verbatim stop")
	}
	if err != nil {
		return err
	}
	defer lock.Free()
	log := slog.New(slog.NewTextHandler(s.err, nil))
	return runDaemon(ctx, lock, home, cfg, log, 0, func(state daemon.State) {
		if asJSON {
			_ = printJSON(s.out, state) // whoever reads this has gone, the daemon stays
			return
		}
		fmt.Fprintln(s.out, "page:", state.Page)
		if state.Endpoint != "" {
			fmt.Fprintln(s.out, "endpoint:", state.Endpoint+"/mcp")
		}
		if state.Metrics != "" {
			fmt.Fprintln(s.out, "metrics:", state.Metrics+"/metrics")
		}
	})
}

// lockWait is how long a daemon waits for one that is just ending.
const lockWait = 15 * time.Second

// serveInBackground becomes the home's daemon, or leaves it to another one
// that serves already.
func serveInBackground(ctx context.Context, home config.Home, cfg config.Config, w io.Writer) error {
	log := slog.New(slog.NewTextHandler(w, nil))
	until := time.Now().Add(lockWait)
	for {
		lock, err := daemon.TakeLock(home)
		if err == nil {
			defer lock.Free()
			return runDaemon(ctx, lock, home, cfg, log, cfg.Idle, nil)
		}
		if !errors.Is(err, daemon.ErrRunning) || time.Now().After(until) {
			return err
		}
		if _, err := daemon.Connect(ctx, home); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// runDaemon serves the home of a lock. idle 0 means until ctx ends or somebody
// stops it.
func runDaemon(ctx context.Context, lock *daemon.Lock, home config.Home, cfg config.Config, log *slog.Logger,
	idle time.Duration, ready func(daemon.State)) error {
	told := hangups()
	p, err := compose(home, cfg, log)
	if err != nil {
		return err
	}
	defer p.close()
	clients, err := p.endpoint()
	if err != nil {
		return err
	}
	if err := p.collected(ctx); err != nil {
		return err
	}
	defer p.lastTelemetry()
	sinks, err := p.sinks(ctx)
	if err != nil {
		return err
	}
	measured, err := p.measured()
	if err != nil {
		return err
	}
	var secure *tls.Config
	if cfg.TLS != nil {
		if secure, err = newTLS(cfg.TLS.Cert, cfg.TLS.Key, log); err != nil {
			return fmt.Errorf("page: %w", err)
		}
	}
	if clients != nil {
		idle = 0 // clients of the endpoint come and go
	}
	watchers, err := p.newWatchers()
	if err != nil {
		return err
	}
	watching, unwatch := context.WithCancel(ctx)
	go p.onHangup(watching, told)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		p.beWitnessed(watching, watchers)
	}()
	defer func() { unwatch(); <-watched }()
	page := ""
	return daemon.Run(ctx, lock, daemon.Config{Home: home, Build: daemon.ThisBuild(), Listen: cfg.Listen, Origin: cfg.Origin, TLS: secure, Tenant: localTenant, Gate: p.gate,
		Accounts: p.accounts, VoteKeys: p.voteKeys, Tools: p.binder.find, Idle: idle, Reload: p.reload, Mistakes: p.mistakes, Ready: ready, Log: log,
		Sequence: p.sequence.Turn, Endpoint: clients, Metrics: measured, Sinks: sinks, Retention: cfg.Retention, KeepKeys: func() time.Duration { return max(cfg.KeepKeys, p.binder.remembers()) },
		Attach: p.attach(func() string { return page }),
		Pages: func(at string) (http.Handler, error) {
			page = at // before anything serves
			return p.pages(ctx, at)
		}})
}
