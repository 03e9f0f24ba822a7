package keys

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A sealing key is the root of a tree of seeds, four below each (Goldreich,
// Goldwasser and Micali). Each row has a place in it: the first levels are the
// tenant's, the rest the row's. To destroy the key of one row, the seeds on
// the way to it are replaced by those beside the way: every other key can
// still be derived, and this one by nobody, from the file or from anything
// that was sealed.
const (
	arity      = 4
	bitsALevel = 2
	tenantSize = 4 // bytes of the place that are the tenant's
	placeSize  = tenantSize + 8
	levels     = placeSize * 8 / bitsALevel

	tenantLevels = tenantSize * 8 / bitsALevel
)

// seed is the secret of one node.
type seed [keySize]byte

// node is a place in the tree: the first depth levels of path.
type node struct {
	depth uint8
	path  [placeSize]byte // bits beyond depth are zero
}

// fileKey is one key of the file. Its nodes cover every row that was not
// erased, each once. It never changes: erasing makes another one.
type fileKey struct {
	id     [keyIDSize]byte
	secret []byte // of a key of which no row was erased; else nil
	nodes  map[node]seed

	mu      sync.Mutex
	tenants map[string]seed // guarded by mu; seeds of tenants of whom no row was erased
}

// maxTenants is how many seeds of tenants are kept in memory; more are derived
// again.
const maxTenants = 1024

// place is where the key of a row is.
func place(tenant, row string) (out [placeSize]byte) {
	t := sha256.Sum256([]byte("verbatim tenant " + tenant))
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(tenant))))
	h.Write([]byte(tenant))
	h.Write([]byte(row))
	copy(out[:tenantSize], t[:])
	copy(out[tenantSize:], h.Sum(nil))
	return out
}

// digit is the way to go at one level.
func digit(path *[placeSize]byte, level int) byte {
	return path[level*bitsALevel/8] >> (8 - bitsALevel - level*bitsALevel%8) & (arity - 1)
}

// at is the node at a depth on the way to a place.
func at(path [placeSize]byte, depth int) node {
	n := node{depth: uint8(depth)}
	bits := depth * bitsALevel
	copy(n.path[:], path[:bits/8])
	if rest := bits % 8; rest > 0 {
		n.path[bits/8] = path[bits/8] & (0xff << (8 - rest))
	}
	return n
}

// nodeLabel and a seed and a digit are 55 bytes: one block of SHA-256.
const nodeLabel = "verbatim seal node v1\x00"

// child derives a seed one level below.
func (s seed) child(digit byte) seed {
	var block [len(nodeLabel) + keySize + 1]byte
	copy(block[:], nodeLabel)
	copy(block[len(nodeLabel):], s[:])
	block[len(block)-1] = digit
	return sha256.Sum256(block[:])
}

// cover finds the node that stands for a place; false where it was erased.
func (k *fileKey) cover(path [placeSize]byte) (node, bool) {
	for depth := range levels + 1 {
		n := at(path, depth)
		if _, ok := k.nodes[n]; ok {
			return n, true
		}
	}
	return node{}, false
}

// leaf derives the seed of one row; false where it was erased.
func (k *fileKey) leaf(tenant, row string) (seed, bool) {
	path := place(tenant, row)
	n, ok := k.cover(path)
	if !ok {
		return seed{}, false
	}
	s, level := k.nodes[n], int(n.depth)
	if level < tenantLevels {
		s, level = k.tenant(tenant, s, level, &path), tenantLevels
	}
	for ; level < levels; level++ {
		s = s.child(digit(&path, level))
	}
	return s, true
}

// tenant derives the seed of a tenant from one above it.
func (k *fileKey) tenant(name string, s seed, level int, path *[placeSize]byte) seed {
	k.mu.Lock()
	defer k.mu.Unlock()
	if known, ok := k.tenants[name]; ok {
		return known
	}
	for ; level < tenantLevels; level++ {
		s = s.child(digit(path, level))
	}
	if k.tenants == nil {
		k.tenants = map[string]seed{}
	}
	if len(k.tenants) < maxTenants {
		k.tenants[name] = s
	}
	return s
}

