package keys

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Lines of the file of the sealing key. A whole key is its secret in hex: the
// first head is of keys that may have sealed rows without a shelf. Of a key of
// which something was erased the seeds are left, one a line: base64 of key id,
// depth, path and seed.
const (
	shelfKeyHead  = "verbatim-key-v2 "
	oldSeedHead   = "verbatim-seal-v1 "
	shelfSeedHead = "verbatim-seal-v2 "
)

// maxSealFile bounds the file of the sealing key: some 16,000 rows that are
// erased one by one and whose days are not forgotten.
const maxSealFile = 256 << 20

// lines are the lines of the file that stand for a key.
func (k *fileKey) lines(b *strings.Builder) {
	switch {
	case k.secret != nil && k.old != nil:
		b.WriteString(lineHead + hex.EncodeToString(k.secret) + "\n")
	case k.secret != nil:
		b.WriteString(shelfKeyHead + hex.EncodeToString(k.secret) + "\n")
	default:
		if k.old != nil {
			k.old.lines(b, oldSeedHead, k.id)
		}
		k.shelf.lines(b, shelfSeedHead, k.id)
	}
}

func (t *tree) lines(b *strings.Builder, head string, id [keyIDSize]byte) {
	out := make([]string, 0, len(t.nodes))
	for n, s := range t.nodes {
		line := append(append(append(id[:keyIDSize:keyIDSize], n.depth), n.path[:t.size]...), s[:]...)
		out = append(out, head+base64.StdEncoding.EncodeToString(line)+"\n")
	}
	slices.Sort(out)
	for _, line := range out {
		b.WriteString(line)
	}
}

// parseSealKeys reads the file of the sealing key: whole keys, and the seeds
// that are left of others.
func parseSealKeys(path string, text []byte) ([]*fileKey, error) {
	rest, ok := strings.CutSuffix(string(text), "\n")
	if !ok {
		return nil, fmt.Errorf("key file %s does not end with a whole line", path)
	}
	f := &sealFile{byID: map[[keyIDSize]byte]*fileKey{}}
	for i, line := range strings.Split(rest, "\n") {
		if err := f.take(line); err != nil {
			return nil, fmt.Errorf("key file %s, line %d: %w", path, i+1, err)
		}
	}
	return f.keys, f.complete()
}

type sealFile struct {
	keys []*fileKey // in the order of the file
	byID map[[keyIDSize]byte]*fileKey
}

func (f *sealFile) take(line string) error {
	for head, old := range map[string]bool{lineHead: true, shelfKeyHead: false} {
		digits, ok := strings.CutPrefix(line, head)
		if !ok {
			continue
		}
		secret, err := hex.DecodeString(digits)
		if err != nil || len(secret) != keySize {
			return fmt.Errorf("expected %q and 64 hex digits", head)
		}
		k, err := newFileKey(secret, old)
		if err == nil {
			f.add(k)
		}
		return err
	}
	for head, s := range map[string]shape{oldSeedHead: oldShape(), shelfSeedHead: shelfShape()} {
		if text, ok := strings.CutPrefix(line, head); ok {
			return f.takeSeed(text, s)
		}
	}
	return errors.New("expected a key or a seed")
}

func (f *sealFile) add(k *fileKey) { f.keys, f.byID[k.id] = append(f.keys, k), k }

func (f *sealFile) takeSeed(text string, s shape) error {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != keyIDSize+1+s.size+keySize || int(b[keyIDSize]) > s.levels() {
		return errors.New("expected a key or a seed")
	}
	n := node{depth: b[keyIDSize]}
	copy(n.path[:], b[keyIDSize+1:keyIDSize+1+s.size])
	if n != n.path.at(int(n.depth)) {
		return errors.New("expected a key or a seed")
	}
	k := f.byID[[keyIDSize]byte(b)]
	if k == nil {
		k = &fileKey{id: [keyIDSize]byte(b)}
		f.add(k)
	}
	at := &k.old
	if s == shelfShape() {
		at = &k.shelf
	}
	if *at == nil {
		*at = &tree{shape: s, nodes: map[node]seed{}}
	}
	(*at).nodes[n] = seed(b[len(b)-keySize:])
	return nil
}

// complete gives shelves to keys that were read from a file without any: of
// each of these, rows were erased before there were shelves, and its secret is
// gone. What is left leads to the same shelves wherever the file is read, and
// back to none of the rows.
func (f *sealFile) complete() error {
	for _, k := range f.keys {
		if k.shelf != nil {
			continue
		}
		var b strings.Builder
		k.old.lines(&b, oldSeedHead, k.id)
		root, err := hkdf.Key(sha256.New, []byte(b.String()), nil, "verbatim seal shelves of seeds", keySize)
		if err != nil {
			return err
		}
		k.shelf = newTree(shelfShape(), seed(root))
	}
	return nil
}

// Erase destroys the keys of rows: what was sealed for them opens nowhere any
// more, in no copy of it. When it returns, the file on the disk no longer
// holds what they could be derived from, and neither does this ring's sealer.
// Copies of the file elsewhere do; erase there too, or destroy them. Rows that
// were erased already are no error.
func (r *Ring) Erase(rows ...Place) error {
	return r.change(func(k *fileKey) *fileKey {
		for _, row := range rows {
			k = k.erased(row)
		}
		return k
	})
}

// Forget destroys the keys of whole days, as Erase does those of rows: of each
// class given, of all days before the day that stands beside it. With old, it
// destroys those of all rows that were sealed before there were shelves, too.
// The keys of the rows that are held stay.
func (r *Ring) Forget(before []Shelf, old bool, held ...Place) error {
	return r.change(func(k *fileKey) *fileKey { return k.forgotten(before, old, held) })
}

// change replaces the file by one whose keys have less in them. Where none
// has, the file stays.
func (r *Ring) change(less func(*fileKey) *fileKey) error {
	sealer, err := r.Sealer()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	path := filepath.Join(r.dir, string(Sealing)+".key")
	list, err := readSealKeys(path) // another process may have erased rows meanwhile
	if err != nil {
		return err
	}
	var b strings.Builder
	changed := false
	for i, k := range list {
		list[i] = less(k)
		changed = changed || list[i] != k
		list[i].lines(&b)
	}
	if b.Len() > maxSealFile {
		return errors.New("the key file would be too large; so many rows cannot be erased one by one")
	}
	if changed {
		if err := replace(path, b.String()); err != nil {
			return fmt.Errorf("erase keys: %w", err)
		}
	}
	fresh, err := sealerOf(list)
	if err != nil {
		return err
	}
	sealer.mu.Lock()
	defer sealer.mu.Unlock()
	sealer.current, sealer.byID = fresh.current, fresh.byID
	return nil
}

func readSealKeys(path string) ([]*fileKey, error) {
	text, err := readKeyFile(path, maxSealFile)
	if err != nil {
		return nil, err
	}
	return parseSealKeys(path, text)
}

// replace puts text in the place of a file, whole or not at all, and writes
// over what was there before.
func replace(path, text string) error {
	before, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	draft := path + ".draft"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, before.Close())
	}
	if err := writeNew(draft, text); err != nil {
		return errors.Join(err, before.Close())
	}
	info, err := before.Stat()
	if err != nil {
		return errors.Join(err, before.Close())
	}
	if err := errors.Join(os.Rename(draft, path), syncDir(filepath.Dir(path))); err != nil {
		return errors.Join(err, before.Close())
	}
	// A file system may have copies of its own; this is what a program can do.
	_, err = before.WriteAt(make([]byte, info.Size()), 0)
	return errors.Join(err, before.Sync(), before.Close())
}
