package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

func catalogCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "catalog",
		Short: "Look at, check and begin the catalog of tools",
		Args:  subcommandsOnly,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(catalogLintCommand(s), catalogShowCommand(s), catalogImportCommand(s),
		catalogPinCommand(s), catalogDiffCommand(s), catalogApproveCommand(s))
	return c
}

// readCatalog reads the files named, or that of the home. Nothing is assumed
// of a file that does not exist.
func readCatalog(paths []string) (*catalog.Catalog, error) {
	if len(paths) == 0 {
		_, cfg, err := configured("")
		if err != nil {
			return nil, err
		}
		paths = []string{cfg.Catalog}
	}
	for _, p := range paths {
		if _, err := os.Stat(p); errors.Is(err, fs.ErrNotExist) {
			return nil, hinted(fmt.Errorf("there is no catalog at %s", p), "begin one with: verbatim catalog import -- COMMAND")
		}
	}
	return yamlfile.Load(paths...)
}

func catalogLintCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "lint [FILE...]",
		Short: "Tell what looks wrong in the catalog",
		Long:  "Read the catalog and tell what a person should look at. A catalog that does not\nload, or a finding that is an error, ends with exit code 1; warnings do not.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := readCatalog(args)
			if err != nil {
				return err
			}
			return printFindings(cmd, s, c, catalog.Lint(c))
		},
	}
}

func printFindings(cmd *cobra.Command, s streams, c *catalog.Catalog, findings []catalog.Finding) error {
	failed := catalog.Failed(findings)
	if wantsJSON(cmd) {
		doc := struct {
			Tools    int               `json:"tools"`
			Findings []catalog.Finding `json:"findings"`
			Failed   bool              `json:"failed"`
		}{len(c.Tools()), append([]catalog.Finding{}, findings...), failed}
		if err := printJSON(s.out, doc); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			grade := "warning"
			if f.Error {
				grade = "error"
			}
			fmt.Fprintf(s.out, "%s: %s%s: %s (%s)\n", grade, plain(f.Tool), plain(f.Pointer), plainJSON(f.Text), f.Rule)
		}
		fmt.Fprintf(s.out, "%d tools, %d findings\n", len(c.Tools()), len(findings))
	}
	if failed {
		return ended(exitFailure)
	}
	return nil
}

func catalogShowCommand(s streams) *cobra.Command {
	var files []string
	c := &cobra.Command{
		Use:   "show [TOOL]",
		Short: "List the catalogued tools, or show one",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := readCatalog(files)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return showTool(cmd, s, c, args[0])
			}
			return showTools(cmd, s, c)
		},
	}
	c.Flags().StringSliceVar(&files, "catalog", nil, "catalog file (default: of the home's configuration); may come again")
	return c
}

// importOptions say what to list and where to write.
type importOptions struct {
	name    string
	trust   bool
	write   bool
	openapi string // a document instead of a server; "" for none
}

func catalogImportCommand(s streams) *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "import [flags] (--openapi FILE | -- COMMAND [ARG...])",
		Short: "Write a first catalog from a live MCP server or an OpenAPI document",
		Long: "Start an MCP server, list its tools and print a catalog with every definition\npinned. Every tool is high-impact until you say otherwise; guesses stand as\ncomments that begin with \"TODO:\". No tool is called.\n\n" +
			"With --write the tools are added to the home's catalog file; entries that are\nthere stay as they are.\n\n" +
			"With --openapi nothing is started: the operations of an OpenAPI document, 3.0 or\n3.1, JSON or YAML, become tools of the server that --name says. What is left out\nis told on standard error.",
		Example: "  verbatim catalog import -- npx -y @modelcontextprotocol/server-filesystem /srv/files > catalog.yaml\n  verbatim catalog import --openapi billing.yaml --name billing --write",
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (o.openapi == "") {
				return usage("catalog import needs a command after --, or --openapi")
			}
			if o.openapi != "" {
				return importOpenAPI(cmd, s, o)
			}
			return importCatalog(cmd, s, o, args)
		},
	}
	c.Flags().StringVar(&o.name, "name", "", "name of the server in the catalog (default: from the command)")
	c.Flags().BoolVar(&o.trust, "trust-read-hints", false, "take the server's word for which tools only read")
	c.Flags().BoolVar(&o.write, "write", false, "add the tools to the home's catalog file")
	c.Flags().StringVar(&o.openapi, "openapi", "", "an OpenAPI document whose operations become tools")
	return c
}

