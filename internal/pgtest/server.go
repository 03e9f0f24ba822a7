package pgtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/internal/needs"
)

// Server is one PostgreSQL with a data directory of its own.
type Server struct {
	bin     string // directory of the programs
	root    string // directory that holds the data
	log     string // not beside it, where a disk may be full
	port    int
	schemas atomic.Int64
	running *running // nil while stopped; one goroutine starts and stops
}

// running is a started server.
type running struct {
	leash io.Closer // closing it stops the server
	ended chan struct{}
}

const (
	startTimeout = 60 * time.Second
	stopTimeout  = 30 * time.Second
)

// Start starts a server and stops it when the test ends. Settings such as
// "max_connections=50" come last and win. Its data lies in memory where there
// is enough, since a test asks what becomes of it when a process dies, not
// when the power does; syncs then cost nothing.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	return start(t, memory(), nil, settings)
}

// StartOnDisk is Start with the data on the disk, for who measures.
func StartOnDisk(t testing.TB, settings ...string) *Server {
	t.Helper()
	return start(t, "", nil, settings)
}

// StartIn is Start with the data below a directory that the user postgres may
// search, in small segments, so that little room is enough.
func StartIn(t testing.TB, dir string, settings ...string) *Server {
	t.Helper()
	return start(t, dir, []string{"--wal-segsize=1"}, settings)
}

func start(t testing.TB, dir string, flags, settings []string) *Server {
	t.Helper()
	s := create(t, dir)
	s.run(t, "initdb", append([]string{"--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C",
		"-D", s.data()}, flags...)...)
	s.configure(t, append(defaults(), settings...))
	s.Restart(t)
	return s
}

func defaults() []string {
	return []string{"listen_addresses='127.0.0.1'", "unix_socket_directories=''", "max_connections=400", "shared_buffers=64MB",
		"fsync=on", "full_page_writes=on", "synchronous_commit=on", "logging_collector=off", "max_wal_size=256MB"}
}

// create makes the directory of a server that has no data yet; in "" the
// system's place for such things.
func create(t testing.TB, dir string) *Server {
	t.Helper()
	s := &Server{bin: needs.Postgres(t), log: filepath.Join(t.TempDir(), "log")}
	var err error
	if s.root, err = os.MkdirTemp(dir, "verbatim-pg"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.halt()
		if err := os.RemoveAll(s.root); err != nil {
			t.Errorf("remove the data of PostgreSQL: %v", err)
		}
	})
	own(t, s.root)
	s.port = freePort(t)
	return s
}

// own gives a directory to the user that the server runs as.
func own(t testing.TB, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		t.Fatalf("the tests run as root and PostgreSQL refuses to: %v", err)
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (s *Server) data() string { return filepath.Join(s.root, "data") }

// command runs a program of PostgreSQL as the user that it wants.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	path := filepath.Join(s.bin, name)
	if os.Getuid() == 0 {
		args = append([]string{"--reuid=postgres", "--regid=postgres", "--clear-groups", "--", path}, args...)
		path = "setpriv"
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = s.root
	cmd.Env = environment()
	return cmd
}

// environment is that of the test without what would lead the programs
// elsewhere.
func environment() []string {
	env := []string{"LC_ALL=C"}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "PG") && !strings.HasPrefix(pair, "LC_ALL=") {
			env = append(env, pair)
		}
	}
	return env
}

func (s *Server) run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := s.command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// configure adds lines to postgresql.conf.
func (s *Server) configure(t testing.TB, settings []string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("\n" + strings.Join(settings, "\n") + "\n"); err != nil {
		t.Fatal(err)
	}
}

// Set changes settings and has the server read them again.
func (s *Server) Set(t testing.TB, settings ...string) {
	t.Helper()
	s.configure(t, settings)
	s.run(t, "pg_ctl", "reload", "-D", s.data())
}

// DSN is the connection string of the database "postgres" for its owner.
func (s *Server) DSN() string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=postgres sslmode=disable", s.port)
}

// Addr is where the server listens.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Schema makes an empty schema and returns the connection string in which it
// is the current one. It is far cheaper than a server of one's own.
func (s *Server) Schema(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("s%d", s.schemas.Add(1))
	s.Exec(t, "CREATE SCHEMA "+name)
	return s.DSN() + " search_path=" + name
}

// Exec runs SQL as the owner of the server.
func (s *Server) Exec(t testing.TB, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	c, err := pgx.Connect(ctx, s.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
