package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// growth is what records that wait make of the tree.
type growth struct {
	before, after audit.Head
	leaves        int
	added         []canon.Digest
}

// Sequence adds records to the tree. One that finds nothing to add writes
// nothing. The hashes are computed beside the commits: records never change,
// and the tree is only grown where it is still the one that was read.
func (s *Store) Sequence(ctx context.Context, most int) (h audit.Head, n int, err error) {
	if err := s.settleReads(ctx); err != nil {
		return audit.Head{}, 0, err
	}
	for done := false; !done; {
		var g growth
		err := s.read(ctx, func(c *conn) (err error) {
			g, err = c.grown(most)
			return err
		})
		if err != nil || g.leaves == 0 {
			return g.before, 0, err
		}
		err = s.write(ctx, syncFull, func(t *tx) (err error) {
			done, err = t.grow(g)
			return err
		})
		if err != nil {
			return g.before, 0, err
		}
		h, n = g.after, g.leaves
	}
	return h, n, nil
}

// grown reads records that are not in the tree yet and computes what they make
// of it.
func (c *conn) grown(most int) (g growth, err error) {
	if g.before, err = c.head(); err != nil {
		return growth{}, err
	}
	var leaves []canon.Digest
	if err := c.find(search{way: oldest, behind: g.before.Size, most: most}, func(k kept) error {
		if next := g.before.Size + int64(len(leaves)) + 1; k.seq != next {
			return fmt.Errorf("record %d is missing", next)
		}
		leaves = append(leaves, audit.LeafHash(k.leaf()))
		return nil
	}); err != nil || len(leaves) == 0 {
		return growth{before: g.before}, err
	}
	g.leaves = len(leaves)
	g.added, g.after, err = audit.Grow(g.before.Size, leaves, c.hashes)
	return g, err
}

// grow stores what records have made of the tree, unless another sequencer
// was there before.
func (t *tx) grow(g growth) (done bool, err error) {
	now, err := t.head()
	if err != nil || now != g.before {
		return false, err
	}
	if err := t.keepHashes(audit.StoredHashes(g.before.Size), g.added); err != nil {
		return false, fmt.Errorf("grow the tree: %w", err)
	}
	moved, err := t.exec("UPDATE head SET size = ?, root = ?, at = ? WHERE size = ?", g.after.Size, g.after.Root, t.now, g.before.Size)
	if err == nil && moved != 1 {
		err = audit.ErrFork
	}
	return err == nil, err
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
	all = slices.Grow(all, len(added)*hashSize)
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
