package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// settings are what the configuration file says, as far as it can change while
// the daemon runs: all of a change is taken over, or none of it. Catalog and
// policy have files of their own (rules).
type settings struct {
	parts  *parts
	first  config.Config // that the process began with
	inUse  atomic.Pointer[config.Config]
	behind *front // nil where no endpoint serves

	turn    sync.Mutex // one reading at a time
	read    config.Config
	seen    string
	mistake error
}

// front is the endpoint that serves.
type front struct {
	hub      *hub.Hub
	endpoint *endpoint.Endpoint
	who      endpoint.Authority
}

func newSettings(p *parts, cfg config.Config) *settings {
	s := &settings{parts: p, first: cfg, read: cfg}
	s.seen = lookAt(cfg.Watched())
	s.inUse.Store(&cfg)
	return s
}

// now is the configuration in use.
func (s *settings) now() *config.Config { return s.inUse.Load() }

// serve tells what serves, before it does.
func (s *settings) serve(h *hub.Hub, e *endpoint.Endpoint, d doors) {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.behind = &front{h, e, d.authority}
}

// reload reads the file again if it or a file that it names has changed, or if
// somebody asks for it. A mistake is logged once; what was in use stays.
func (s *settings) reload(asked bool) {
	if asked {
		s.turn.Lock()
	} else if !s.turn.TryLock() {
		return // somebody is at it
	}
	defer s.turn.Unlock()
	if looks := lookAt(s.read.Watched()); looks == s.seen && !asked {
		return
	}
	err := s.again()
	s.seen = lookAt(s.read.Watched())
	if err != nil {
		if s.mistake == nil || s.mistake.Error() != err.Error() {
			s.parts.log.Error("the configuration was changed and cannot be used; the earlier one stays in use", "stage", "configuration", "error", err)
		}
		s.mistake = err
		return
	}
	s.mistake = nil
	s.parts.log.Info("the configuration was read again", "file", s.first.File)
	if asked {
		s.refreshKeys()
	}
}

// again reads everything, and takes it over if all of it is right.
func (s *settings) again() error {
	next, err := config.Load(s.parts.home, s.first.File, s.first.Optional)
	if err != nil {
		return err
	}
	s.read = next
	if fields := s.first.NeedsRestart(next); len(fields) > 0 {
		return fmt.Errorf("%s: a change of %s needs a restart", next.File, strings.Join(fields, ", "))
	}
	var rules ruleSet
	moved := filesOf(next) != filesOf(*s.now())
	if moved {
		if rules, err = filesOf(next).read(); err != nil {
			return err
		}
	}
	if err := s.open(next); err != nil { // the last that can fail
		return err
	}
	if moved {
		s.parts.rules.put(rules)
	}
	s.inUse.Store(&next)
	return nil
}

// open puts other servers and tokens behind the endpoint.
func (s *settings) open(next config.Config) error {
	if s.behind == nil {
		return nil
	}
	d, err := s.parts.doors(next, s.behind.who)
	if err != nil {
		return err
	}
	if d.authority == nil {
		return errors.New("the endpoint: nobody could call")
	}
	if err := s.behind.hub.Replace(d.servers); err != nil {
		return err
	}
	s.behind.who = d.authority
	return s.behind.endpoint.Replace(d.authority, d.resource)
}

// keysWait bounds how long an authorization server is waited for.
const keysWait = 10 * time.Second

// refreshKeys asks the authorization server for its keys. Tokens are checked
// by those that are known until they have come.
func (s *settings) refreshKeys() {
	if s.behind == nil {
		return
	}
	who, ok := s.behind.who.(*issued)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), keysWait)
	defer cancel()
	if err := who.verifier.Refresh(ctx); err != nil {
		s.parts.log.Error("the keys of the authorization server could not be read again; the known ones stay until they are old", "stage", "keys", "error", err)
	}
}

// mistakes are what keeps changed files from being in use.
func (p *parts) mistakes() []string {
	var out []string
	p.settings.turn.Lock()
	if err := p.settings.mistake; err != nil {
		out = append(out, err.Error())
	}
	p.settings.turn.Unlock()
	p.rules.mu.Lock()
	defer p.rules.mu.Unlock()
	if err := p.rules.mistake; err != nil {
		out = append(out, err.Error())
	}
	return out
}

// reload looks for changed files.
func (p *parts) reload() {
	_ = p.rules.reload() // it has said what is wrong
	p.settings.reload(false)
}

// hangups are the times at which the process is told to read its files again.
func hangups() chan os.Signal {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGHUP)
	return told
}

// onHangup reads all files again each time, until ctx ends.
func (p *parts) onHangup(ctx context.Context, told chan os.Signal) {
	defer signal.Stop(told)
	for {
		select {
		case <-ctx.Done():
			return
		case <-told:
			p.log.Info("told to read all files again")
			if err := p.rules.again(true); err != nil {
				p.log.Error("catalog or policy have a mistake; the earlier ones stay in force", "stage", "rules", "error", err)
			}
			p.settings.reload(true)
		}
	}
}
