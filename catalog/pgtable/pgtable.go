package pgtable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/seed-de4804fb/verbatim/resolve"
)

// MaxRows is the largest table.
const MaxRows = 200_000

// Timeout bounds one question, from connecting to the last row.
const Timeout = 10 * time.Second

// What a question fails with, besides errors of the network and the database.
var (
	ErrQuery = errors.New("a table's query is one SELECT of alias, id and, if rows expire, expires, without parameters")
	ErrType  = errors.New("alias and id are text, integer or uuid, expires is timestamptz: cast the columns")
	ErrNull  = errors.New("alias and id are never null")
	ErrTime  = errors.New("expires is a time of the years 1 to 9999, infinity or null")
	ErrRows  = fmt.Errorf("a table has up to %d rows and %d bytes", MaxRows, resolve.MaxTableBytes)
	ErrDSN   = errors.New("the connection string of the table's database cannot be read")
	ErrPlain = errors.New("a table's database on another machine needs sslmode=verify-full (or verify-ca): its answers decide where calls go")
)

// Source is a table in a database. It is safe for concurrent use.
type Source struct {
	dsn   func() (string, error)
	query string
}

var _ resolve.Source = (*Source)(nil)

// New makes a source. The database is not asked before the first call needs
// it: one that is down must not keep a gateway down.
func New(dsn func() (string, error), query string) (*Source, error) {
	if dsn == nil || query == "" {
		return nil, errors.New("a table in PostgreSQL needs a connection string and a query")
	}
	return &Source{dsn, query}, nil
}

// Rows asks the query. The version is left to the digest of the rows: a
// database tells no version of what a query answers.
func (s *Source) Rows(ctx context.Context) (rows []resolve.Row, version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	config, err := s.config()
	if err != nil {
		return nil, "", err
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, "", fmt.Errorf("reach the table's database: %w", err)
	}
	defer func() {
		if err != nil {
			cancel() // there may be rows without end to come
		}
		_ = conn.Close(ctx) // read-only: there is nothing left to go wrong
	}()
	if err := begin(ctx, conn); err != nil {
		return nil, "", err
	}
	rows, err = ask(ctx, conn, s.query)
	return rows, "", err
}

func (s *Source) config() (*pgconn.Config, error) {
	text, err := s.dsn()
	if err != nil {
		return nil, err
	}
	config, err := pgconn.ParseConfig(text)
	if err != nil { // not wrapped: it quotes what it could not read
		return nil, ErrDSN
	}
	if err := private(config); err != nil {
		return nil, err
	}
	config.RuntimeParams["client_encoding"] = "UTF8"
	config.RuntimeParams["application_name"] = "verbatim"
	config.OnNotice = nil
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		frontend := pgproto3.NewFrontend(r, w)
		frontend.SetMaxBodyLen(resolve.MaxTableBytes) // one value of a gigabyte would be read before it could be refused
		return frontend
	}
	return config, nil
}

// private refuses connections on which somebody else could answer: none of the
// ways that the connection string allows may leave the machine without a
// server that has proved its name.
func private(config *pgconn.Config) error {
	ways := []*pgconn.FallbackConfig{{Host: config.Host, TLSConfig: config.TLSConfig}}
	for _, way := range append(ways, config.Fallbacks...) {
		proved := way.TLSConfig != nil && (!way.TLSConfig.InsecureSkipVerify || way.TLSConfig.VerifyPeerCertificate != nil)
		if !proved && !onThisMachine(way.Host) {
			return ErrPlain
		}
	}
	return nil
}

func onThisMachine(host string) bool {
	network, _ := pgconn.NetworkAddress(host, 5432)
	ip := net.ParseIP(host)
	return network == "unix" || host == "localhost" || ip != nil && ip.IsLoopback()
}

// begin starts a transaction of one snapshot that cannot write. It is never
// committed. Time zone and style make every time one text.
func begin(ctx context.Context, conn *pgconn.PgConn) error {
	settings := fmt.Sprintf("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = %[1]d; "+
		"SET LOCAL lock_timeout = %[1]d; SET LOCAL datestyle = 'ISO'; SET LOCAL timezone = 'UTC'", Timeout.Milliseconds())
	if _, err := conn.Exec(ctx, settings).ReadAll(); err != nil {
		return fmt.Errorf("begin to read the table's database: %w", err)
	}
	return nil
}