// erased is the key without the seed of one row, and nothing that leads there.
func (k *fileKey) erased(tenant, row string) *fileKey {
	path := place(tenant, row)
	n, ok := k.cover(path)
	if !ok {
		return k
	}
	out := &fileKey{id: k.id, nodes: make(map[node]seed, len(k.nodes)+levels*(arity-1))}
	for other, s := range k.nodes {
		if other != n {
			out.nodes[other] = s
		}
	}
	s := k.nodes[n]
	for level := int(n.depth); level < levels; level++ {
		way := digit(&path, level)
		for d := byte(0); d < arity; d++ {
			if d != way {
				out.nodes[beside(path, level, d)] = s.child(d)
			}
		}
		s = s.child(way)
	}
	return out
}

// beside is the node below the way to a place at a level, in another way.
func beside(path [placeSize]byte, level int, d byte) node {
	n := at(path, level+1)
	shift := 8 - bitsALevel - level*bitsALevel%8
	i := level * bitsALevel / 8
	n.path[i] = n.path[i]&^((arity-1)<<shift) | d<<shift
	return n
}

// seedHead starts each line of a key of which rows were erased; base64 of key
// id, depth, path and seed follows.
const seedHead = "verbatim-seal-v1 "

const seedSize = keyIDSize + 1 + placeSize + keySize

// maxSealFile bounds the file of the sealing key: some 20,000 erased rows.
const maxSealFile = 256 << 20

// lines are the lines of the file that stand for a key.
func (k *fileKey) lines(b *strings.Builder) {
	if k.secret != nil {
		b.WriteString(lineHead + hex.EncodeToString(k.secret) + "\n")
		return
	}
	var out []string
	for n, s := range k.nodes {
		line := append(append(append(k.id[:keyIDSize:keyIDSize], n.depth), n.path[:]...), s[:]...)
		out = append(out, seedHead+base64.StdEncoding.EncodeToString(line)+"\n")
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
	var out []*fileKey
	byID := map[[keyIDSize]byte]*fileKey{}
	for i, line := range strings.Split(rest, "\n") {
		if digits, ok := strings.CutPrefix(line, lineHead); ok {
			keys, err := parseKeys(path, []byte(lineHead+digits+"\n"))
			if err != nil {
				return nil, fmt.Errorf("key file %s, line %d: expected %q and 64 hex digits", path, i+1, lineHead)
			}
			k, err := newFileKey(keys[0])
			if err != nil {
				return nil, err
			}
			out, byID[k.id] = append(out, k), k
			continue
		}
		id, n, s, ok := parseSeed(line)
		if !ok {
			return nil, fmt.Errorf("key file %s, line %d: expected a key or a seed", path, i+1)
		}
		k := byID[id]
		if k == nil {
			k = &fileKey{id: id, nodes: map[node]seed{}}
			out, byID[id] = append(out, k), k
		}
		k.nodes[n] = s
	}
	return out, nil
}

func parseSeed(line string) (id [keyIDSize]byte, n node, s seed, ok bool) {
	text, found := strings.CutPrefix(line, seedHead)
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if !found || err != nil || len(b) != seedSize || int(b[keyIDSize]) > levels {
		return id, n, s, false
	}
	n.depth = b[keyIDSize]
	copy(id[:], b)
	copy(n.path[:], b[keyIDSize+1:])
	copy(s[:], b[keyIDSize+1+placeSize:])
	return id, n, s, n == at(n.path, int(n.depth))
}

// Erase destroys the keys of rows: what was sealed for them opens nowhere any
// more, in no copy of it. When it returns, the file on the disk no longer
// holds what they could be derived from, and neither does this ring's sealer.
// Copies of the file elsewhere do; erase there too, or destroy them. Rows that
// were erased already are no error.
func (r *Ring) Erase(rows ...Place) error {
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
	for i, k := range list {
		for _, row := range rows {
			k = k.erased(row.Tenant, row.Row)
		}
		list[i] = k
		k.lines(&b)
	}
	if b.Len() > maxSealFile {
		return errors.New("the key file would be too large; so many rows cannot be erased one by one")
	}
	if err := replace(path, b.String()); err != nil {
		return fmt.Errorf("erase keys: %w", err)
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
