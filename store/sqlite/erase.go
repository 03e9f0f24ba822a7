package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Erase destroys what tells of the arguments of an action that has ended.
// When it returns without an error, the file and its journal no longer hold
// it, in freed space either.
func (s *Store) Erase(ctx context.Context, tenant, id, account, reason string) (action.Action, error) {
	out, err := s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := s.loadWhere(t.conn, "WHERE a.tenant = ? AND a.id = ?", tenant, id)
		if err != nil {
			return action.Action{}, err
		}
		if err := tables.MayLift(t, action.Stop{Tenant: tenant}, account); err != nil {
			return verbs.Visible(row, err), err
		}
		if !row.ErasedAt.IsZero() {
			return row, nil
		}
		m, err := verbs.Erase(row, t.now, account, reason)
		if err != nil {
			return row, err
		}
		return t.erase(row, m)
	})
	if err != nil {
		return out, err
	}
	s.leftover.Store(true)
	return out, s.emptyJournal(ctx)
}

func (t *tx) erase(row action.Action, m verbs.Move) (action.Action, error) {
	err := t.erasePayload(row.ID)
	if err == nil {
		m.To.Leaf, err = t.recorded(m.Record, m.Facts, m.Secrets)
	}
	return m.To, err
}

// erasePayload forgets what tells of the arguments of an action.
func (t *tx) erasePayload(id string) error {
	steps := []struct {
		sql  string
		args []any
	}{
		{`UPDATE action SET erased_at = ?, fingerprint = NULL, hash = NULL, targets = '[]', evidence = '[]', changes = '[]', reason = '',
			end_detail = '', raw = NULL, requested = NULL, args = NULL, preview = NULL, facts = NULL, result = NULL WHERE id = ?`, []any{t.now, id}},
		{`UPDATE payload SET raw = NULL, requested = NULL, args = NULL, preview = NULL, facts = NULL, result = NULL
			WHERE action_seq = (SELECT seq FROM action WHERE id = ?)`, []any{id}},
		{"UPDATE standing_grant SET revoked_at = ? WHERE source = ? AND revoked_at IS NULL", []any{t.now, id}},
		{"UPDATE standing_grant SET scope = NULL WHERE source = ?", []any{id}},
		{"UPDATE approval SET nonce = ?, preview = NULL WHERE action_id = ?", []any{verbs.ErasedNonce(id), id}},
	}
	for _, step := range steps {
		if _, err := t.exec(step.sql, step.args...); err != nil {
			return fmt.Errorf("erase: %w", err)
		}
	}
	return t.eraseSalts(id)
}

// eraseSalts forgets the salts of the records of an action.
func (t *tx) eraseSalts(id string) error {
	if err := t.putPack(); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	firsts, err := t.packsOf(id)
	look := search{action: id}.look()
	for _, first := range firsts {
		if err == nil {
			_, err = t.forgetSalts(func(k kept) (bool, error) { return look.May(k.form), nil },
				"SELECT "+packColumns+" FROM event_pack WHERE first = ?", first)
		}
	}
	if err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	return nil
}

// emptyJournal writes what is in the journal into the file and cuts it to
// nothing, so that no earlier state of a page is left in it. Readers may keep
// it busy for a moment.
func (s *Store) emptyJournal(ctx context.Context) (err error) {
	s.leftover.Store(false) // what is erased from here on says so itself
	defer func() {
		if err != nil {
			s.leftover.Store(true)
		}
	}()
	s.view.barred.Add(1)
	defer s.view.barred.Add(-1)
	if err := s.write(ctx, syncNormal, nil); err != nil { // what was begun before has ended then
		return fmt.Errorf("empty the journal: %w", err)
	}
	c, err := s.connect(s.opt.VFS)
	if err != nil {
		return fmt.Errorf("empty the journal: %w", err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.db.BusyTimeout(walPatience); err != nil { // writers wait as long
		return fmt.Errorf("empty the journal: %w", err)
	}
	for until := time.Now().Add(busyTimeout); ; {
		busy := true
		err := c.query(func(cur *cursor) error { busy = cur.bool(); return nil }, "PRAGMA wal_checkpoint(TRUNCATE)")
		if err == nil && !busy {
			return nil
		}
		if err != nil && !errors.Is(err, sqlite3.BUSY) && !errors.Is(err, sqlite3.LOCKED) {
			return fmt.Errorf("empty the journal: %w", err)
		}
		if ctx.Err() != nil || time.Now().After(until) {
			return errors.New("empty the journal: somebody reads it; erase again")
		}
		time.Sleep(10 * time.Millisecond)
	}
}
