package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/launch"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
)

// launched holds the command of a server against its pin, if it has one, and
// returns it as it may be started: by the pinned path, with a clean
// environment and the variables that the pin names. env is where those come
// from.
func launched(home config.Home, name string, c gate.Command, env []string) (gate.Command, error) {
	book, err := launch.Read(pinBook(home))
	if err != nil {
		return c, fmt.Errorf("the pinned commands cannot be read, so no server is started: %w", err)
	}
	pin, ok := book[name]
	if !ok {
		return c, nil
	}
	if places := pin.Differences(launchCommand(c, env)); len(places) > 0 {
		return c, fmt.Errorf("the command of %s is not the one that was pinned: %s; review it with: verbatim catalog diff", name, plain(strings.Join(places, ", ")))
	}
	c.Path, c.Env = pin.Program, environment(env, config.Server{Inherit: pin.Variables()})
	return c, nil
}

func pinBook(home config.Home) string { return home.Path("servers.json") }

func launchCommand(c gate.Command, env []string) launch.Command {
	return launch.Command{Program: c.Path, Arguments: c.Args, Environment: env, Dir: c.Dir}
}

// command is how the server that is asked for its tools is started; ok is false
// where it has a URL.
func (l *live) command(cfg config.Config, words []string) (c gate.Command, ok bool, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return c, false, err
	}
	if l.server == "" {
		return gate.Command{Path: words[0], Args: words[1:], Env: os.Environ(), Dir: dir}, true, nil
	}
	declared := cfg.Servers[l.server]
	if declared.Dir != "" {
		dir = declared.Dir
	}
	return gate.Command{Path: declared.Command, Args: declared.Args, Env: environment(os.Environ(), declared), Dir: dir}, declared.URL == "", nil
}
