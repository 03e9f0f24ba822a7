package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

// connect returns a client of the home's daemon and starts one if none runs.
// What is wrong with the configuration is said before that.
func connect(ctx context.Context, s streams) (*daemon.Client, error) {
	home, err := config.FindHome()
	if err != nil {
		return nil, err
	}
	return connectTo(ctx, s, home)
}

func connectTo(ctx context.Context, s streams, home config.Home) (*daemon.Client, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	starter := daemon.Starter{Home: home, Build: daemon.ThisBuild(), Command: self, Args: []string{"serve", "--background"},
		Check: func() error { _, err := config.Load(home, home.Config(), true); return err },
		Say:   func(text string) { fmt.Fprintln(s.err, "verbatim:", text) }}
	done := slowly(s, "starting the daemon")
	defer done()
	return starter.Client(ctx)
}

// slow is after how long people are told what is going on.
const slow = 2 * time.Second

// slowly tells people at a terminal what takes long. The function that it
// returns ends that.
func slowly(s streams, what string) (done func()) {
	if !onTerminal(s.err) {
		return func() {}
	}
	t := time.AfterFunc(slow, func() { fmt.Fprintf(s.err, "verbatim: %s ...\n", what) })
	return func() { t.Stop() }
}
