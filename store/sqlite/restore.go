package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// ErrRestoring is returned by Open where a restore has not come to its end.
var ErrRestoring = errors.New("a restore of this store was interrupted; run it again")

// restoring is the name of a store while it is being put back. As long as it
// is there, Open refuses.
func restoring(path string) string { return path + ".restoring" }

// Restoration says what a restore did.
type Restoration = verbs.Restoration

// Restore puts a backup in the place of the store at path, which nobody may
// have open. What was acknowledged after the backup is unknown from then on,
// so nothing of it is guessed (docs/operations.md, "Restore"):
//
//   - what waited, was approved or was claimed ends as expired, and its result
//     says that it is not known whether it ran after the backup;
//   - what was executing is uncertain;
//   - every tool's policy epoch moves to one that was never given, so that
//     decisions of before begin nothing;
//   - standing grants, delegations, logins and open invitations end;
//   - everything is frozen until a person lifts it;
//   - the log gets another name, because checkpoints of the old one may tell
//     of records that are lost;
//   - one record marks the gap.
//
// The store of before is kept under another name. It fails with ErrOwned,
// ErrNoStore, ErrFaults, ErrMigration or ErrSealKey, and has then changed
// nothing; after any other error it may be run again, and until it has
// succeeded Open fails with ErrRestoring.
func Restore(ctx context.Context, path, from string, opt Options) (Restoration, error) {
	r, err := restore(ctx, path, from, opt)
	if err != nil {
		return r, fmt.Errorf("restore store: %w", err)
	}
	return r, nil
}

func restore(ctx context.Context, path, from string, opt Options) (r Restoration, err error) {
	if _, err := Check(ctx, from, opt); err != nil {
		return r, err
	}
	path, err = realPath(path)
	if err != nil {
		return r, err
	}
	lock, err := own(path + ".lock")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, lock.close()) }()
	draft := restoring(path)
	if err := removeStore(draft); err != nil {
		return r, err
	}
	if r, err = prepare(ctx, draft, from, opt); err != nil {
		return r, errors.Join(err, removeStore(draft))
	}
	if r.Replaced, err = setAside(path, r.At); err != nil {
		return r, err
	}
	return r, errors.Join(os.Rename(draft, path), syncDir(filepath.Dir(path)))
}

// prepare makes the store that will be put in place.
func prepare(ctx context.Context, draft, from string, opt Options) (r Restoration, err error) {
	old, c, err := peek(from, opt)
	if err != nil {
		return r, err
	}
	if err := errors.Join(old.copyTo(ctx, c, draft), c.close()); err != nil {
		return r, err
	}
	opt.MaxPages = 0
	s, err := Open(draft, opt)
	if err != nil {
		return r, err
	}
	r, err = s.restored(ctx)
	if err = errors.Join(err, s.Close()); err != nil {
		return r, err
	}
	return r, errors.Join(removeIfThere(draft+".lock"), single(draft))
}

// setAside moves the store that is there to another name and returns it. The
// draft is there already, so that nobody opens a new one meanwhile.
func setAside(path string, at time.Time) (string, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", removeStore(path) // no journal of another store may stay beside the new one
	}
	to := path + ".before-" + at.UTC().Format("20060102T150405.000000000Z")
	for _, suffix := range []string{"-wal", "-shm", "-reads1", "-reads2", ""} {
		if err := os.Rename(path+suffix, to+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return to, syncDir(filepath.Dir(path))
}

func removeStore(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm", "-reads1", "-reads2", "-journal", ".lock"} {
		if suffix == ".lock" && !isDraft(path) {
			continue // it is held
		}
		errs = append(errs, removeIfThere(path+suffix))
	}
	return errors.Join(errs...)
}

func isDraft(path string) bool { return filepath.Ext(path) == ".restoring" }

// restored marks the gap and ends what the backup had open, in one
// transaction.
func (s *Store) restored(ctx context.Context) (r Restoration, err error) {
	err = s.write(ctx, syncFull, func(t *tx) error {
		r = Restoration{At: t.now}
		if err := t.markGap(&r); err != nil {
			return err
		}
		if err := t.endOpen(&r); err != nil {
			return err
		}
		return tables.EndAuthority(t, &r)
	})
	return r, err
}

func (t *tx) markGap(r *Restoration) error {
	if _, err := t.one(func(cur *cursor) error { r.LastRecord, r.LastAt = cur.int(), cur.time(); return nil },
		"SELECT first + count - 1, at FROM event_pack ORDER BY first DESC LIMIT 1"); err != nil {
		return err
	}
	return tables.MarkGap(t, r)
}

func (t *tx) endOpen(r *Restoration) error {
	for {
		rows, err := t.store.list(t.conn, "WHERE "+flying+` AND a.state IN ('pending_approval', 'approved', 'claimed', 'executing')
			ORDER BY a.seq LIMIT ?`, maxSwept)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			out, err := t.carry(row, verbs.CutOff(row))
			if err != nil {
				return err
			}
			r.CountCutOff(out)
		}
	}
}

// Migrate brings the schema of the store at path up to date, which nobody may
// have open, and returns the versions before and after. Open does the same.
func Migrate(path string, opt Options) (from, to int, err error) {
	s, c, err := peek(path, opt)
	if err != nil {
		return 0, 0, fmt.Errorf("migrate store: %w", err)
	}
	made, err := madeMigrations(c)
	if err = errors.Join(err, c.close()); err != nil {
		return 0, 0, fmt.Errorf("migrate store: %w", err)
	}
	opened, err := Open(s.path, opt)
	if err != nil {
		return len(made), len(made), err
	}
	now, err := madeMigrations(opened.writer)
	return len(made), len(now), errors.Join(err, opened.Close())
}
