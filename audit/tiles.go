package audit

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/seed-de4804fb/verbatim/canon"
)

// tileHeight is the height of a tile (C2SP tlog-tiles): 256 hashes.
const tileHeight = 8

// tileWidth is how many hashes, or entries, a full tile has.
const tileWidth = 1 << tileHeight

// maxTileFile bounds one file of an exported log in bytes.
const maxTileFile = tileWidth * (2 + MaxLeaf)

// Export gives each file of the log in the form of C2SP tlog-tiles to put:
// bundles of entries, tiles of hashes, and at the end the checkpoint that they
// lead to. It fails with ErrNothing for a log without a checkpoint. Leaves hold
// no payload.
func Export(ctx context.Context, l Log, put func(path string, content []byte) error) (Checkpoint, error) {
	signed, err := l.LatestCheckpoint(ctx)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("export the log: %w", err)
	}
	if signed == nil {
		return Checkpoint{}, ErrNothing
	}
	c, err := ReadUntrusted(signed)
	if err == nil {
		err = exportEntries(ctx, l, c.Size, put)
	}
	if err == nil {
		err = exportTiles(c.Size, HashesOf(ctx, l), put)
	}
	if err == nil {
		err = put("checkpoint", signed)
	}
	if err != nil {
		return c, fmt.Errorf("export the log: %w", err)
	}
	return c, nil
}

func exportEntries(ctx context.Context, l Log, size int64, put func(string, []byte) error) error {
	for from := int64(0); from < size; from += tileWidth {
		n := min(tileWidth, size-from)
		entries, err := l.Entries(ctx, Selection{From: from, Most: int(n)})
		if err != nil {
			return err
		}
		var file []byte
		for i, e := range entries {
			if e.Index != from+int64(i) || len(e.Leaf) > MaxLeaf {
				return fmt.Errorf("record %d is missing", from+int64(i)+1)
			}
			file = binary.BigEndian.AppendUint16(file, uint16(len(e.Leaf)))
			file = append(file, e.Leaf...)
		}
		if int64(len(entries)) != n {
			return fmt.Errorf("record %d is missing", from+int64(len(entries))+1)
		}
		if err := put(entriesPath(from/tileWidth, n), file); err != nil {
			return err
		}
	}
	return nil
}

// tileOf is a tile in the names of C2SP, without the height.
func tilePath(t tlog.Tile) string { return "tile" + strings.TrimPrefix(t.Path(), "tile/8") }

func entriesPath(n, width int64) string {
	return "tile/entries" + strings.TrimPrefix(tlog.Tile{H: tileHeight, L: 0, N: n, W: int(width)}.Path(), "tile/8/0")
}

func exportTiles(size int64, from Hashes, put func(string, []byte) error) error {
	for _, t := range tlog.NewTiles(tileHeight, 0, size) {
		data, err := tlog.ReadTileData(t, from.reader())
		if err != nil {
			return err
		}
		if err := put(tilePath(t), data); err != nil {
			return err
		}
	}
	return nil
}

// Exported is a log that was exported to a directory. It holds no more than
// one bundle of entries at a time; hashes come from its tiles.
type Exported struct {
	dir    fs.FS
	signed []byte
	c      Checkpoint
}

// OpenExported opens an exported log. It believes nothing of it: that is what
// [Verify] is for. It fails where there is no checkpoint.
func OpenExported(dir fs.FS) (*Exported, error) {
	signed, err := readFile(dir, "checkpoint", MaxCheckpoint)
	if err != nil {
		return nil, fmt.Errorf("open exported log: %w", err)
	}
	c, err := ReadUntrusted(signed)
	if err != nil {
		return nil, fmt.Errorf("open exported log: %w", err)
	}
	return &Exported{dir: dir, signed: signed, c: c}, nil
}

func readFile(dir fs.FS, path string, most int) ([]byte, error) {
	info, err := fs.Stat(dir, path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > int64(most) {
		return nil, fmt.Errorf("%s is no file of at most %d bytes", path, most)
	}
	return fs.ReadFile(dir, path)
}

// Origin is the name of the log.
func (x *Exported) Origin(context.Context) (string, error) { return x.c.Origin, nil }

// LatestCheckpoint is the checkpoint that was exported.
func (x *Exported) LatestCheckpoint(context.Context) ([]byte, error) { return x.signed, nil }

// Head is the tree of the checkpoint.
func (x *Exported) Head(context.Context) (Head, error) { return x.c.Head, nil }

// errTile is returned for a tile or bundle of another form.
var errTile = errors.New("a file of the exported log has another form")

// Hashes reads hashes of the tree out of the tiles.
func (x *Exported) Hashes(_ context.Context, positions []int64) ([]canon.Digest, error) {
	out := make([]canon.Digest, len(positions))
	var last tlog.Tile
	var data []byte
	for i, p := range positions {
		t := tlog.TileForIndex(tileHeight, p)
		if full := x.c.Size >> (tileHeight * t.L); (t.N+1)<<tileHeight > full {
			t.W = int(full - t.N<<tileHeight) // the tile that stands at the end
		} else {
			t.W = tileWidth
		}
		if t != last {
			var err error
			if data, err = readFile(x.dir, tilePath(t), maxTileFile); err != nil {
				return nil, err
			}
			if last = t; len(data) != t.W*tlog.HashSize {
				return nil, fmt.Errorf("%w: %s", errTile, tilePath(t))
			}
		}
		h, err := tlog.HashFromTile(t, data, p)
		if err != nil {
			return nil, err
		}
		out[i] = canon.Digest(h)
	}
	return out, nil
}

// Entries reads leaves out of the bundles of entries. Only From and Most
// select.
func (x *Exported) Entries(_ context.Context, s Selection) ([]Entry, error) {
	if s.From >= x.c.Size {
		return nil, nil
	}
	n := s.From / tileWidth
	width := min(tileWidth, x.c.Size-n*tileWidth)
	path := entriesPath(n, width)
	file, err := readFile(x.dir, path, maxTileFile)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for i := n * tileWidth; i < n*tileWidth+width; i++ {
		if len(file) < 2 || len(file)-2 < int(binary.BigEndian.Uint16(file)) {
			return nil, fmt.Errorf("%w: %s", errTile, path)
		}
		leaf := file[2 : 2+int(binary.BigEndian.Uint16(file))]
		file = file[2+len(leaf):]
		if i >= s.From && len(out) < s.Most {
			out = append(out, Entry{Index: i, Leaf: leaf})
		}
	}
	if len(file) > 0 { // or they would stand for the first of the next bundle
		return nil, fmt.Errorf("%w: %s", errTile, path)
	}
	return out, nil
}
