package config

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Config is the configuration of one daemon.
type Config struct {
	// Agent is the agentName of sessions that bring none of their own.
	Agent string `yaml:"agent"`
	// Listen is the address of the approvers' page.
	Listen string `yaml:"listen"`
	// Catalog and Policy are files; a policy may also be a directory of
	// *.cedar files. Paths are relative to the configuration file.
	Catalog string `yaml:"catalog"`
	Policy  string `yaml:"policy"`
	// Wait is how long a call is held while people decide.
	Wait time.Duration `yaml:"wait"`
	// Idle is how long a daemon without work stays.
	Idle time.Duration `yaml:"idle"`
	// Servers are MCP servers by name.
	Servers map[string]Server `yaml:"servers"`
}

// Server is how to start one MCP server.
type Server struct {
	Command string            `yaml:"command"`
	Args    []string          `yaml:"args"`
	Env     map[string]string `yaml:"env"`
	Dir     string            `yaml:"dir"`
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
	f, err := os.Open(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && optional:
		return c.located(h, string(h)), nil
	case err != nil:
		return Config{}, err
	}
	defer f.Close()
	decoder := yaml.NewDecoder(f)
	decoder.KnownFields(true)
	if err := decoder.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("%s: more than one document", path)
	}
	if err := c.check(); err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
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

func (c Config) check() error {
	if c.Agent == "" {
		return errors.New("agent: must not be empty")
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return errors.New("listen: must be address:port")
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return errors.New("listen: must be a loopback address such as 127.0.0.1:7433")
	}
	if c.Wait <= 0 || c.Wait > MaxWait {
		return fmt.Errorf("wait: must be above 0 and at most %s", MaxWait)
	}
	if c.Idle < MinIdle || c.Idle > MaxIdle {
		return fmt.Errorf("idle: must be from %s to %s", MinIdle, MaxIdle)
	}
	for name, s := range c.Servers {
		if !ServerName.MatchString(name) {
			return fmt.Errorf("servers.%s: a name has 1 to 40 of a-z, 0-9 and -", name)
		}
		if s.Command == "" {
			return fmt.Errorf("servers.%s.command: must not be empty", name)
		}
	}
	return nil
}
