package postgres

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// keptCheckpoints is how many signed checkpoints are kept.
const keptCheckpoints = 100

// Origin is the name of the log.
func (s *Store) Origin(ctx context.Context) (origin string, err error) {
	get := func(c *conn) (err error) {
		origin, err = c.origin()
		return err
	}
	if err = s.read(ctx, get); err != nil || origin != "" {
		return origin, err
	}
	err = s.write(ctx, syncFull, func(t *tx) error {
		if _, err := t.exec("INSERT INTO log (one, origin) VALUES (1, $1) ON CONFLICT DO NOTHING", audit.NewOrigin(rand.Text())); err != nil {
			return fmt.Errorf("name the log: %w", err)
		}
		return get(t.conn)
	})
	return origin, err
}

func (c *conn) origin() (origin string, err error) {
	_, err = c.one(func(cur *cursor) error { origin = cur.text(); return nil }, "SELECT origin FROM log")
	return origin, err
}

func (c *conn) head(lock string) (h audit.Head, err error) {
	_, err = c.one(func(cur *cursor) error { h.Size, h.Root = cur.int(), cur.digest(); return nil },
		"SELECT size, root FROM head WHERE one = 1"+lock)
	return h, err
}

// hashes reads stored hashes of the tree, in the order of their positions.
func (c *conn) hashes(positions []int64) ([]canon.Digest, error) {
	out := make([]canon.Digest, 0, len(positions))
	err := c.query(func(cur *cursor) error { out = append(out, cur.digest()); return nil },
		`SELECT t.hash FROM unnest($1::bigint[]) WITH ORDINALITY AS p (position, n)
			JOIN tree_hash t ON t.position = p.position ORDER BY p.n`, positions)
	return out, err
}

// Sequence numbers records and adds them to the tree. Gateways take turns on
// the row of the head; who comes second finds nothing left.
func (s *Store) Sequence(ctx context.Context, most int) (h audit.Head, n int, err error) {
	if err := s.numberRecords(ctx); err != nil {
		return audit.Head{}, 0, err
	}
	waiting := false
	err = s.read(ctx, func(c *conn) (err error) {
		if h, err = c.head(""); err != nil {
			return err
		}
		waiting, err = c.one(func(*cursor) error { return nil }, "SELECT 1 FROM leaf WHERE seq = $1", h.Size+1)
		return err
	})
	if err != nil || !waiting {
		return h, 0, err
	}
	err = s.write(ctx, syncFull, func(t *tx) (err error) {
		h, n, err = t.sequence(most)
		return err
	})
	return h, n, err
}

func (t *tx) sequence(most int) (audit.Head, int, error) {
	before, err := t.head(" FOR UPDATE")
	if err != nil {
		return audit.Head{}, 0, err
	}
	var leaves []canon.Digest
	if err := t.query(func(cur *cursor) error {
		if seq := cur.int(); seq != before.Size+int64(len(leaves))+1 {
			return fmt.Errorf("record %d is missing", before.Size+int64(len(leaves))+1)
		}
		leaves = append(leaves, audit.LeafHash(cur.blob()))
		return nil
	}, "SELECT seq, leaf FROM leaf WHERE seq > $1 ORDER BY seq LIMIT $2", before.Size, most); err != nil || len(leaves) == 0 {
		return before, 0, err
	}
	added, after, err := audit.Grow(before.Size, leaves, t.hashes)
	if err != nil {
		return before, 0, err
	}
	hashes := make([][]byte, len(added))
	for i := range added {
		hashes[i] = added[i][:]
	}
	moved := int64(0)
	err = t.run(
		do(`INSERT INTO tree_hash (position, hash) SELECT $1 + n - 1, h FROM unnest($2::bytea[]) WITH ORDINALITY AS u (h, n)`,
			audit.StoredHashes(before.Size), hashes),
		step{sql: "UPDATE head SET size = $1, root = $2, at = $3 WHERE one = 1 AND size = $4",
			args: []any{after.Size, after.Root, t.now(), before.Size}, n: &moved})
	if err == nil && moved != 1 {
		err = audit.ErrFork
	}
	return after, len(leaves), err
}

// KeepCheckpoint keeps a signed checkpoint of a head that the tree has had.
func (s *Store) KeepCheckpoint(ctx context.Context, c audit.Checkpoint, signed []byte) error {
	return s.write(ctx, syncFull, func(t *tx) error {
		origin, err := t.origin()
		if err != nil {
			return err
		}
		now, err := t.head(" FOR UPDATE")
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
		return t.run(do(`INSERT INTO checkpoint (size, root, note, at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (size) DO UPDATE SET note = excluded.note`, c.Size, c.Root, string(signed), t.now()),
			do(`DELETE FROM checkpoint WHERE size <= (SELECT size FROM checkpoint ORDER BY size DESC LIMIT 1 OFFSET $1)`,
				keptCheckpoints))
	})
}

// LatestCheckpoint is the newest signed checkpoint of this log.
func (s *Store) LatestCheckpoint(ctx context.Context) (signed []byte, err error) {
	err = s.read(ctx, func(c *conn) error {
		_, err := c.one(func(cur *cursor) error { signed = []byte(cur.text()); return nil },
			`SELECT note FROM checkpoint WHERE starts_with(note, (SELECT origin FROM log) || chr(10)) ORDER BY size DESC LIMIT 1`)
		return err
	})
	return signed, err
}

// Head is the tree as it is stored.
func (s *Store) Head(ctx context.Context) (h audit.Head, err error) {
	err = s.read(ctx, func(c *conn) (err error) {
		h, err = c.head("")
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

// Entries numbers what has no number yet and reads records, oldest first.
func (s *Store) Entries(ctx context.Context, sel audit.Selection) (out []audit.Entry, err error) {
	if err := s.numberRecords(ctx); err != nil {
		return nil, err
	}
	var w where
	w.equal("e.tenant", sel.Tenant)
	w.equal("e.action_id", sel.Action)
	w.add("l.seq > ", sel.From)
	most := w.arg(min(max(sel.Most, 1), audit.MaxEntries))
	err = s.read(ctx, func(c *conn) error {
		out = nil
		return c.query(func(cur *cursor) error {
			out = append(out, audit.Entry{Index: cur.int() - 1, Leaf: cur.blob(), Salt: cur.blob()})
			return nil
		}, "SELECT l.seq, l.leaf, s.salt FROM leaf l JOIN event e ON e.place = l.place LEFT JOIN salt s ON s.place = l.place "+
			w.sql()+" ORDER BY l.seq LIMIT "+most, w.args...)
	})
	return out, err
}
