package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/catalog/openapi"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/remote"
	"github.com/seed-de4804fb/verbatim/mcp/rest"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// operations reads an OpenAPI document.
func operations(path string) ([]openapi.Operation, []openapi.Left, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("there is no OpenAPI document at %s", plain(path))
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, openapi.MaxBytes+1))
	if err != nil {
		return nil, nil, err
	}
	return openapi.Read(text)
}

// service is how a declared HTTP service is reached. A mistake is found before
// anything starts; the document is read once.
func service(declared config.Server) (func(context.Context) (hub.Transport, error), error) {
	found, _, err := operations(*declared.OpenAPI)
	if err != nil {
		return nil, err
	}
	far := remote.Config{} // for its credential
	cfg := rest.Config{Base: declared.URL, Operations: found, KeyHeader: declared.KeyHeader}
	for _, text := range declared.Networks {
		n, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("networks: %q is not in the form 10.1.0.0/16", plain(text))
		}
		cfg.Networks = append(cfg.Networks, n)
	}
	if declared.CA != nil {
		if cfg.Roots, err = os.ReadFile(*declared.CA); err != nil {
			return nil, err
		}
		far.Roots = cfg.Roots
	}
	if err := authenticate(&far, declared); err != nil {
		return nil, err
	}
	cfg.Credential, cfg.Refused = far.Credential, far.Refused
	if _, err := rest.New(cfg); err != nil {
		return nil, err
	}
	return func(context.Context) (hub.Transport, error) { return rest.New(cfg) }, nil
}

// importOpenAPI writes the catalog of an OpenAPI document.
func importOpenAPI(cmd *cobra.Command, s streams, o importOptions) error {
	if !config.ServerName.MatchString(o.name) {
		return usage("name the server with --name: 1 to 40 of a-z, 0-9 and -")
	}
	found, left, err := operations(o.openapi)
	if err != nil {
		return err
	}
	for _, l := range left {
		fmt.Fprintf(s.err, "left out: %s: %s\n", plain(l.Where), plain(l.Why))
	}
	var listed []wire.Tool
	for _, op := range found {
		page := append(append([]byte(`{"tools":[`), op.Definition()...), "]}"...)
		list, err := wire.ToolDefinitions(page)
		if err != nil {
			return fmt.Errorf("%s: %w", plain(op.Name), err)
		}
		listed = append(listed, list.Tools...)
	}
	return o.written(cmd, s, listed)
}
