package failover_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/internal/pgtest"
)

const (
	servers  = 3
	gateways = 3
	// room of each server's file system: enough for the longest run, and soon
	// filled.
	room = "size=768m,mode=0755"
)

// cluster is a primary with two standbys. Every connection to it leads
// through a wire that can be broken.
type cluster struct {
	*testing.T
	sync    bool
	disks   [servers]string // where each server's data lies; a file system of its own, or ""
	servers [servers]*pgtest.Server
	links   [servers]*pgtest.Wire  // what a standby follows its primary through
	fronts  [gateways]*pgtest.Wire // what a gateway sees of the primary
	primary int
	schema  string // the words of the connection string that name it
}

var names = [servers]string{"a", "b", "c"}

// newCluster starts the servers. Without sync a commit waits for no standby.
func newCluster(t *testing.T, sync bool) *cluster {
	t.Helper()
	c := &cluster{T: t, sync: sync}
	place := shared(t)
	for i := range servers {
		c.disks[i] = disk(t, filepath.Join(place, names[i]))
	}
	first := pgtest.StartIn(t, c.dir(place, 0), "max_connections=120", "shared_buffers=32MB", "max_wal_size=64MB", "min_wal_size=8MB",
		"wal_keep_size=64MB", "checkpoint_timeout=30s", "wal_sender_timeout=15s", "wal_receiver_timeout=15s",
		"wal_retrieve_retry_interval=100ms", "hot_standby_feedback=off", "max_wal_senders=10", "autovacuum_naptime=20s")
	c.servers[0] = first
	for i := range servers {
		c.links[i] = pgtest.NewWire(t, first.Addr())
		if i > 0 {
			c.servers[i] = pgtest.StandbyIn(t, c.dir(place, i), c.links[i].Through(first.DSN()), names[i])
		}
	}
	for i := range c.fronts {
		c.fronts[i] = pgtest.NewWire(t, first.Addr())
	}
	c.followed()
	if sync {
		for _, s := range c.servers {
			s.Set(t, "synchronous_standby_names='ANY 1 (a, b, c)'")
		}
	}
	dsn := first.Schema(t)
	c.schema = dsn[len(first.DSN()):]
	return c
}

// shared is a directory that the servers, which run as a user of their own,
// may search.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "verbatim-failover")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// disk mounts a small file system; "" where that is not allowed.
func disk(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("verbatim", dir, "tmpfs", 0, room); err != nil {
		return ""
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

func (c *cluster) dir(place string, i int) string {
	if c.disks[i] != "" {
		return c.disks[i]
	}
	return place
}

// dsn leads to a server itself, around every wire.
func (c *cluster) dsn(i int) string { return c.servers[i].DSN() + c.schema }

// front leads a gateway to whichever server is its primary.
func (c *cluster) front(gateway int) string { return c.fronts[gateway].Through(c.dsn(c.primary)) }

func (c *cluster) standbys() (out []int) {
	for i := range servers {
		if i != c.primary {
			out = append(out, i)
		}
	}
	return out
}

// cutStandbys ends or mends the links of all standbys.
func (c *cluster) cutStandbys(off bool) {
	for _, i := range c.standbys() {
		c.links[i].Cut(off)
	}
}

// holdStandbys lets the standbys hear nothing any more, without their being
// told.
func (c *cluster) holdStandbys(on bool) {
	for _, i := range c.standbys() {
		c.links[i].Hold(on)
	}
}

// promote makes the standby that has received most the primary, and leads
// the gateways that are named to it. What answered a commit is on it: one of
// two had to have it. The server of before runs on if it runs.
func (c *cluster) promote(lead ...int) (before int) {
	c.Helper()
	c.cutStandbys(true)
	c.holdStandbys(false)
	before = c.primary
	best, most := -1, int64(-1)
	for _, i := range c.standbys() {
		got := c.number(i, `SELECT (coalesce(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0') - '0/0')::bigint`)
		if got > most {
			best, most = i, got
		}
	}
	c.servers[best].Promote(c.T)
	c.primary = best
	for _, g := range lead {
		c.fronts[g].Lead(c.servers[best].Addr())
	}
	for i, l := range c.links {
		l.Lead(c.servers[best].Addr())
		l.Cut(i == before) // it would follow nobody any more
	}
	return before
}

// rejoin ends the server of before and makes it a standby with fresh data.
func (c *cluster) rejoin(before int) {
	c.Helper()
	if c.up(before) {
		c.servers[before].Crash(c.T)
	}
	c.links[before].Cut(false)
	c.servers[before].Rebuild(c.T, c.links[before].Through(c.servers[c.primary].DSN()), names[before])
	c.followed()
}

// followed waits until both standbys stream. One that cannot follow, because
// it went another way, is made anew.
func (c *cluster) followed() {
	c.Helper()
	patience := time.Now().Add(10 * time.Second)
	for c.streaming() < servers-1 {
		time.Sleep(50 * time.Millisecond)
		if time.Now().Before(patience) {
			continue
		}
		for _, i := range c.standbys() {
			if !c.follows(i) {
				c.Logf("standby %s is made anew", names[i])
				c.servers[i].Rebuild(c.T, c.links[i].Through(c.servers[c.primary].DSN()), names[i])
			}
		}
		patience = time.Now().Add(30 * time.Second)
	}
}

func (c *cluster) streaming() int64 {
	return c.number(c.primary, "SELECT count(DISTINCT application_name) FROM pg_stat_replication WHERE state = 'streaming' AND application_name IN ('a', 'b', 'c')")
}

func (c *cluster) follows(i int) bool {
	return c.number(c.primary, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND application_name = '"+names[i]+"'") > 0
}

// number asks a server for one number; it must answer within a minute.
func (c *cluster) number(i int, sql string) int64 {
	c.Helper()
	var last error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var n int64
		if n, last = ask(c.Context(), c.dsn(i), sql); last == nil {
			return n
		}
	}
	c.Fatalf("server %s does not answer: %v", names[i], last)
	return 0
}

func ask(ctx context.Context, dsn, sql string) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	db, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return 0, err
	}
	defer db.Close(context.WithoutCancel(ctx))
	return n, db.QueryRow(ctx, sql).Scan(&n)
}

// up reports whether a server answers now.
func (c *cluster) up(i int) bool {
	_, err := ask(c.Context(), c.servers[i].DSN(), "SELECT 1::bigint")
	return err == nil
}
