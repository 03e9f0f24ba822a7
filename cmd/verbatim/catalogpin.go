package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// live says which server is asked for its tools: one that the configuration
// declares, or a command.
type live struct{ name, server, config string }

func (l *live) flags(c *cobra.Command) {
	c.Flags().StringVar(&l.name, "name", "", "name of the server in the catalog (default: from the command)")
	c.Flags().StringVar(&l.server, "server", "", "a server that the configuration declares, instead of a command")
	c.Flags().StringVar(&l.config, "config", "", "configuration file (default verbatim.yaml in the home directory)")
}

// named finds out which server is meant, and its name.
func (l *live) named(command []string) (config.Config, error) {
	_, cfg, err := configured(l.config)
	if err != nil {
		return cfg, err
	}
	if (l.server == "") == (len(command) == 0) {
		return cfg, usage("name a server with --server, or give a command after --")
	}
	if _, ok := cfg.Servers[l.server]; l.server != "" && !ok {
		return cfg, fmt.Errorf("no server of that name is declared; the configuration has: %s", declaredNames(cfg.Servers))
	}
	switch {
	case l.server != "":
		l.name = l.server
	case l.name == "":
		l.name = serverName(command[0], command[1:])
	}
	if !config.ServerName.MatchString(l.name) {
		return cfg, usage("a server's name has 1 to 40 of a-z, 0-9 and -")
	}
	return cfg, nil
}

// list asks the server for its tools.
func (l *live) list(cmd *cobra.Command, s streams, command []string) (cfg config.Config, tools []wire.Tool, err error) {
	if cfg, err = l.named(command); err != nil {
		return cfg, nil, err
	}
	// A command that was swapped is not started to be looked at.
	if state, _, err := l.compareCommand(cfg, command); err != nil || state != nil && state.State == "changed" {
		if err == nil {
			err = hinted(fmt.Errorf("the command of %s is not the one that was pinned, so it was not started", l.name), "see where with: verbatim catalog diff")
		}
		return cfg, nil, err
	}
	if l.server == "" {
		tools, err = listTools(cmd.Context(), s, command)
		return cfg, tools, err
	}
	declared := cfg.Servers[l.server]
	done := slowly(s, "asking "+plain(l.server))
	defer done()
	from, err := behind(l.server, declared, slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: slog.LevelWarn})),
		func(c gate.Command) (gate.Command, error) { return c, nil }) // to look is not to run: nothing is called
	if err != nil {
		return cfg, nil, err
	}
	tools, err = hub.Definitions(cmd.Context(), from, daemon.ThisBuild().Version)
	return cfg, tools, err
}

func catalogPinCommand(s streams) *cobra.Command {
	var l live
	var p commandPin
	c := &cobra.Command{
		Use:   "pin [flags] [-- COMMAND [ARG...]]",
		Short: "Pin the tools of a server that the catalog does not have",
		Long:  "Ask a server for its tools and add those that the home's catalog does not have,\npinned to the definitions of now. Each is high-impact until you say otherwise.\nEntries that are there stay as they are.\n\nWith --command, pin how the server is started instead: the program by path and\ncontent, its arguments, and the variables that --env and --secret name. From then\non wrap and serve start it in that way only, with no other variables but those\nthat every program needs.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.on {
				cfg, err := l.named(args)
				if err != nil {
					return err
				}
				return p.add(cmd, s, &l, cfg, args)
			}
			cfg, tools, err := l.list(cmd, s, args)
			if err != nil {
				return err
			}
			return importOptions{name: l.name}.extendFile(cmd, s, cfg.Catalog, tools)
		},
	}
	l.flags(c)
	p.flags(c)
	return c
}

// compared is what became of one tool.
type compared struct {
	Tool     string   `json:"tool"`
	State    string   `json:"state"`              // same, changed, new or gone
	Pinned   string   `json:"pinned,omitempty"`   // digest in the catalog
	Live     string   `json:"live,omitempty"`     // digest of what the server says
	Pointers []string `json:"pointers,omitempty"` // where the definition differs
}

func catalogDiffCommand(s streams) *cobra.Command {
	var l live
	c := &cobra.Command{
		Use:   "diff [flags] [-- COMMAND [ARG...]]",
		Short: "Hold what a server says of its tools against the catalog",
		Long:  "Ask a server for its tools and tell which are not what the catalog pins, and\nwhere. No tool is called. Exit code 3 if a pinned tool is changed or gone: it is\nclosed until you approve it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := l.named(args)
			if err != nil {
				return err
			}
			started, _, err := l.compareCommand(cfg, args)
			if err != nil {
				return err
			}
			if started != nil && started.State == "changed" {
				return printDiff(cmd, s, l.name, started, nil)
			}
			_, tools, err := l.list(cmd, s, args)
			if err != nil {
				return err
			}
			have, err := loadCatalog(cfg.Catalog)
			if err != nil {
				return err
			}
			pins, err := pinnedTexts(cfg.Catalog)
			if err != nil {
				return err
			}
			return printDiff(cmd, s, l.name, started, compareTools(l.name, have, pins, tools))
		},
	}
	l.flags(c)
	return c
}

