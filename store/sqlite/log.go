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

// Sequence adds records to the tree. One that finds nothing to add writes
// nothing.
func (s *Store) Sequence(ctx context.Context, most int) (h audit.Head, n int, err error) {
	if err := s.settleReads(ctx); err != nil {
		return audit.Head{}, 0, err
	}
	waiting := false
	err = s.read(ctx, func(c *conn) error {
		if h, err = c.head(); err != nil {
			return err
		}
		waiting, err = c.one(func(*cursor) error { return nil }, "SELECT 1 FROM event WHERE seq = ?", h.Size+1)
		return err
	})
	if err != nil || !waiting {
		return h, 0, err
	}
	err = s.write(ctx, syncFull, func(t *tx) error {
		h, n, err = t.sequence(most)
		return err
	})
	return h, n, err
}

func (t *tx) sequence(most int) (audit.Head, int, error) {
	before, err := t.head()
	if err != nil {
		return audit.Head{}, 0, err
	}
	var leaves []canon.Digest
	if err := t.query(func(cur *cursor) error {
		if seq := cur.int(); seq != before.Size+int64(len(leaves))+1 {
			return fmt.Errorf("record %d is missing", before.Size+int64(len(leaves))+1)
		}
		leaves = append(leaves, audit.LeafHash(cur.raw()))
		return nil
	}, "SELECT seq, leaf FROM event WHERE seq > ? ORDER BY seq LIMIT ?", before.Size, most); err != nil || len(leaves) == 0 {
		return before, 0, err
	}
	added, after, err := audit.Grow(before.Size, leaves, t.hashes)
	if err != nil {
		return before, 0, err
	}
	if err := t.keepHashes(audit.StoredHashes(before.Size), added); err != nil {
		return before, 0, fmt.Errorf("grow the tree: %w", err)
	}
	moved, err := t.exec("UPDATE head SET size = ?, root = ?, at = ? WHERE size = ?", after.Size, after.Root, t.now, before.Size)
	if err == nil && moved != 1 {
		err = audit.ErrFork
	}
	return after, len(leaves), err
}

// keepHashes stores hashes of the tree from a position on, row by row.
func (t *tx) keepHashes(from int64, added []canon.Digest) error {
	for len(added) > 0 {
		n := min(int(inPart-from%inPart), len(added))
		if err := t.fillPart(from, added[:n]); err != nil {
			return err
		}
		from, added = from+int64(n), added[n:]
	}
	return nil
}

// fillPart stores hashes that stand in one row.
func (t *tx) fillPart(from int64, added []canon.Digest) error {
	part, before := from/inPart, from%inPart
	var all []byte
	if before > 0 {
		if _, err := t.one(func(cur *cursor) error { all = cur.blob(); return nil },
			"SELECT hashes FROM tree_part WHERE part = ?", part); err != nil {
			return err
		}
	}
	if len(all) != int(before)*hashSize {
		return fmt.Errorf("the tree does not end before position %d", from)
	}
	for _, h := range added {
		all = append(all, h[:]...)
	}
	if before == 0 {
		_, err := t.exec("INSERT INTO tree_part (part, hashes) VALUES (?, ?)", part, all)
		return err
	}
	_, err := t.exec("UPDATE tree_part SET hashes = ? WHERE part = ?", all, part)
	return err
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

func (c *conn) entries(sel audit.Selection) (out []audit.Entry, err error) {
	sql, args := entriesSQL(sel)
	err = c.query(func(cur *cursor) error {
		out = append(out, audit.Entry{Index: cur.int() - 1, Leaf: cur.blob(), Salt: cur.blob()})
		return nil
	}, sql, args...)
	return out, err
}
