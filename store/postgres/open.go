package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/tables"
)

// Options of a store.
type Options struct {
	// DSN is the connection string, a URL or words such as "host=db
	// dbname=verbatim user=verbatim". The tables stand in the first schema of
	// its search_path. It must lead to the server itself or to a pool in
	// session mode.
	DSN string
	// Sealer seals payloads. It is needed; its key lives outside the database
	// and is the same for every gateway.
	Sealer *keys.Sealer
	// RequireSync refuses the commit point while no synchronous standby
	// follows the primary. Without one, a failover may forget what was
	// acknowledged.
	RequireSync bool
	// Connections is the most connections that are open at once; 0 means 16.
	Connections int
	// Patience is how long a failing database is tried again, and how long a
	// commit whose answer was lost is looked for; 0 means 20 s.
	Patience time.Duration
	// Now replaces the database's clock. For tests only.
	Now func() time.Time
	// Log gets takeovers and unclear commits; nil means slog.Default.
	Log *slog.Logger
}

// The ways in which a store does not open or go on, beside those of the
// connection.
var (
	ErrDurability = errors.New("the database does not keep what it acknowledges")
	ErrStandby    = errors.New("the server is a standby and decides nothing")
	ErrOther      = errors.New("the connection leads to another database cluster than before")
	ErrNoStandby  = errors.New("no synchronous standby follows the database")
	ErrNoSealer   = errors.New("the store needs a sealer for its payloads")
	ErrSealKey    = errors.New("the sealing key is not the one that this store was made with")
	ErrClosed     = errors.New("the store is closed")
	ErrUnknown    = errors.New("nobody can tell whether the change was committed")
)

// Store is one gateway's view of a database that others may share. It is safe
// for concurrent use.
type Store struct {
	book
	standingGrants
	policyBook
	followers
	people
	limits

	opt     Options
	log     *slog.Logger
	pool    *pgxpool.Pool
	process string // random; names the rows that this process works on

	system   atomic.Int64 // system identifier of the first connection
	timeline atomic.Int64 // of the latest connection
	seen     atomic.Int64 // the latest time that this process was told

	starts  crowd[fresh, action.Action]         // calls that begin at once
	creates crowd[fresh, action.Action]         // other new rows
	ends    crowd[action.Ending, action.Action] // ends of runs
	reads   crowd[question, told]               // what every call asks
	allows  crowd[action.Action, action.Action] // reads and handoffs that may go on

	stop context.CancelFunc // ends the sign of life
	done sync.WaitGroup
	once sync.Once

	closed atomic.Bool
}

const (
	defaultConnections = 16
	maxConnections     = 1000
	defaultPatience    = 20 * time.Second
	crowdsAtOnce       = 2 // of each kind: one works while another waits for the disk
)

// Open connects to the database and brings its tables up to date where its
// role may do that. It fails with ErrDurability, ErrStandby, ErrNoSealer,
// ErrSealKey, ErrNoStandby or ErrMigration.
func Open(ctx context.Context, opt Options) (*Store, error) {
	if opt.Sealer == nil {
		return nil, ErrNoSealer
	}
	if opt.Connections <= 0 || opt.Connections > maxConnections {
		opt.Connections = defaultConnections
	}
	if opt.Patience <= 0 {
		opt.Patience = defaultPatience
	}
	s := newStore(opt)
	if err := s.connect(ctx); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := s.prepare(ctx); err != nil {
		s.pool.Close()
		return nil, fmt.Errorf("open store: %w", err)
	}
	s.live()
	return s, nil
}

func newStore(opt Options) *Store {
	s := &Store{opt: opt, log: opt.Log, process: rand.Text()}
	db := database{s}
	s.book, s.people, s.standingGrants = tables.NewBook(db), tables.NewPeople(db, arrival), tables.NewGrants(db, opt.Sealer, arrival)
	s.policyBook, s.limits, s.followers = tables.NewPolicies(db), tables.NewLimits(db), tables.NewFollowers(db)
	if s.log == nil {
		s.log = slog.Default()
	}
	s.starts.serve, s.starts.atOnce = s.serveFresh, crowdsAtOnce
	s.creates.serve, s.creates.atOnce = s.serveFresh, crowdsAtOnce
	s.ends.serve, s.ends.atOnce = s.serveEnds, crowdsAtOnce
	s.reads.serve, s.reads.atOnce = s.serveReads, crowdsAtOnce
	s.allows.serve, s.allows.atOnce = s.serveAllowed, crowdsAtOnce
	return s
}

