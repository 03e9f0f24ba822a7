package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/config"
)

// State is what a running daemon says about itself in daemon.json, and to
// whoever asks on its socket.
type State struct {
	PID    int    `json:"pid"`
	Build  Build  `json:"build"`
	Page   string `json:"page"`   // address of the approvers' page
	Socket string `json:"socket"` // path of the control socket

	Endpoint string `json:"endpoint,omitempty"` // address for MCP clients over HTTP; "" if there is none

	Metrics string `json:"metrics,omitempty"` // address for Prometheus; "" if there is none

	Attached int  `json:"attached"` // clients
	Pending  int  `json:"pending"`  // actions that wait or run, at most 100
	Draining bool `json:"draining"` // it ends when the last client has gone
}

// ErrNoDaemon says that no daemon serves the home.
var ErrNoDaemon = errors.New("no daemon serves this home")

// writeState replaces daemon.json as a whole: a reader never sees half.
func writeState(h config.Home, s State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	draft := h.Path("daemon.json.new")
	if err := os.WriteFile(draft, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the daemon's state: %w", err)
	}
	return os.Rename(draft, h.State())
}

// readState reads daemon.json. A daemon that was killed leaves one behind, so
// it is a hint, not a fact.
func readState(h config.Home) (State, error) {
	text, err := os.ReadFile(h.State())
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, ErrNoDaemon
	}
	if err != nil {
		return State{}, err
	}
	return parseState(text)
}

// parseState reads what it knows and passes over the rest: the writer may be
// another version.
func parseState(text []byte) (State, error) {
	v, err := canon.Decode(text, canon.Options{})
	if err != nil {
		return State{}, fmt.Errorf("read the daemon's state: %w", err)
	}
	text1 := func(pointer string) string {
		found, _ := v.Lookup(pointer)
		return found.Text()
	}
	number := func(pointer string) int {
		found, _ := v.Lookup(pointer)
		n, _ := found.Int64()
		return int(n)
	}
	draining, _ := v.Lookup("/draining")
	return State{PID: number("/pid"), Page: text1("/page"), Socket: text1("/socket"), Endpoint: text1("/endpoint"), Metrics: text1("/metrics"), Draining: draining.Bool(),
		Build:    Build{Version: text1("/build/version"), Time: text1("/build/time")},
		Attached: number("/attached"), Pending: number("/pending")}, nil
}
