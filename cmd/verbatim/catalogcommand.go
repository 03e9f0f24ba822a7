package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/launch"
)

// commandPin is what catalog pin --command takes into a pin.
type commandPin struct {
	on    bool
	names launch.Names
}

func (p *commandPin) flags(c *cobra.Command) {
	c.Flags().BoolVar(&p.on, "command", false, "pin how the server is started: program, arguments and environment")
	c.Flags().StringSliceVar(&p.names.Environment, "env", nil, "with --command: a variable that the server gets, with the value that it has now")
	c.Flags().StringSliceVar(&p.names.Secrets, "secret", nil, "with --command: a variable that the server gets, whatever its value is")
	c.Flags().StringSliceVar(&p.names.Files, "file", nil, "with --command: a file whose content is pinned too, such as a script")
}

var errPinned = errors.New("the command of this server is pinned already, in another form")

// add pins the command of a server that has no pin.
func (p *commandPin) add(cmd *cobra.Command, s streams, l *live, cfg config.Config, words []string) error {
	live, has, err := l.command(cfg, words)
	if err != nil {
		return err
	}
	if !has {
		return usage("a server that has a URL has no command")
	}
	if d := cfg.Servers[l.server]; l.server != "" { // what the configuration gives it is pinned by itself
		p.names.Environment = slices.Concat(p.names.Environment, slices.Sorted(maps.Keys(d.Env)), d.Inherit)
	}
	pin, err := launch.Take(launchCommand(live, live.Env), p.names)
	if err != nil {
		return err
	}
	return pinInto(cmd, s, l.name, pin, func(old launch.Pin, pinned bool) error {
		if pinned && old.Digest() != pin.Digest() {
			return hinted(errPinned, "see what differs with: verbatim catalog diff")
		}
		return nil
	})
}

// pinInto writes a pin, if allowed does not object.
func pinInto(cmd *cobra.Command, s streams, name string, pin launch.Pin, allowed func(launch.Pin, bool) error) error {
	home, err := config.FindHome()
	if err != nil {
		return err
	}
	book, err := launch.Read(pinBook(home))
	if err != nil {
		return err
	}
	old, pinned := book[name]
	if err := allowed(old, pinned); err != nil {
		return err
	}
	book[name] = pin
	if err := book.Write(pinBook(home)); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return printJSON(s.out, comparedCommand{Server: name, State: "same", Pinned: pin.Digest().String(), Live: pin.Digest().String(), Places: []string{}})
	}
	_, err = fmt.Fprintf(s.out, "the command of %s is pinned to %s\n", plain(name), pin.Digest())
	return err
}

// comparedCommand is what became of the pinned command of a server.
type comparedCommand struct {
	Server string   `json:"server"`
	State  string   `json:"state"` // same or changed
	Pinned string   `json:"pinned"`
	Live   string   `json:"live,omitempty"`
	Places []string `json:"places"` // where it differs
}

// compareCommand holds the command of a server against its pin; nil if it has
// none.
func (l *live) compareCommand(cfg config.Config, words []string) (*comparedCommand, launch.Pin, error) {
	home, err := config.FindHome()
	if err != nil {
		return nil, launch.Pin{}, err
	}
	book, err := launch.Read(pinBook(home))
	if err != nil {
		return nil, launch.Pin{}, err
	}
	pin, ok := book[l.name]
	if !ok {
		return nil, launch.Pin{}, nil
	}
	out := &comparedCommand{Server: l.name, State: "same", Pinned: pin.Digest().String(), Places: []string{}}
	live, has, err := l.command(cfg, words)
	if err != nil || !has {
		out.State, out.Places = "changed", []string{"it has a URL now"}
		return out, launch.Pin{}, err
	}
	if places := pin.Differences(launchCommand(live, live.Env)); len(places) > 0 {
		out.State, out.Places = "changed", places
	}
	now, err := launch.Take(launchCommand(live, live.Env), pin.Names())
	if err == nil {
		out.Live = now.Digest().String()
	}
	return out, now, nil
}

// print says it as catalog diff says what became of tools.
func (c *comparedCommand) print(s streams) {
	fmt.Fprintf(s.out, "%-8s %s (how it is started)\n", c.State, plain(c.Server))
	if c.State == "same" {
		return
	}
	for _, place := range c.Places {
		fmt.Fprintf(s.out, "         %s\n", plain(place))
	}
	if c.Live != "" {
		fmt.Fprintf(s.out, "         approve it with: verbatim catalog approve %s %s\n", plain(c.Server), c.Live)
	}
}

// approveCommand pins the command of a server to what it is now, if that is
// what has been reviewed.
func approveCommand(cmd *cobra.Command, s streams, l *live, cfg config.Config, digest string, words []string) error {
	want, err := canon.ParseDigest(digest)
	if err != nil {
		return usage("a digest has 64 hex digits")
	}
	state, now, err := l.compareCommand(cfg, words)
	if err != nil {
		return err
	}
	if state == nil {
		return hinted(errors.New("the command of this server is not pinned"), "pin it with: verbatim catalog pin --command")
	}
	if state.Live != want.String() {
		return hinted(errors.New("that is not how the server is started now; nothing was changed"), "see how it is with: verbatim catalog diff")
	}
	return pinInto(cmd, s, l.name, now, func(launch.Pin, bool) error { return nil })
}