func (s *Store) connect(ctx context.Context) error {
	cfg, err := pgxpool.ParseConfig(s.opt.DSN)
	if err != nil {
		return err // it does not show the password
	}
	cfg.MaxConns = int32(s.opt.Connections)
	cfg.ConnConfig.ConnectTimeout = connectTimeout
	cfg.ConnConfig.OnNotice = noticed
	set := cfg.ConnConfig.RuntimeParams
	set["application_name"] = "verbatim"
	set["idle_in_transaction_session_timeout"] = "10000" // a gateway that died holds no locks for longer
	set["jit"] = "off"                                   // compiling a statement takes longer than any of ours
	cfg.AfterConnect = s.greet
	s.pool, err = pgxpool.NewWithConfig(ctx, cfg)
	return err
}

// prepare checks and completes the database before anything is asked of it.
func (s *Store) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	return s.pool.AcquireFunc(ctx, func(p *pgxpool.Conn) error {
		c := &conn{ctx: ctx, db: p.Conn()}
		if err := migrate(c); err != nil {
			return err
		}
		if err := s.checkSealKey(c); err != nil {
			return err
		}
		if s.opt.RequireSync {
			if err := followed(c); err != nil {
				return err
			}
		}
		if err := s.recall(c); err != nil {
			return err
		}
		return s.sign(c)
	})
}

// The word that shows whether the sealing key is the right one.
const sealWord = "verbatim"

func sealPlace() keys.Place { return keys.Place{Row: "seal_check", Field: "sealed"} }

func (s *Store) checkSealKey(c *conn) error {
	sealed, err := s.opt.Sealer.Seal(sealPlace(), []byte(sealWord))
	if err != nil {
		return err
	}
	if _, err := c.exec("INSERT INTO seal_check (one, sealed) VALUES (1, $1) ON CONFLICT DO NOTHING", sealed); err != nil {
		return err
	}
	if _, err := c.one(func(cur *cursor) error { sealed = cur.blob(); return nil }, "SELECT sealed FROM seal_check"); err != nil {
		return err
	}
	return s.opens(sealed)
}

// opens reports whether the sealer's key is the one that the word was sealed
// with.
func (s *Store) opens(sealed []byte) error {
	if word, err := s.opt.Sealer.Open(sealPlace(), sealed); err != nil || string(word) != sealWord {
		return ErrSealKey
	}
	return nil
}

// followed refuses where no synchronous standby streams. A role that may not
// see the standbys sees none, and is refused too.
func followed(c *conn) error {
	n, err := c.number(standbySQL)
	if err == nil && n == 0 {
		err = ErrNoStandby
	}
	return err
}

const standbySQL = `SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')`

// Close waits for what is being asked, then lets go of the database.
func (s *Store) Close() error {
	s.once.Do(func() {
		s.stop()
		s.done.Wait()
		s.unsign()
		s.closed.Store(true)
		s.pool.Close()
	})
	return nil
}

// read runs fn on a connection. What it asks may be asked again: a lost
// connection is tried twice more.
func (s *Store) read(ctx context.Context, fn func(*conn) error) error {
	for try := 1; ; try++ {
		err := s.readOnce(ctx, fn)
		if err == nil || !lost(err) || try == tries || ctx.Err() != nil {
			return err
		}
		pause(ctx, try)
	}
}

func (s *Store) readOnce(ctx context.Context, fn func(*conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, verbTimeout)
	defer cancel()
	p, err := s.acquire(ctx)
	if err != nil {
		return fmt.Errorf("read store: %w", err)
	}
	defer p.Release()
	if err = fn(&conn{ctx: ctx, db: p.Conn()}); err != nil && p.Conn().IsClosed() {
		err = fmt.Errorf("read store: %w: %w", errDropped, err)
	}
	return err
}

func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if s.closed.Load() {
		return nil, ErrClosed
	}
	return s.pool.Acquire(ctx)
}
