package uses

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/warrant"
)

// keep is how long after its deadline a use is remembered: longer than any
// clock that is still taken can go back.
const keep = time.Minute

// tidy is how often a process looks in one bucket for what can be forgotten.
const tidy = 30 * time.Second

// Directory is a memory that the processes of one machine share: a directory of
// a local file system, in the form of docs/spec/warrant.md. A use is one file
// that only one process can create. It is safe for concurrent use.
type Directory struct {
	path  string
	now   func() time.Time
	began time.Time

	mu     sync.Mutex
	tidied [256]time.Time
}

var _ warrant.Seen = (*Directory)(nil)

// The names in a directory.
const (
	beganPrefix = "began."
	buckets     = 256
)

// OpenDirectory opens a memory, and makes it where there is none; everything
// that was signed before that counts as used. All processes give the same path.
// now is the executors' clock; nil is time.Now.
func OpenDirectory(path string, now func() time.Time) (*Directory, error) {
	if now == nil {
		now = time.Now
	}
	d := &Directory{path: path, now: now}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make the memory of warrants: %w", err)
	}
	err := d.start()
	if err != nil {
		return nil, fmt.Errorf("open the memory of warrants: %w", err)
	}
	return d, nil
}

// start finds out when the memory began. Its buckets exist before anybody can
// read that, so that a bucket which is missing later was taken away.
func (d *Directory) start() error {
	began, found, err := d.beginning()
	if err != nil || found {
		d.began = began
		return err
	}
	for i := range buckets {
		if err := os.Mkdir(d.bucket(i), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	// A millisecond later, so that nothing that was signed in this one counts.
	name := beganPrefix + strconv.FormatInt(d.now().UnixMilli()+1, 10)
	if err := create(filepath.Join(d.path, name)); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := entriesOnDisk(d.path); err != nil {
		return err
	}
	d.began, _, err = d.beginning()
	return err
}

// beginning is the latest moment that a file names: two processes may have
// made the memory at once.
func (d *Directory) beginning() (time.Time, bool, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return time.Time{}, false, err
	}
	latest, err := latestMoment(entries)
	if err != nil {
		return time.Time{}, false, err
	}
	return time.UnixMilli(latest), latest > 0, nil
}

func (d *Directory) bucket(i int) string { return filepath.Join(d.path, fmt.Sprintf("%02x", i)) }

// Use takes the one use of a warrant. It fails where the disk does, and where
// the directory was taken away.
func (d *Directory) Use(ctx context.Context, w warrant.Warrant) (warrant.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if w.IssuedAt.Before(d.began) {
		return warrant.Replayed, nil
	}
	sum := sha256.Sum256([]byte(w.Action))
	bucket, name := d.bucket(int(sum[0])), hex.EncodeToString(sum[:])
	entries, err := os.ReadDir(bucket)
	if err != nil {
		return "", err
	}
	forgot, err := latestMoment(entries)
	if err == nil {
		forgot, err = d.forget(int(sum[0]), bucket, entries, forgot)
	}
	if err != nil {
		return "", err
	}
	if w.IssuedAt.UnixMilli() < forgot {
		return warrant.Replayed, nil
	}
	for _, e := range entries {
		if fence, mine := strings.CutPrefix(e.Name(), name+"."); mine {
			n, err := strconv.ParseInt(fence, 10, 64)
			if err != nil {
				return "", fmt.Errorf("%s is no use of a warrant", e.Name())
			}
			if n > w.Fence {
				return warrant.OtherAttempt, nil
			}
		}
	}
	// Only one of all processes creates this file.
	err = create(filepath.Join(bucket, name+"."+strconv.FormatInt(w.Fence, 10)))
	if errors.Is(err, os.ErrExist) {
		return warrant.Replayed, nil
	}
	if err == nil {
		err = entriesOnDisk(bucket)
	}
	if err != nil {
		return "", err
	}
	return warrant.OK, nil
}

// create makes a file that must not exist.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // elsewhere the entry of the directory is what counts
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// entriesOnDisk puts the entries of a directory on the disk. Windows has no such call;
// there the file itself was synced.
func entriesOnDisk(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// slack is how much later than its use a warrant can have been signed, by a
// gateway whose clock is ahead, with room for how exactly files are dated.
const slack = 10 * time.Second

// latestMoment is the latest moment that a file among these names, in Unix
// milliseconds; 0 if none does: what was signed before counts as used. That of a
// bucket is up to when it has forgotten uses: a clock that is set back must not
// bring them to life again.
func latestMoment(entries []os.DirEntry) (latest int64, err error) {
	for _, e := range entries {
		if text, found := strings.CutPrefix(e.Name(), beganPrefix); found {
			ms, err := strconv.ParseInt(text, 10, 64)
			if err != nil || ms <= 0 {
				return 0, fmt.Errorf("%s names no moment", e.Name())
			}
			latest = max(latest, ms)
		}
	}
	return latest, nil
}

// forget removes uses whose warrants have ended: whose file is older than a
// warrant lives, and than a clock can be off, by the machine's clock, which
// dates files, and by the executors' own. It writes down before up to when it
// forgets, and returns that.
func (d *Directory) forget(i int, bucket string, entries []os.DirEntry, forgot int64) (int64, error) {
	now := d.now()
	d.mu.Lock()
	due := now.Sub(d.tidied[i]) >= tidy
	if due {
		d.tidied[i] = now
	}
	d.mu.Unlock()
	if !due {
		return forgot, nil
	}
	names, latest := old(entries, now)
	if latest > forgot {
		err := create(filepath.Join(bucket, beganPrefix+strconv.FormatInt(latest, 10)))
		if errors.Is(err, os.ErrExist) {
			err = nil
		}
		if err == nil {
			err = entriesOnDisk(bucket)
		}
		if err != nil {
			return 0, err
		}
	}
	for _, name := range names {
		_ = os.Remove(filepath.Join(bucket, name)) // another process may have been first
	}
	return max(latest, forgot), nil
}

// old are the entries of a bucket that can go, and the moment up to which the
// bucket has forgotten uses then. Of what says that, the latest stays.
func old(entries []os.DirEntry, now time.Time) (names []string, latest int64) {
	const life = warrant.MaxLife + 2*keep
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) <= life || time.Since(info.ModTime()) <= life {
			continue
		}
		if !strings.HasPrefix(e.Name(), beganPrefix) {
			names, latest = append(names, e.Name()), max(latest, info.ModTime().Add(slack).UnixMilli())
		}
	}
	for _, e := range entries {
		text, found := strings.CutPrefix(e.Name(), beganPrefix)
		if ms, err := strconv.ParseInt(text, 10, 64); found && err == nil && ms < latest {
			names = append(names, e.Name())
		}
	}
	return names, latest
}
