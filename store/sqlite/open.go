package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/tables"
)

// Options of a store.
type Options struct {
	// Sealer seals payloads. It is needed; its key lives outside the database.
	Sealer *keys.Sealer
	// Now replaces the database's clock. For tests only.
	Now func() time.Time
	// Readers is the most connections that read at once; 0 means 4.
	Readers int
	// MaxPages bounds the file in database pages of 4 KiB; 0 means no bound.
	// A write beyond it fails as on a full disk.
	MaxPages int
	// VFS names another file system of SQLite, registered in this process.
	// For tests that cut the power; "" is the operating system's.
	VFS string

	step int // records that may be missing in the lists; 0 means listStep
}

// The ways in which a store does not open, beside those of the disk.
var (
	ErrOwned      = errors.New("another process has the store open")
	ErrDurability = errors.New("the database does not keep what it acknowledges")
	ErrNoSealer   = errors.New("the store needs a sealer for its payloads")
	ErrSealKey    = errors.New("the sealing key is not the one that this store was made with")
	ErrClosed     = errors.New("the store is closed")
)

// Store is one SQLite file that this process owns. It is safe for concurrent
// use.
type Store struct {
	book
	standingGrants
	policyBook
	followers
	people
	limits

	opt     Options
	path    string
	process string // random; names the rows that this process works on
	owner   *conn  // holds the lock file; touched by Open and Close only
	writer  *conn  // belongs to whoever writes; line says who
	level   int    // of synchronous; belongs to whoever writes
	kept    int64  // the time floor that is stored; belongs to whoever writes
	pack    pack   // belongs to whoever writes, as does missing
	missing missing
	wal     wal // belongs to whoever writes
	view    view
	written written
	// remembered is the version of the database that memory and policies are
	// of; it belongs to whoever writes.
	remembered uint32
	waited     bool // a transaction has waited long; belongs to whoever writes
	// policies are the versions that are in force; they belong to whoever
	// writes. Nil while a batch sets one.
	policies map[tool]string
	line     *line

	gathering *gathering // of the writing connection
	copier    copier
	leftover  atomic.Bool // something that was erased may stand in the WAL
	memory    memory
	journal   journal    // guarded by memory.mu, as is folding
	folding   bool       // records of the journal are on their way into the log
	readers   chan *conn // nil stands for a connection not yet opened

	closing sync.RWMutex // held for reading while a job joins the line
	closed  bool         // guarded by closing
	done    chan struct{}
}

const (
	defaultReaders = 4
	busyTimeout    = 5 * time.Second
	maxReaders     = 64
)

// Open opens the store at path, makes it if there is none, and owns it until
// Close. It fails with ErrOwned, ErrDurability, ErrNoSealer, ErrSealKey,
// ErrMigration or ErrRestoring.
func Open(path string, opt Options) (*Store, error) {
	if opt.Sealer == nil {
		return nil, ErrNoSealer
	}
	if opt.Readers <= 0 || opt.Readers > maxReaders {
		opt.Readers = defaultReaders
	}
	if opt.step <= 0 {
		opt.step = listStep
	}
	real, err := realPath(path)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{opt: opt, path: real, process: rand.Text(), done: make(chan struct{}),
		line: newLine(), readers: make(chan *conn, opt.Readers), journal: journal{room: mapFile}}
	db := database{s}
	s.book, s.people, s.standingGrants = tables.NewBook(db), tables.NewPeople(db, arrival), tables.NewGrants(db, opt.Sealer, arrival)
	s.policyBook, s.limits, s.followers = tables.NewPolicies(db), tables.NewLimits(db), tables.NewFollowers(db)
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.release())
	}
	for range opt.Readers {
		s.readers <- nil
	}
	go s.writeLoop()
	return s, nil
}

// realPath makes two spellings of one file one path, so that they share one
// lock.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}

func (s *Store) open() (err error) {
	if s.owner, err = own(s.path + ".lock"); err != nil {
		return err
	}
	if s.opt.VFS == "" {
		if _, err := os.Lstat(restoring(s.path)); err == nil {
			return ErrRestoring
		}
		for _, suffix := range []string{"", "-shm"} {
			if err := private(s.path + suffix); err != nil {
				return err
			}
		}
	}
	s.gathering = gather(s.opt.VFS)
	if s.writer, err = s.connect(s.gathering.name); err != nil {
		return err
	}
	if err := s.writer.db.Exec("PRAGMA cache_size = -1024"); err != nil { // in KiB
		return err
	}
	if err := errors.Join(durable(s.writer), s.watchWAL()); err != nil {
		return err
	}
	if err := migrate(s.writer); err != nil {
		return err
	}
	if s.opt.MaxPages > 0 {
		if err := s.writer.db.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", s.opt.MaxPages)); err != nil {
			return err
		}
	}
	if err := s.checkSealKey(); err != nil {
		return err
	}
	if err := s.remember(); err != nil {
		return err
	}
	if err := s.inherit(); err != nil {
		return err
	}
	s.leftover.Store(true) // an earlier process may have been killed before it emptied the WAL
	s.copier.start(s)
	return nil
}

