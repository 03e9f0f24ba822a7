package soak_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/pgtest"
)

const (
	gateways = 3
	clients  = 6
	rounds   = 12 // samples
)

// long is how long the load lasts.
func long(t *testing.T) time.Duration {
	t.Helper()
	if text := os.Getenv("VERBATIM_SOAK"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if testing.Short() {
		return 6 * time.Second
	}
	return time.Minute
}

// world is three gateways on one database, with everything that can fail.
type world struct {
	t     *testing.T
	db    *pgtest.Server
	far   far
	notes string
	all   []*gateway
	quiet sync.RWMutex // held for writing while nothing must happen

	mu    sync.Mutex
	acked map[string]bool // texts of which a client was told that they are added
	calls atomic.Int64
	done  atomic.Int64
	fault [6]int
}

// TestThreeGatewaysStayFlatUnderFaults is the soak.
func TestThreeGatewaysStayFlatUnderFaults(t *testing.T) {
	t.Parallel()
	w := &world{t: t, db: pgtest.Start(t), notes: filepath.Join(t.TempDir(), "notes.txt"), acked: map[string]bool{}}
	web := httptest.NewServer(&w.far)
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	dsn := w.db.Schema(t)
	for i := range gateways {
		var first *gateway
		if i > 0 {
			first = w.all[0]
		}
		w.all = append(w.all, newGateway(t, dsn, w.notes, web.URL, first))
	}
	samples := w.run(long(t))
	for i, list := range samples {
		flat(t, fmt.Sprintf("gateway %d", i+1), list)
	}
	t.Logf("%d calls, %d of them acknowledged mutations; faults: %d servers killed, %d pauses, %d gateways killed, %d cuts of the database, %d moods of a server, %d changed files",
		w.calls.Load(), len(w.acked), w.fault[0], w.fault[1], w.fault[2], w.fault[3], w.fault[4], w.fault[5])
	w.check()
}

// run loads the gateways and breaks things, and samples those that live on in
// quiet moments.
func (w *world) run(d time.Duration) [gateways - 1][]sample {
	ctx, stop := context.WithCancel(context.Background())
	var load sync.WaitGroup
	for i := range clients {
		load.Go(func() { w.client(ctx, i) })
	}
	load.Go(func() { w.breaks(ctx, d) })
	var out [gateways - 1][]sample
	for range rounds {
		time.Sleep(d / rounds)
		w.quiet.Lock()
		time.Sleep(time.Second) // what was under way ends
		for i := range out {
			s, err := w.all[i].take()
			if err != nil {
				w.t.Errorf("gateway %d: %v", i+1, err)
				continue
			}
			out[i] = append(out[i], s)
		}
		w.quiet.Unlock()
	}
	stop()
	load.Wait()
	return out
}

// client makes calls, each through any gateway, and a mutation again under its
// key through another one if it was not told that it is done.
func (w *world) client(ctx context.Context, n int) {
	for i := 0; ctx.Err() == nil; i++ {
		w.quiet.RLock()
		g := w.all[rand.IntN(gateways)]
		switch rand.IntN(10) {
		case 0, 1, 2:
			text := fmt.Sprintf("note-%d-%d", n, i)
			for range 2 {
				if strings.Contains(w.call(ctx, g, "notes__add", `{"text":"`+text+`"}`, text), `"text":"added"`) {
					w.mu.Lock()
					w.acked[text] = true
					w.mu.Unlock()
					break
				}
				g = w.all[rand.IntN(gateways)]
			}
		case 3:
			short, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(20))*time.Millisecond) // it goes away in the middle
			w.call(short, g, "notes__list", `{}`, "")
			cancel()
		case 4, 5, 6:
			w.call(ctx, g, "far__look", `{}`, "")
		default:
			w.call(ctx, g, "notes__list", `{}`, "")
		}
		w.quiet.RUnlock()
	}
}

var transport = &http.Transport{MaxIdleConnsPerHost: 2 * clients, IdleConnTimeout: 5 * time.Second}

// call makes one call and returns what came back, if anything did.
func (w *world) call(ctx context.Context, g *gateway, tool, arguments, key string) string {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	meta := `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	if key != "" {
		meta += `,"io.github.seed-de4804fb.verbatim/idempotencyKey":"` + key + `"`
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,"_meta":{` + meta + `}}}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.at(), strings.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return ""
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + token,
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		r.Header.Set(name, value)
	}
	w.calls.Add(1)
	response, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return ""
	}
	if response.StatusCode == http.StatusOK {
		w.done.Add(1)
	}
	return string(text)
}

// breaks breaks something every now and then.
func (w *world) breaks(ctx context.Context, d time.Duration) {
	every := min(max(d/60, 300*time.Millisecond), 3*time.Second)
	for {
		select {
		case <-ctx.Done():
			w.far.mood.Store(well)
			return
		case <-time.After(every):
		}
		w.quiet.RLock()
		n := rand.IntN(len(w.fault))
		w.fault[n]++
		w.breakOne(n)
		w.quiet.RUnlock()
	}
}

func (w *world) breakOne(n int) {
	g := w.all[rand.IntN(gateways)]
	switch n {
	case 0:
		for _, pid := range children(g.process().Process.Pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
		}
	case 1:
		_ = g.process().Process.Signal(syscall.SIGSTOP) // it runs: nobody else ends it
		time.Sleep(time.Duration(50+rand.IntN(300)) * time.Millisecond)
		_ = g.process().Process.Signal(syscall.SIGCONT)
	case 2:
		w.all[gateways-1].kill()
	case 3:
		w.db.Exec(w.t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
	case 4:
		w.far.mood.Store(rand.Int32N(moods))
	case 5:
		g.change()
	}
}

// children are the processes that pid has started.
func children(pid int) (out []int) {
	list, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	for _, path := range list {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		_, after, _ := bytes.Cut(text, []byte(") "))
		fields := strings.Fields(string(after))
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			if n, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// check: nothing took effect twice, and what was acknowledged did once.
func (w *world) check() {
	text, err := os.ReadFile(w.notes)
	if err != nil {
		w.t.Fatal(err)
	}
	times := map[string]int{}
	for _, line := range strings.Fields(string(text)) {
		times[line]++
	}
	for line, n := range times {
		if n > 1 {
			w.t.Errorf("%s took effect %d times", line, n)
		}
	}
	for line := range w.acked {
		if times[line] != 1 {
			w.t.Errorf("%s was acknowledged and took effect %d times", line, times[line])
		}
	}
	if len(w.acked) == 0 || w.done.Load() < w.calls.Load()/4 {
		w.t.Errorf("%d of %d calls were answered, %d acknowledged: the load shows nothing", w.done.Load(), w.calls.Load(), len(w.acked))
	}
}
