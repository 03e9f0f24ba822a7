package uses_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/warrant"
	"github.com/seed-de4804fb/verbatim/warrant/uses"
)

// kind is one kind of memory, at a place that processes can share.
type kind struct {
	name  string
	begin func(t *testing.T) // starts what it needs; may be nil
	place func(t *testing.T) string
	// empty takes away what is remembered, the beginning too.
	empty func(t *testing.T, place string)
	// age makes what is remembered older by ten minutes, beside the clock; nil
	// where the clock alone counts.
	age func(t *testing.T, place string)
	// count is how many uses are kept.
	count func(t *testing.T, place string) int
}

func kinds(t *testing.T) []kind {
	t.Helper()
	var server *pgtest.Server
	tables := func(name string, place func(*testing.T) string) kind {
		return kind{name: name, place: place,
			empty: func(t *testing.T, place string) { run(t, place, "DELETE FROM uses") },
			count: func(t *testing.T, place string) (n int) {
				if err := database(t, place).QueryRow("SELECT count(*) FROM uses WHERE action <> ''").Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n
			}}
	}
	postgres := tables("PostgreSQL", func(t *testing.T) string { return "pgx " + server.Schema(t) })
	postgres.begin = func(t *testing.T) { server = pgtest.Start(t) }
	return []kind{
		{name: "directory", place: func(t *testing.T) string { return "dir:" + filepath.Join(t.TempDir(), "uses") },
			empty: func(t *testing.T, place string) {
				if err := os.RemoveAll(place[len("dir:"):]); err != nil {
					t.Fatal(err)
				}
			},
			age: func(t *testing.T, place string) {
				for _, file := range files(t, place) {
					info, err := os.Stat(file)
					if err == nil {
						old := info.ModTime().Add(-10 * time.Minute)
						err = os.Chtimes(file, old, old)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			},
			count: func(t *testing.T, place string) int { return len(files(t, place)) }},
		tables("SQLite", func(t *testing.T) string {
			return "sqlite3 file:" + filepath.Join(t.TempDir(), "uses.db") + "?_pragma=busy_timeout(20000)&_pragma=journal_mode(wal)"
		}),
		postgres,
	}
}

// files are the uses in a directory.
func files(t *testing.T, place string) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join(place[len("dir:"):], "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(out, func(name string) bool { return strings.HasPrefix(filepath.Base(name), "began.") })
}

// TestSharedMemories tries what package uses promises with each memory.
func TestSharedMemories(t *testing.T) {
	t.Parallel()
	for _, k := range kinds(t) {
		t.Run(k.name, func(t *testing.T) {
			if k.begin != nil {
				k.begin(t)
			}
			t.Run("a use is taken once by all who share a memory", func(t *testing.T) { takenOnce(t, k) })
			t.Run("a use is forgotten only when its warrant has ended", func(t *testing.T) { forgottenInTime(t, k) })
			t.Run("a clock that is set back brings no warrant to life", func(t *testing.T) { setBack(t, k) })
			t.Run("an emptied memory refuses until it is made again", func(t *testing.T) { emptied(t, k) })
			t.Run("two executors never run one warrant twice", func(t *testing.T) { twoExecutors(t, k) })
		})
	}
}

// database opens the database of a place.
func database(t testing.TB, place string) *sql.DB {
	t.Helper()
	db, err := openDatabase(place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func run(t testing.TB, place, statement string) {
	t.Helper()
	if _, err := database(t, place).Exec(statement); err != nil {
		t.Fatal(err)
	}
}

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// clock is moved by the test only.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func signedAt(at time.Time, action string, fence int64) warrant.Warrant {
	return warrant.Warrant{Action: action, Fence: fence, IssuedAt: at, SendBy: at.Add(warrant.MaxLife)}
}

func takenOnce(t *testing.T, k kind) {
	t.Helper()
	c := &clock{now: start}
	place := k.place(t)
	one, two := open(t, place, c.Now), open(t, place, c.Now)
	at := start.Add(time.Second)
	for i, tt := range []struct {
		who    warrant.Seen
		at     time.Time
		action string
		fence  int64
		want   warrant.Verdict
	}{
		{one, at, "act_1", 1, warrant.OK},
		{one, at, "act_1", 1, warrant.Replayed},
		{two, at, "act_1", 1, warrant.Replayed},
		{two, at, "act_1", 3, warrant.OK},
		{one, at, "act_1", 2, warrant.OtherAttempt},
		{two, at, "act_1", 1, warrant.OtherAttempt},
		{one, at, "act_1", 3, warrant.Replayed},
		{two, at, "act_2", 0, warrant.OK}, // a read has no attempt
		{one, at, "act_2", 0, warrant.Replayed},
		{one, start, "act_3", 1, warrant.Replayed}, // signed before the memory was made
		{one, at, "../act_4\x00'); --", 1, warrant.OK},
		{two, at, "../act_4\x00'); --", 1, warrant.Replayed},
	} {
		if k.name == "PostgreSQL" && tt.action[0] == '.' {
			tt.action = "../act_4'); --" // its text holds no NUL; an id of ours never has one
		}
		if got, err := tt.who.Use(t.Context(), signedAt(tt.at, tt.action, tt.fence)); got != tt.want || err != nil {
			t.Errorf("%d: %s %d: %q, %v, want %q", i, tt.action, tt.fence, got, err, tt.want)
		}
	}
	if v, err := open(t, place, c.Now).Use(t.Context(), signedAt(at, "act_1", 3)); v != warrant.Replayed || err != nil {
		t.Errorf("after a restart: %q, %v", v, err)
	}
}

func forgottenInTime(t *testing.T, k kind) {
	t.Helper()
	c := &clock{now: time.Now()} // files have the time of the machine
	place := k.place(t)
	m := open(t, place, c.Now)
	at := c.Now().Add(time.Second).Truncate(time.Millisecond)
	w := signedAt(at, "act_1", 1)
	use := func(w warrant.Warrant, want warrant.Verdict) {
		t.Helper()
		if got, err := m.Use(t.Context(), w); got != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	use(w, warrant.OK)
	for range 9 {
		c.advance(10 * time.Second)
		use(w, warrant.Replayed)
	}
	c.advance(10 * time.Minute)
	use(w, warrant.Replayed)
	if k.age != nil { // files have their own time
		k.age(t, place)
	}
	c.advance(time.Minute)
	near := signedAt(c.Now().Truncate(time.Millisecond), besides("act_1", 1), 1)
	use(near, warrant.OK)
	use(near, warrant.Replayed)
	if n := k.count(t, place); n != 1 {
		t.Errorf("%d uses are kept, want the one", n)
	}
}

// besides is the nth action whose use a directory keeps beside that of another.
func besides(action string, n int) string {
	for i := 0; ; i++ {
		name := fmt.Sprintf("act_near_%d", i)
		if sha256.Sum256([]byte(name))[0] != sha256.Sum256([]byte(action))[0] {
			continue
		}
		if n--; n == 0 {
			return name
		}
	}
}

// setBack: clocks go on by ten minutes, what has ended is forgotten, and they
// are set right again.
func setBack(t *testing.T, k kind) {
	t.Helper()
	c := &clock{now: time.Now().Add(-10 * time.Minute)}
	place := k.place(t)
	one, two := open(t, place, c.Now), open(t, place, c.Now)
	c.advance(time.Second)
	use := func(m warrant.Seen, w warrant.Warrant, want warrant.Verdict) {
		t.Helper()
		if got, err := m.Use(t.Context(), w); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", w.Action, got, err, want)
		}
	}
	now := func() time.Time { return c.Now().Truncate(time.Millisecond) }
	w := signedAt(now(), "act_1", 1)
	use(one, w, warrant.OK)
	if k.age != nil {
		k.age(t, place)
	}
	c.advance(10 * time.Minute)
	use(one, w, warrant.Replayed) // which it just forgets
	use(one, signedAt(now(), besides("act_1", 1), 1), warrant.OK)
	if n := k.count(t, place); n != 1 {
		t.Fatalf("%d uses are kept, want the later one", n)
	}
	c.advance(-10*time.Minute + 5*time.Second)
	use(one, w, warrant.Replayed)
	use(two, w, warrant.Replayed)
	use(open(t, place, c.Now), w, warrant.Replayed)
	c.advance(40 * time.Second)
	use(two, signedAt(now(), besides("act_1", 2), 1), warrant.OK) // it costs a moment, and no more
}

func emptied(t *testing.T, k kind) {
	t.Helper()
	c := &clock{now: start}
	place := k.place(t)
	m := open(t, place, c.Now)
	w := signedAt(start.Add(time.Second), "act_1", 1)
	if v, err := m.Use(t.Context(), w); v != warrant.OK || err != nil {
		t.Fatal(v, err)
	}
	k.empty(t, place)
	if v, err := m.Use(t.Context(), w); v == warrant.OK || err == nil {
		t.Errorf("used twice: %q, %v", v, err)
	}
	c.advance(2 * time.Second)
	if v, err := open(t, place, c.Now).Use(t.Context(), w); v != warrant.Replayed || err != nil {
		t.Errorf("what was signed before it was made again: %q, %v", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := m.Use(ctx, signedAt(start.Add(time.Minute), "act_9", 1)); v == warrant.OK || !errors.Is(err, context.Canceled) {
		t.Errorf("for a caller who has left: %q, %v", v, err)
	}
}

func TestAMemoryThatCannotBeMadeIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := uses.OpenDirectory(file, nil); err == nil {
		t.Error("a file is no directory")
	}
	strange := t.TempDir()
	if err := os.WriteFile(filepath.Join(strange, "began.soon"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := uses.OpenDirectory(strange, nil); err == nil {
		t.Error("a beginning that is no moment")
	}
	db := database(t, "sqlite3 file:"+filepath.Join(t.TempDir(), "x.db"))
	for _, name := range []string{"", "a b", "a;drop", `a"b`, "A", "a.b.c"} {
		if _, err := uses.OpenTable(t.Context(), db, name, nil); err == nil {
			t.Errorf("%q is no name", name)
		}
	}
	if _, err := uses.OpenTable(t.Context(), nil, "uses", nil); err == nil {
		t.Error("no database")
	}
}
