package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// doors are what of an endpoint can change while it serves: who may come in,
// and the servers behind it.
type doors struct {
	authority endpoint.Authority
	resource  *endpoint.Resource
	servers   []hub.Server
}

// doors finds what is wrong with them before anything is changed.
func (p *parts) doors(cfg config.Config, earlier endpoint.Authority) (d doors, err error) {
	if d.authority, d.resource, err = p.authority(cfg.Endpoint, earlier); err != nil {
		return d, err
	}
	d.servers, err = p.servers(cfg)
	return d, err
}

// vouchers are the certificates that vouch for a server beside the system's.
func vouchers(declared config.Server) ([]byte, error) {
	if declared.CA == nil {
		return nil, nil
	}
	return os.ReadFile(*declared.CA)
}

// versionOf tells the entry of a server from what it was: a digest of all that
// it says and of what was read for it, but for secrets, which are read each time.
func versionOf(declared config.Server, identity canon.Digest, roots []byte) (string, error) {
	declared.CA = nil // its content counts, not its place
	text, err := json.Marshal(declared)
	if err != nil {
		return "", fmt.Errorf("the entry cannot be told from another: %w", err)
	}
	return canon.Sum(fmt.Appendf(nil, "%d\n%s\n%s\n%s", len(text), text, identity, roots)).String(), nil
}
