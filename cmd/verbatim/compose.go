package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"sync"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/telemetry"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/postgres"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// localTenant is the tenant of a home; a home serves one.
const localTenant = "local"

// parts is everything that one process is made of.
type parts struct {
	voteKeys []ed25519.PublicKey // public
	home     config.Home
	cfg      config.Config
	log      *slog.Logger
	store    store
	timed    verbatim.Store // the same, with its commits timed
	accounts *auth.Accounts
	policy   *livePolicy
	binder   *binder
	rules    *rules
	beside   *candidate // nil: none
	settings *settings
	gate     *verbatim.Gate
	catalogs sync.Mutex // one writer of the catalog file at a time
	sequence *audit.Sequencer
	receipts *keys.Signer
	ring     *keys.Ring
	warrants *keys.Signer

	eraseKeys  func(...keys.Place) error
	forgetKeys func(before []keys.Shelf, old bool, held ...keys.Place) error
	meters     meters
	telemetry  *telemetry.Telemetry // nil: no collector is told anything
}

// store is a store with its accounts.
type store interface {
	verbatim.Store
	auth.Book
	Close() error
}

// compose opens the store and builds the gate of a home. Whatever is wrong
// with the configuration is found before anything starts. Only one process
// may do so at a time; the daemon's lock sees to that.
func compose(home config.Home, cfg config.Config, log *slog.Logger) (*parts, error) {
	empty, err := catalog.New()
	if err != nil {
		return nil, err
	}
	p := &parts{home: home, cfg: cfg, log: log, meters: newMeters(), policy: &livePolicy{}, binder: newBinder(empty, seen{home.Path("seen")}, log)}
	if p.beside, err = newCandidate(home, cfg, log); err != nil {
		return nil, err
	}
	p.meters.candidate(p.beside)
	p.rules = &rules{files: filesOf(cfg), log: log, policy: p.policy, binder: p.binder, beside: p.beside}
	if err := p.rules.load(); err != nil {
		p.beside.close()
		return nil, err
	}
	p.settings = newSettings(p, cfg)
	if err := p.open(); err != nil {
		p.beside.close()
		return nil, err
	}
	p.gate, err = verbatim.New(verbatim.Config{Store: p.timed, Observe: p.observe, Tools: noTools{}, Policy: p.policy, Shadow: p.beside.observer(),
		Votes: p.accounts, Approvers: ownerApproves(), CanApprove: p.canApprove, Receipts: p.receipts, Warrants: p.warrants, EraseKeys: p.eraseKeys, ForgetKeys: p.forgetKeys, Log: log})
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *parts) open() error {
	ring, err := keys.OpenRing(p.home.Keys())
	if err != nil {
		return err
	}
	sealer, err := ring.Sealer()
	if err != nil {
		return err
	}
	p.ring, p.eraseKeys, p.forgetKeys = ring, ring.Erase, ring.Forget
	votes, err := ring.Signer(keys.Votes)
	if err != nil {
		return err
	}
	p.voteKeys = votes.Public()
	if p.store, err = openStore(p.home, p.cfg, sealer, p.log); err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	p.timed = p.meters.timed(p.store)
	if p.receipts, err = ring.Signer(keys.Receipts); err != nil {
		p.close()
		return err
	}
	if p.warrants, err = ring.Signer(keys.Warrants); err != nil {
		p.close()
		return err
	}
	if p.sequence, err = sequencer(ring, p.timed); err != nil {
		p.close()
		return err
	}
	p.accounts, err = auth.New(auth.Config{Book: p.store, Votes: votes})
	if err != nil {
		p.close()
	}
	return err
}

// sequencer signs the log of a store with the home's own key.
func sequencer(ring *keys.Ring, l audit.Ledger) (*audit.Sequencer, error) {
	signer, err := ring.Signer(keys.Checkpoints)
	if err != nil {
		return nil, err
	}
	return audit.NewSequencer(l, signer)
}

// openStore opens the home's own store, or the database that it shares.
func openStore(home config.Home, cfg config.Config, sealer *keys.Sealer, log *slog.Logger) (store, error) {
	if cfg.Postgres == nil {
		return sqlite.Open(home.Store(), sqlite.Options{Sealer: sealer})
	}
	ctx := context.Background()
	dsn, err := readSecret(ctx, cfg.Postgres.DSN)
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, postgres.Options{DSN: dsn, Sealer: sealer, RequireSync: cfg.Postgres.RequireSync,
		Connections: cfg.Postgres.Connections, Log: log})
}

func (p *parts) close() {
	p.beside.close()
	if err := p.store.Close(); err != nil {
		p.log.Error("the store did not close", "error", err)
	}
}

// ownerApproves: with a single operator, the owner of the agent session is
// the one who may approve.
func ownerApproves() []action.Requirement {
	return []action.Requirement{{AnyOf: []action.Group{{Name: approval.GroupOwner, Votes: 1}}}}
}

func (p *parts) canApprove(ctx context.Context, _ string) (bool, error) {
	n, err := p.accounts.Count(ctx)
	return n > 0, err
}

// noTools: the daemon's own gate runs nothing; each attachment brings the
// tools of its server.
type noTools struct{}

func (noTools) Tool(string) (verbatim.Bound, bool) { return verbatim.Bound{}, false }