// private makes a file before SQLite does, readable by its owner only: this
// file system of SQLite would let everybody read the WAL.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// own takes a lock that lasts as long as the process: an exclusive
// transaction on a database of its own. The kernel lets go of it when the
// process dies, however it dies.
func own(path string) (*conn, error) {
	if err := private(path); err != nil {
		return nil, err
	}
	db, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READWRITE)
	if err != nil {
		return nil, err
	}
	c := &conn{db: db, stmts: map[string]*stmt{}}
	if err := db.Exec("BEGIN EXCLUSIVE"); err != nil {
		if errors.Is(err, sqlite3.BUSY) {
			err = fmt.Errorf("%w (%s)", ErrOwned, path)
		}
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// uri names the file on a file system of SQLite ("" is the operating
// system's), with the rights that the WAL shall have too: those of the file
// itself (modeof is an extension of the operating system's).
func (s *Store) uri(system string) string {
	query := url.Values{}
	if s.opt.VFS == "" {
		query.Set("modeof", s.path)
	}
	if system != "" {
		query.Set("vfs", system)
	}
	return fileURI(s.path) + "?" + strings.ReplaceAll(query.Encode(), "+", "%20") // SQLite knows no plus
}

func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive letter
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func (s *Store) connect(system string) (*conn, error) {
	flags := sqlite3.OPEN_READWRITE | sqlite3.OPEN_URI
	if s.opt.VFS != "" {
		flags |= sqlite3.OPEN_CREATE
	}
	db, err := sqlite3.OpenFlags(s.uri(system), flags)
	if err != nil {
		return nil, err
	}
	c := &conn{db: db, stmts: map[string]*stmt{}}
	for _, pragma := range []string{"secure_delete = ON", "foreign_keys = ON", "recursive_triggers = ON", "trusted_schema = OFF",
		"cell_size_check = ON", "temp_store = MEMORY", "fullfsync = ON", "checkpoint_fullfsync = ON"} {
		if err := db.Exec("PRAGMA " + pragma); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, errors.Join(db.BusyTimeout(busyTimeout))
}

// durable sets what durability needs and asks whether it holds: a database
// that answers otherwise is not used.
func durable(c *conn) error {
	if err := c.db.Exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"); err != nil {
		return err
	}
	for _, want := range []struct{ pragma, value string }{
		{"journal_mode", "wal"}, {"synchronous", strconv.Itoa(syncFull)}, {"foreign_keys", "1"}} {
		got, err := c.pragma(want.pragma)
		if err != nil {
			return err
		}
		if got != want.value {
			return fmt.Errorf("%w: %s is %s, not %s", ErrDurability, want.pragma, got, want.value)
		}
	}
	return nil
}

// The word that shows whether the sealing key is the right one.
const sealWord = "verbatim"

func sealPlace() keys.Place { return keys.Place{Row: "seal_check", Field: "sealed"} }

func (s *Store) checkSealKey() error {
	var sealed []byte
	found, err := s.writer.one(func(cur *cursor) error { sealed = cur.blob(); return nil },
		"SELECT sealed FROM seal_check")
	if err != nil {
		return err
	}
	if !found {
		if sealed, err = s.opt.Sealer.Seal(sealPlace(), []byte(sealWord)); err != nil {
			return err
		}
		_, err = s.writer.exec("INSERT INTO seal_check (one, sealed) VALUES (1, ?)", sealed)
		return err
	}
	return s.opens(sealed)
}

// opens reports whether the sealing key is the one that sealed the word.
func (s *Store) opens(sealed []byte) error {
	if word, err := s.opt.Sealer.Open(sealPlace(), sealed); err != nil || string(word) != sealWord {
		return ErrSealKey
	}
	return nil
}

// Close waits for what is being written, then lets go of the file.
func (s *Store) Close() error {
	s.closing.Lock()
	already := s.closed
	s.closed = true
	s.closing.Unlock()
	if already {
		return nil
	}
	s.line.drained()
	close(s.line.told)
	<-s.done
	errs := []error{s.closeJournal()}
	s.copier.stop()
	for range s.opt.Readers {
		if c := <-s.readers; c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(append(errs, s.release())...)
}

func (s *Store) release() error {
	var errs []error
	for _, c := range []*conn{s.writer, s.owner} {
		if c != nil {
			errs = append(errs, c.close())
		}
	}
	if s.gathering != nil {
		s.gathering.close()
	}
	return errors.Join(errs...)
}

// read runs fn in one snapshot of the database.
func (s *Store) read(ctx context.Context, fn func(*conn) error) (err error) {
	var c *conn
	select {
	case c = <-s.readers:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return ErrClosed
	}
	defer func() { s.readers <- c }()
	if c == nil {
		if c, err = s.reader(); err != nil {
			return fmt.Errorf("read store: %w", err)
		}
	}
	// Not yet under ctx: a statement that is interrupted may have had its
	// effect, and this one would leave the connection inside a transaction.
	if _, err := c.exec("BEGIN"); err != nil {
		return fmt.Errorf("read store: %w", err)
	}
	defer c.interrupt(ctx)()
	defer func() {
		c.db.SetInterrupt(context.Background())
		if c.db.GetAutocommit() {
			return
		}
		if _, end := c.exec("COMMIT"); end != nil {
			err = errors.Join(err, fmt.Errorf("read store: %w", end))
		}
	}()
	return fn(c)
}

func (s *Store) reader() (*conn, error) {
	c, err := s.connect(s.opt.VFS)
	if err != nil {
		return nil, err
	}
	// In KiB. What is not kept here the operating system keeps, and several connections read.
	if err := c.db.Exec("PRAGMA query_only = ON; PRAGMA cache_size = -256"); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}
