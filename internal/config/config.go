package config

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// Config is the configuration of one daemon.
type Config struct {
	// Agent is the agentName of sessions that bring none of their own.
	Agent string
	// Listen is the address of the approvers' page.
	Listen string
	// Catalog and Policy are files; a policy may also be a directory of
	// *.cedar files. Paths are relative to the configuration file.
	Catalog string
	Policy  string
	// Wait is how long a call is held while people decide.
	Wait time.Duration
	// Idle is how long a daemon without work stays.
	Idle time.Duration
	// Servers are MCP servers by name.
	Servers map[string]Server
}

// Server is how to start one MCP server.
type Server struct {
	Command string
	Args    []string
	Env     map[string]string
	Dir     string
}

// The defaults and ranges.
const (
	DefaultAgent  = "local-agent"
	DefaultListen = "127.0.0.1:7433"
	DefaultWait   = 50 * time.Second
	MaxWait       = 10 * time.Minute
	DefaultIdle   = 10 * time.Minute
	MinIdle       = time.Second
	MaxIdle       = 24 * time.Hour
)

// ServerName is what a server may be called in the catalog.
var ServerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// Load reads a configuration file. If it is missing and optional, the
// defaults of the home apply. Errors name file, line and field.
func Load(h Home, path string, optional bool) (Config, error) {
	c := Config{Agent: DefaultAgent, Listen: DefaultListen, Wait: DefaultWait, Idle: DefaultIdle}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && optional:
		return c.located(h, string(h)), nil
	case err != nil:
		return Config{}, err
	}
	if err := parse(path, text, &c); err != nil {
		return Config{}, err
	}
	return c.located(h, filepath.Dir(path)), nil
}

// located makes paths absolute and fills in those of the home.
func (c Config) located(h Home, dir string) Config {
	for _, p := range []*string{&c.Catalog, &c.Policy} {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(dir, *p)
		}
	}
	if c.Catalog == "" {
		c.Catalog = h.Catalog()
	}
	if c.Policy == "" {
		c.Policy = h.Policy()
	}
	return c
}
