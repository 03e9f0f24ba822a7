package tables

import (
	"crypto/rand"
	"fmt"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// MarkGap gives the log of a store that was put back another name, says where
// its records break off, and freezes everything. The last record that it has
// is the store's to tell.
func MarkGap(t Tx, r *verbs.Restoration) error {
	if err := renameLog(t, r); err != nil {
		return err
	}
	record, f := verbs.GapRecord(r.Gap())
	if err := t.Record(record, f, nil); err != nil {
		return err
	}
	return freeze(t, verbs.GapStop(r.Gap()))
}

// renameLog: what the log signed under its old name after the backup must not
// contradict what it signs from here on.
func renameLog(t Tx, r *verbs.Restoration) error {
	if err := t.Query(func(cur Row) error { r.LogBefore = cur.Text(); return nil }, "SELECT origin FROM log"); err != nil {
		return err
	}
	r.Log = audit.NewOrigin(rand.Text())
	if _, err := t.Exec("INSERT INTO log (one, origin) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET origin = excluded.origin", r.Log); err != nil {
		return fmt.Errorf("name the log: %w", err)
	}
	return nil
}

// EndAuthority ends what may have been used up or withdrawn after a backup,
// and gives every tool an epoch that no decision carries.
func EndAuthority(t Tx, r *verbs.Restoration) error {
	if err := moveEpochs(t, r); err != nil {
		return err
	}
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{"UPDATE standing_grant SET revoked_at = $1 WHERE revoked_at IS NULL", []any{t.Now()}},
		{"UPDATE delegation SET ended_at = $1 WHERE ended_at IS NULL", []any{t.Now()}},
		{"DELETE FROM login", nil},
		{"DELETE FROM invitation WHERE used_at IS NULL", nil},
	} {
		if _, err := t.Exec(s.sql, s.args...); err != nil {
			return fmt.Errorf("end what a backup allows: %w", err)
		}
	}
	return nil
}

func moveEpochs(t Tx, r *verbs.Restoration) error {
	type entry struct {
		tenant, tool string
		digest       canon.Digest
		epoch        int64
	}
	var all []entry
	if err := t.Query(func(cur Row) error {
		all = append(all, entry{cur.Text(), cur.Text(), cur.Digest(), cur.Int()})
		return nil
	}, "SELECT tenant, tool, digest, epoch FROM policy_epoch ORDER BY tenant, tool"); err != nil {
		return err
	}
	for _, e := range all {
		if err := setPolicy(t, e.tenant, e.tool, e.digest, verbs.EpochAfter(e.epoch, t.Now())); err != nil {
			return err
		}
	}
	r.Epochs = len(all)
	return nil
}
