//go:build bench

package storebench_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/ncruces/go-sqlite3"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/ids"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/store/postgres"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

const (
	tenant = "acme"
	crowd  = 64 // callers at once
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sealer(t testing.TB) *keys.Sealer {
	t.Helper()
	s, err := keys.NewSealer(bytes.Repeat([]byte{9}, 32))
	must(t, err)
	return s
}

func openSQLite(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.Options{Sealer: sealer(t)})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func openPostgres(t testing.TB, dsn string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(context.Background(), postgres.Options{DSN: dsn, Sealer: sealer(t)}) // 16 connections
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// appendSynced is one write at the end of a file and its fdatasync.
func appendSynced(t testing.TB, dir string) func(int) error {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "file"))
	must(t, err)
	t.Cleanup(func() { f.Close() })
	line := make([]byte, 512)
	return func(int) error {
		if _, err := f.Write(line); err != nil {
			return err
		}
		return syscall.Fdatasync(int(f.Fd()))
	}
}

// shape is a row of a raw table.
type shape struct {
	table, insert string
	bind          func(*sqlite3.Stmt) error
}

// ordered has an id that stands in the order of time, as actions have.
var ordered = shape{"CREATE TABLE x (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body BLOB NOT NULL)",
	"INSERT INTO x (id, body) VALUES (?, ?)", func(s *sqlite3.Stmt) error {
		if err := s.BindText(1, ids.Ordered("act")); err != nil {
			return err
		}
		return s.BindBlob(2, make([]byte, 300))
	}}

// digested is the row of a plain log of decisions: who, what, the arguments
// and a digest that is there once.
var digested = shape{"CREATE TABLE x (seq INTEGER PRIMARY KEY, at INTEGER, actor TEXT, tool TEXT, args BLOB, digest BLOB UNIQUE) STRICT",
	"INSERT INTO x (at, actor, tool, args, digest) VALUES (?, 'maria', 'pay', ?, ?)", func(s *sqlite3.Stmt) error {
		var digest [32]byte
		if _, err := rand.Read(digest[:]); err != nil {
			return err
		}
		if err := errors.Join(s.BindInt64(1, time.Now().UnixNano()), s.BindBlob(2, make([]byte, 200))); err != nil {
			return err
		}
		return s.BindBlob(3, digest[:])
	}}

// raw is a table of its own, written with SQLite's own means.
type raw struct {
	*sqlite3.Stmt
	shape
}

func rawSQLite(t testing.TB, dir string, of shape) raw {
	t.Helper()
	db, err := sqlite3.Open("file:" + filepath.Join(dir, "raw.db") + "?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	must(t, err)
	must(t, db.Exec(of.table))
	s, _, err := db.Prepare(of.insert)
	must(t, err)
	t.Cleanup(func() { s.Close(); db.Close() })
	return raw{s, of}
}

// row inserts one row, which outside a transaction is one commit.
func (r raw) row() error {
	if err := r.bind(r.Stmt); err != nil {
		return err
	}
	r.Step()
	return r.Reset()
}

// inTurn is the same for many callers, as SQLite lets them: one at a time.
func inTurn(t testing.TB, dir string) func(int) error {
	t.Helper()
	table := rawSQLite(t, dir, ordered)
	var writer sync.Mutex
	return func(int) error {
		writer.Lock()
		defer writer.Unlock()
		return table.row()
	}
}

// grouped is the same for many callers who share commits, as the store's do.
func grouped(t testing.TB, dir string, of shape) func(int) error {
	t.Helper()
	table := rawSQLite(t, dir, of)
	waiting := make(chan chan error, crowd)
	t.Cleanup(func() { close(waiting) })
	go func() {
		for first := range waiting {
			batch := []chan error{first}
			for more := true; more && len(batch) < crowd; {
				select {
				case next, ok := <-waiting:
					if more = ok; ok {
						batch = append(batch, next)
					}
				default:
					more = false
				}
			}
			err := table.Conn().Exec("BEGIN IMMEDIATE")
			for range batch {
				if err == nil {
					err = table.row()
				}
			}
			if err == nil {
				err = table.Conn().Exec("COMMIT")
			}
			for _, done := range batch {
				done <- err
			}
		}
	}()
	return func(int) error {
		done := make(chan error, 1)
		waiting <- done
		return <-done
	}
}

// rawPostgres is one commit of one row with PostgreSQL's own means.
func rawPostgres(t testing.TB, dsn string) func(int) error {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(dsn)
	must(t, err)
	cfg.MaxConns = crowd
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	must(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(context.Background(), "CREATE TABLE x (seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id TEXT NOT NULL UNIQUE, body BYTEA NOT NULL)")
	must(t, err)
	return func(int) error {
		_, err := pool.Exec(context.Background(), "INSERT INTO x (id, body) VALUES ($1, $2)", ids.Ordered("act"), make([]byte, 300))
		return err
	}
}

// allowed is a call of the tool "pay" that policy allowed.
func allowed(t testing.TB, s verbatim.Store) action.Action {
	t.Helper()
	version, err := s.SetPolicy(context.Background(), tenant, "bank.pay", canon.Sum([]byte("rules")))
	must(t, err)
	args, err := snapshot.FreezeGo(map[string]any{"to": "VENDOR-001", "amount": 5})
	must(t, err)
	return action.Action{Kind: action.KindCall, Tenant: tenant, Principal: "maria", Agent: "helper", Tool: "bank.pay", Mutation: true,
		Hash: snapshot.Propose("helper", "bank.pay", args).Hash, Fingerprint: canon.Sum([]byte("pay")),
		Decision: action.Decision{Effect: "allow", Code: "ok", PolicyVersion: version},
		Payload:  action.Payload{Raw: []byte(args.Text()), Requested: args.Text(), Args: args.Text()}}
}

// decision is the durable decision of one call, which is its commit point.
func decision(t testing.TB, s verbatim.Store) func(int) error {
	t.Helper()
	call := allowed(t, s)
	return func(int) error {
		a := call
		a.ID = ids.Ordered("act")
		a.Fingerprint = canon.Sum([]byte(a.ID))
		_, err := s.Begin(context.Background(), action.Start{Action: a, Lease: time.Hour})
		return err
	}
}

// execution is one whole call through a gate, from bytes to answer, with the
// policy engine that ships and a tool that does nothing.
func execution(t testing.TB, s verbatim.Store) func(int) error {
	t.Helper()
	pay, err := verbatim.Untyped(catalog.Spec{Name: "pay", Impact: catalog.Ordinary, Reason: "play money", Effect: catalog.Blind,
		Schema: []byte(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)},
		execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: []byte(`{"done":true}`)}, nil
		}))
	must(t, err)
	rules, err := cedar.Load(map[string][]byte{"pay.cedar": []byte(`permit (principal, action == Action::"pay", resource);`)},
		[]*catalog.Tool{pay.Tool}, cedar.Options{})
	must(t, err)
	gate := verbatimtest.New(t, verbatimtest.Config{Tools: []verbatim.Bound{pay}, Policy: rules,
		Gate: func(c *verbatim.Config) { c.Store = s }}).Gate
	var n atomic.Int64
	return func(int) error {
		o, err := gate.Call(context.Background(), verbatim.Session{Tenant: tenant, Principal: "maria", Owner: "maria", Agent: "helper"},
			verbatim.Call{Tool: "pay", Arguments: fmt.Appendf(nil, `{"n":%d}`, n.Add(1))})
		if err == nil && o.Status != verbatim.StatusOK {
			err = fmt.Errorf("the call ended as %s", o.Status)
		}
		return err
	}
}
