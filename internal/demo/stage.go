package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// Config is what a demo needs of the program that it is part of.
type Config struct {
	Self string // path of this program
	Once bool   // end after the story
	Out  *Paper
	// List asks an MCP server what it offers.
	List func(ctx context.Context, command []string) ([]wire.Tool, error)
}

// stage is a home with a daemon, an agent and a person.
type stage struct {
	cfg      Config
	home     config.Home
	daemon   *daemon.Client
	agent    *agent
	name     string // of the person
	password string
}

// Run plays the story. It fails where anything turned out otherwise.
func Run(ctx context.Context, cfg Config) error {
	dir, err := os.MkdirTemp("", "verbatim-demo-")
	if err != nil {
		return err
	}
	s := &stage{cfg: cfg, home: config.Home(dir), name: "demo"}
	defer s.strike()
	if err := s.build(ctx); err != nil {
		return err
	}
	if err := s.play(ctx); err != nil {
		return err
	}
	if cfg.Once {
		return nil
	}
	return s.stay(ctx)
}

// build furnishes the home, starts the daemon, makes the approver's account
// and connects the agent.
func (s *stage) build(ctx context.Context) error {
	tools, err := s.cfg.List(ctx, []string{s.cfg.Self, "demo-bank", "--ledger", s.home.Path(ledgerFile)})
	if err != nil {
		return fmt.Errorf("start the pretend bank: %w", err)
	}
	if err := furnish(string(s.home), s.cfg.Self, tools); err != nil {
		return err
	}
	starter := daemon.Starter{Home: s.home, Command: s.cfg.Self, Args: []string{"serve", "--background"}}
	if s.daemon, err = starter.Client(ctx); err != nil {
		return err
	}
	if err := s.hire(ctx); err != nil {
		return err
	}
	s.agent, err = startAgent(ctx, s.cfg.Self, s.home)
	return err
}

// hire makes the account of the person who approves, with a password that
// nobody else has.
func (s *stage) hire(ctx context.Context) error {
	me, err := user.Current()
	if err != nil {
		return err
	}
	name := me.Username[strings.LastIndexByte(me.Username, '\\')+1:]
	s.password = strings.ToLower(rand.Text()[:16])
	_, err = s.daemon.AddAccount(ctx, daemon.NewAccount{Name: s.name, Password: s.password, Principal: "local:" + name})
	return err
}

// strike ends everything that was started and removes the home.
func (s *stage) strike() {
	if s.agent != nil {
		s.agent.close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	if s.daemon != nil && s.daemon.Stop(ctx) == nil {
		s.awaitEnd(ctx)
	}
	_ = os.RemoveAll(string(s.home)) // it is in the directory for temporary files
}

// awaitEnd waits until the daemon has let go of the home.
func (s *stage) awaitEnd(ctx context.Context) {
	for ctx.Err() == nil {
		lock, err := daemon.TakeLock(s.home)
		if err == nil {
			_ = lock.Free()
			return
		}
		if !errors.Is(err, daemon.ErrRunning) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// vote answers a pending action as the person does: with what was shown, and
// the password.
func (s *stage) vote(ctx context.Context, shown daemon.Detail, approve bool) error {
	_, err := s.daemon.Vote(ctx, shown.ID, daemon.Ballot{Approve: approve, Digest: shown.Digest, Name: s.name, Password: s.password})
	if err != nil {
		return fmt.Errorf("vote: %w", err)
	}
	return nil
}

// ledgerHolds compares the bank's own ledger with what the story has done.
func (s *stage) ledgerHolds(want ...string) error {
	paid, err := readLedger(s.home.Path(ledgerFile))
	if err != nil {
		return err
	}
	got := make([]string, len(paid))
	for i, p := range paid {
		got[i] = dollars(p.AmountMinor) + " to " + p.VendorID
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		return &Surprise{What: "the bank's ledger", Want: strings.Join(want, "; "), Got: strings.Join(got, "; ")}
	}
	return nil
}

// unchanged says that nothing was paid, once the ledger shows it.
func (s *stage) unchanged(want ...string) error {
	if err := s.ledgerHolds(want...); err != nil {
		return err
	}
	payments := "payments"
	if len(want) == 1 {
		payments = "payment"
	}
	s.cfg.Out.says("bank", "%d %s in the ledger, as before", len(want), payments)
	return nil
}

// Surprise says that something turned out other than the story says.
type Surprise struct{ What, Want, Got string }

func (e *Surprise) Error() string {
	return fmt.Sprintf("the demo expected another outcome: %s: want %q, got %q", e.What, e.Want, e.Got)
}