// pinnedTexts are the definitions of a catalog file by tool.
func pinnedTexts(path string) (map[string][]byte, error) {
	src, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return yamlfile.Definitions(path, src, filepath.Dir(path))
}

func compareTools(server string, have *catalog.Catalog, pins map[string][]byte, tools []wire.Tool) []compared {
	var out []compared
	listed := map[string]bool{}
	for _, t := range tools {
		x := compared{Tool: server + "." + t.Name, State: "new", Live: t.Digest.String()}
		listed[x.Tool] = true
		if pinned, ok := have.Tool(x.Tool); ok {
			x.State, x.Pinned = "same", pinned.Definition.String()
			if pinned.Definition != t.Digest {
				x.State, x.Pointers = "changed", catalog.Differences(pins[x.Tool], t.Raw)
			}
		}
		out = append(out, x)
	}
	for _, t := range have.Tools() {
		if t.Server == server && !listed[t.Name] {
			out = append(out, compared{Tool: t.Name, State: "gone", Pinned: t.Definition.String()})
		}
	}
	return out
}

func printDiff(cmd *cobra.Command, s streams, server string, started *comparedCommand, list []compared) error {
	closed := started != nil && started.State == "changed"
	for _, x := range list {
		closed = closed || x.State == "changed" || x.State == "gone"
	}
	if wantsJSON(cmd) {
		doc := struct {
			Server  string           `json:"server"`
			Command *comparedCommand `json:"command,omitempty"`
			Tools   []compared       `json:"tools"`
			Closed  bool             `json:"closed"`
		}{server, started, append([]compared{}, list...), closed}
		if err := printJSON(s.out, doc); err != nil {
			return err
		}
	} else {
		if started != nil {
			started.print(s)
		}
		for _, x := range list {
			fmt.Fprintf(s.out, "%-8s %s\n", x.State, plain(x.Tool))
			if x.State != "changed" {
				continue
			}
			for _, p := range x.Pointers {
				fmt.Fprintf(s.out, "         %s\n", plain(p))
			}
			fmt.Fprintf(s.out, "         approve it with: verbatim catalog approve %s %s\n", plain(x.Tool), x.Live)
		}
	}
	if closed {
		return ended(exitDenied)
	}
	return nil
}

func catalogApproveCommand(s streams) *cobra.Command {
	var l live
	c := &cobra.Command{
		Use:   "approve [flags] TOOL|SERVER DIGEST [-- COMMAND [ARG...]]",
		Short: "Pin a tool, or a server's command, to another form, after review",
		Long:  "Pin TOOL to the definition with that DIGEST, as catalog diff prints it, if it is\nwhat the server says now. Approvals that were given under the other definition\nare void. The rest of the entry stays as it is: read whether it still fits.\n\nWith the name of a SERVER instead, pin how it is started.",
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			own, command := args, []string(nil)
			if dash >= 0 {
				own, command = args[:dash], args[dash:]
			}
			if len(own) != 2 {
				return usage("catalog approve needs the tool and the digest that catalog diff prints")
			}
			if config.ServerName.MatchString(own[0]) { // a tool has a dot
				cfg, err := l.named(command)
				if err != nil {
					return err
				}
				if own[0] != l.name {
					return usage("the server is called " + l.name)
				}
				return approveCommand(cmd, s, &l, cfg, own[1], command)
			}
			cfg, tools, err := l.list(cmd, s, command)
			if err != nil {
				return err
			}
			return approveDefinition(cmd, s, cfg.Catalog, l.name, own[0], own[1], tools)
		},
	}
	l.flags(c)
	return c
}

var errOtherDigest = errors.New("the server does not offer that tool with that digest; nothing was changed")

func approveDefinition(cmd *cobra.Command, s streams, path, server, tool, digest string, tools []wire.Tool) error {
	want, err := canon.ParseDigest(digest)
	if err != nil {
		return usage("a digest has 64 hex digits")
	}
	name, ok := strings.CutPrefix(tool, server+".")
	if !ok {
		return usage("the tool is called SERVER.TOOL, and the server is " + server)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, t := range tools {
		if t.Name != name || t.Digest != want {
			continue
		}
		text, err := yamlfile.Repin(path, src, filepath.Dir(path), tool, t.Raw)
		if err != nil {
			return err
		}
		if err := writeWhole(path, text); err != nil {
			return err
		}
		if wantsJSON(cmd) {
			return printJSON(s.out, compared{Tool: tool, State: "same", Pinned: digest, Live: digest})
		}
		_, err = fmt.Fprintf(s.out, "%s is pinned to %s\n", plain(tool), want)
		return err
	}
	return hinted(errOtherDigest, "see what it offers with: verbatim catalog diff")
}
