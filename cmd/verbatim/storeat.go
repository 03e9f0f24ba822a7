package main

import (
	"context"
	"errors"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/store/postgres"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// storeAt is the store that a configuration names: the home's own file, or a
// database that gateways share.
type storeAt struct {
	home   config.Home
	own    sqlite.Options
	shared *postgres.Options // nil for the home's own
}

// findStore finds the store and the key that opens it. It makes no key: a
// store that is there has been made with one.
func findStore(ctx context.Context, path string) (storeAt, error) {
	home, cfg, err := configured(path)
	if err != nil {
		return storeAt{}, err
	}
	ring, err := existingRing(home)
	if err != nil {
		return storeAt{}, err
	}
	sealer, err := ring.Sealer()
	if err != nil || cfg.Postgres == nil {
		return storeAt{home: home, own: sqlite.Options{Sealer: sealer}}, err
	}
	dsn, err := readSecret(ctx, cfg.Postgres.DSN)
	return storeAt{home: home, shared: &postgres.Options{DSN: dsn, Sealer: sealer}}, err
}

// check reads the store, or a backup of it.
func (s storeAt) check(ctx context.Context, file string) (sqlite.Report, error) {
	switch {
	case s.shared != nil && file != "":
		return postgres.CheckFile(ctx, file, *s.shared)
	case s.shared != nil:
		return postgres.Check(ctx, *s.shared)
	case file != "":
		return sqlite.Check(ctx, file, s.own)
	default:
		return sqlite.Check(ctx, s.home.Store(), s.own)
	}
}

func (s storeAt) backup(ctx context.Context, to string) (sqlite.Report, error) {
	if s.shared != nil {
		return postgres.Backup(ctx, to, *s.shared)
	}
	return sqlite.Backup(ctx, s.home.Store(), to, s.own)
}

func (s storeAt) restore(ctx context.Context, from, role string) (r sqlite.Restoration, err error) {
	if role != "" && s.shared == nil {
		return r, errGrant
	}
	lock, err := daemon.TakeLock(s.home)
	if err != nil {
		return r, err
	}
	if s.shared != nil {
		r, err = postgres.Restore(ctx, from, *s.shared, role)
	} else {
		r, err = sqlite.Restore(ctx, s.home.Store(), from, s.own)
	}
	return r, errors.Join(err, lock.Free())
}

var errGrant = errors.New("--grant is for a PostgreSQL database, and the configuration names none")
