package sqlite

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// keptCheckpoints is how many signed checkpoints are kept.
const keptCheckpoints = 100

const selectOrigin = "SELECT origin FROM log"

// Origin is the name of the log.
func (s *Store) Origin(ctx context.Context) (origin string, err error) {
	get := func(c *conn) error {
		_, err := c.one(func(cur *cursor) error { origin = cur.text(); return nil }, selectOrigin)
		return err
	}
	if err = s.read(ctx, get); err != nil || origin != "" {
		return origin, err
	}
	err = s.write(ctx, syncFull, func(t *tx) error {
		if _, err := t.exec("INSERT INTO log (one, origin) VALUES (1, ?) ON CONFLICT DO NOTHING", audit.NewOrigin(rand.Text())); err != nil {
			return fmt.Errorf("name the log: %w", err)
		}
		return get(t.conn)
	})
	return origin, err
}

func (c *conn) head() (h audit.Head, err error) {
	_, err = c.one(func(cur *cursor) error { h.Size, h.Root = cur.int(), cur.digest(); return nil }, "SELECT size, root FROM head")
	return h, err
}

// A row of the tree holds inPart hashes of hashSize bytes.
const (
	inPart   = 120
	hashSize = len(canon.Digest{})
)

// hashes reads stored hashes of the tree.
func (c *conn) hashes(positions []int64) ([]canon.Digest, error) {
	out := make([]canon.Digest, len(positions))
	for i, p := range positions {
		var h []byte
		if _, err := c.one(func(cur *cursor) error { h = cur.blob(); return nil },
			"SELECT substr(hashes, ?, 32) FROM tree_part WHERE part = ?", p%inPart*int64(hashSize)+1, p/inPart); err != nil {
			return nil, err
		}
		if len(h) != hashSize {
			return nil, fmt.Errorf("the tree has no hash at position %d", p)
		}
		out[i] = canon.Digest(h)
	}
	return out, nil
}

// KeepCheckpoint keeps a signed checkpoint of a head that the tree has had.
func (s *Store) KeepCheckpoint(ctx context.Context, c audit.Checkpoint, signed []byte) error {
	return s.write(ctx, syncFull, func(t *tx) error {
		origin := ""
		if _, err := t.one(func(cur *cursor) error { origin = cur.text(); return nil }, selectOrigin); err != nil {
			return err
		}
		now, err := t.head()
		if err != nil {
			return err
		}
		if origin != c.Origin || c.Size > now.Size {
			return audit.ErrFork
		}
		if had, err := audit.HeadAt(c.Size, t.hashes); err != nil || had != c.Head {
			if err == nil {
				err = audit.ErrFork
			}
			return err
		}
		if _, err := t.exec(`INSERT INTO checkpoint (size, root, note, at) VALUES (?, ?, ?, ?)
			ON CONFLICT (size) DO UPDATE SET note = excluded.note`, c.Size, c.Root, string(signed), t.now); err != nil {
			return fmt.Errorf("keep checkpoint: %w", err)
		}
		_, err = t.exec(`DELETE FROM checkpoint WHERE size <= (SELECT size FROM checkpoint ORDER BY size DESC LIMIT 1 OFFSET ?)`,
			keptCheckpoints)
		return err
	})
}

// LatestCheckpoint is the newest signed checkpoint of this log.
func (s *Store) LatestCheckpoint(ctx context.Context) (signed []byte, err error) {
	err = s.read(ctx, func(c *conn) error {
		signed, err = c.latestCheckpoint()
		return err
	})
	return signed, err
}

func (c *conn) latestCheckpoint() (signed []byte, err error) {
	_, err = c.one(func(cur *cursor) error { signed = []byte(cur.text()); return nil },
		`SELECT note FROM checkpoint WHERE note LIKE (SELECT origin FROM log) || char(10) || '%' ORDER BY size DESC LIMIT 1`)
	return signed, err
}

// Head is the tree as it is stored.
func (s *Store) Head(ctx context.Context) (h audit.Head, err error) {
	err = s.read(ctx, func(c *conn) error {
		h, err = c.head()
		return err
	})
	return h, err
}

// Hashes reads stored hashes of the tree.
func (s *Store) Hashes(ctx context.Context, positions []int64) (out []canon.Digest, err error) {
	err = s.read(ctx, func(c *conn) error {
		out, err = c.hashes(positions)
		return err
	})
	return out, err
}

// Entries reads records, oldest first.
func (s *Store) Entries(ctx context.Context, sel audit.Selection) (out []audit.Entry, err error) {
	if err := s.settleReads(ctx); err != nil {
		return nil, err
	}
	err = s.read(ctx, func(c *conn) error {
		out, err = c.entries(sel)
		return err
	})
	return out, err
}