func importCatalog(cmd *cobra.Command, s streams, o importOptions, command []string) error {
	if o.name == "" {
		o.name = serverName(command[0], command[1:])
	}
	if !config.ServerName.MatchString(o.name) {
		return usage("a server's name has 1 to 40 of a-z, 0-9 and -")
	}
	listed, err := listTools(cmd.Context(), s, command)
	if err != nil {
		return err
	}
	return o.written(cmd, s, listed)
}

// written prints the catalog of tools, or adds them to the home's.
func (o importOptions) written(cmd *cobra.Command, s streams, listed []wire.Tool) error {
	if o.write {
		return o.extendHome(cmd, s, listed)
	}
	text, err := yamlfile.Import(o.name, definitions(listed), o.options())
	if err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return printJSON(s.out, imported{Server: o.name, Tools: len(listed), Catalog: string(text)})
	}
	_, err = s.out.Write(text)
	return err
}

// imported is the JSON document of an import.
type imported struct {
	Server  string `json:"server"`
	Tools   int    `json:"tools"`          // that were listed, or added
	File    string `json:"file,omitempty"` // that was written
	Catalog string `json:"catalog,omitempty"`
}

func (o importOptions) options() yamlfile.ImportOptions {
	return yamlfile.ImportOptions{TrustReadHints: o.trust, Date: time.Now()}
}

func definitions(tools []wire.Tool) [][]byte {
	out := make([][]byte, len(tools))
	for i, t := range tools {
		out[i] = t.Raw
	}
	return out
}

// extendHome adds the tools that the home's catalog does not have.
func (o importOptions) extendHome(cmd *cobra.Command, s streams, listed []wire.Tool) error {
	_, cfg, err := configured("")
	if err != nil {
		return err
	}
	return o.extendFile(cmd, s, cfg.Catalog, listed)
}

// extendFile adds the tools that a catalog file does not have.
func (o importOptions) extendFile(cmd *cobra.Command, s streams, path string, listed []wire.Tool) error {
	have, err := loadCatalog(path)
	if err != nil {
		return err
	}
	var fresh []wire.Tool
	for _, t := range listed {
		if _, known := have.Tool(o.name + "." + t.Name); !known {
			fresh = append(fresh, t)
		}
	}
	if len(fresh) > 0 {
		added, err := yamlfile.Import(o.name, definitions(fresh), o.options())
		if err != nil {
			return err
		}
		if err := addEntries(path, added); err != nil {
			return err
		}
	}
	if wantsJSON(cmd) {
		return printJSON(s.out, imported{Server: o.name, Tools: len(fresh), File: path})
	}
	_, err = fmt.Fprintf(s.out, "%d of %d tools of %s added to %s\n", len(fresh), len(listed), o.name, plain(path))
	return err
}

// addEntries adds catalog entries to a file, or makes the file.
func addEntries(path string, added []byte) error {
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return writeWhole(path, added)
	}
	if err != nil {
		return err
	}
	return extend(path, old, added)
}

// listTools starts a server of the user's own and asks what it offers. No
// gateway is between: nothing is called.
func listTools(ctx context.Context, s streams, command []string) ([]wire.Tool, error) {
	done := slowly(s, "starting "+plain(strings.Join(command, " ")))
	defer done()
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	p, err := gate.Start(gate.Command{Path: command[0], Args: command[1:], Env: os.Environ(), Dir: dir}, s.err)
	if err != nil {
		return nil, err
	}
	end := sync.OnceFunc(p.Stop)
	defer end()
	stop := context.AfterFunc(ctx, end)
	defer stop()
	c, err := greetServer(p.Out, p.In)
	if err != nil {
		return nil, hinted(err, "what the server wrote to its standard error is above")
	}
	return c.tools()
}
