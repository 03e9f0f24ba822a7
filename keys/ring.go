package keys

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// lineHead starts each line of a key file; the key follows in hex.
const lineHead = "verbatim-key-v1 "

// maxKeyFile bounds a key file: some hundred keys.
const maxKeyFile = 64 << 10

// ErrExposed is returned for a key file or directory that others can read.
var ErrExposed = errors.New("others can read it; make it private with chmod")

// Ring is a directory of key files, one for each purpose. It is safe for
// concurrent use, by several processes too.
type Ring struct {
	dir     string
	mu      sync.Mutex
	signers map[Purpose]*Signer // guarded by mu
	sealer  *Sealer             // guarded by mu
}

// OpenRing opens a directory of keys and makes it, readable by its owner
// only, if there is none. It fails with ErrExposed.
func OpenRing(dir string) (*Ring, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make key directory: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("open key directory: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("key directory %s is not a directory", dir)
	}
	if err := private(dir, info); err != nil {
		return nil, err
	}
	return &Ring{dir: dir, signers: map[Purpose]*Signer{}}, nil
}

// Signer returns the signer of a purpose; its key is made on first use.
func (r *Ring) Signer(p Purpose) (*Signer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.signers[p]; s != nil {
		return s, nil
	}
	if !p.signs() {
		return nil, fmt.Errorf("purpose %q does not sign", p)
	}
	seeds, err := r.load(p)
	if err != nil {
		return nil, err
	}
	s, err := NewSigner(p, seeds...)
	if err != nil {
		return nil, err
	}
	r.signers[p] = s
	return s, nil
}

// Sign signs with the current key of a purpose.
func (r *Ring) Sign(p Purpose, payloadType string, payload []byte) (Envelope, error) {
	s, err := r.Signer(p)
	if err != nil {
		return Envelope{}, err
	}
	return s.Sign(payloadType, payload), nil
}

// Sealer returns the sealer; its key is made on first use.
func (r *Ring) Sealer() (*Sealer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sealer != nil {
		return r.sealer, nil
	}
	path := filepath.Join(r.dir, string(Sealing)+".key")
	list, err := readSealKeys(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := r.create(path, shelfKeyHead); err != nil {
			return nil, fmt.Errorf("make %s key: %w", Sealing, err)
		}
		list, err = readSealKeys(path)
	}
	if err != nil {
		return nil, err
	}
	if r.sealer, err = sealerOf(list); err != nil {
		return nil, err
	}
	return r.sealer, nil
}

// load reads the keys of a purpose, after making the first one if needed.
func (r *Ring) load(p Purpose) ([][]byte, error) {
	path := filepath.Join(r.dir, string(p)+".key")
	keys, err := readKeys(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return keys, err
	}
	if err := r.create(path, lineHead); err != nil {
		return nil, fmt.Errorf("make %s key: %w", p, err)
	}
	return readKeys(path)
}

func readKeys(path string) ([][]byte, error) {
	text, err := readKeyFile(path, maxKeyFile)
	if err != nil {
		return nil, err
	}
	return parseKeys(path, text)
}

func readKeyFile(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open key file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("open key file: %w", err)
	}
	if err := private(path, info); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("key file %s is not a plain short file", path)
	}
	text := make([]byte, info.Size())
	if n, err := file.ReadAt(text, 0); n != len(text) {
		return nil, fmt.Errorf("read key file %s: %w", path, err)
	}
	return text, nil
}

func parseKeys(path string, text []byte) ([][]byte, error) {
	var keys [][]byte
	rest, ok := bytes.CutSuffix(text, []byte("\n"))
	if !ok {
		return nil, fmt.Errorf("key file %s does not end with a whole line", path)
	}
	for i, line := range bytes.Split(rest, []byte("\n")) {
		digits, ok := bytes.CutPrefix(line, []byte(lineHead))
		key := make([]byte, keySize)
		if !ok || len(digits) != hex.EncodedLen(keySize) {
			return nil, fmt.Errorf("key file %s, line %d: expected %q and 64 hex digits", path, i+1, lineHead)
		}
		if _, err := hex.Decode(key, digits); err != nil {
			return nil, fmt.Errorf("key file %s, line %d: expected 64 hex digits", path, i+1)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// create writes a new key beside path and links it there only when it is
// whole and on the disk, so that no crash leaves half a key and of two
// processes one wins.
func (r *Ring) create(path, head string) error {
	secret := make([]byte, keySize)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	draft := path + "." + rand.Text()
	defer os.Remove(draft)
	if err := writeNew(draft, head+hex.EncodeToString(secret)+"\n"); err != nil {
		return err
	}
	if err := os.Link(draft, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(r.dir)
}

func writeNew(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := file.WriteString(text); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := file.Sync(); err != nil {
		return errors.Join(err, file.Close())
	}
	return file.Close()
}

// syncDir makes the new name durable. Windows has no such call; its file
// system journals names.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// private refuses what group or others can touch. Windows keeps rights in
// access lists that mode bits do not show; there the profile directory is the
// border.
func private(path string, info fs.FileInfo) error {
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s has mode %#o: %w", path, info.Mode().Perm(), ErrExposed)
	}
	return nil
}
