package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/postgres"
)

// told counts how often a sink was told each event, by its id.
type told struct {
	mu     sync.Mutex
	counts map[string]int
}

func (x *told) add(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.counts == nil {
		x.counts = map[string]int{}
	}
	x.counts[id]++
}

func (x *told) all() map[string]int {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := map[string]int{}
	for id, n := range x.counts {
		out[id] = n
	}
	return out
}

// hooked is a receiver of webhooks that may be away.
type hooked struct {
	*httptest.Server
	told
	away atomic.Bool
}

func newHooked(t *testing.T) *hooked {
	t.Helper()
	h := &hooked{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var batch []struct{ ID string }
		if err == nil {
			err = json.Unmarshal(body, &batch)
		}
		if h.away.Load() || err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		for _, e := range batch {
			h.add(e.ID)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// outlets are two gateways on one database whose sinks have one name each, and
// so one place in the log.
type outlets struct {
	t         *testing.T
	server    *pgtest.Server
	dsn       string
	places    []*place
	gateways  []*served
	hook      *hooked
	collector *recorder
}

func newOutlets(t *testing.T) *outlets {
	t.Helper()
	o := &outlets{t: t, server: pgtest.Start(t), hook: newHooked(t), collector: newRecorder(t)}
	o.dsn = o.server.Schema(t)
	for i := range 2 {
		p := newPlace(t, "100ms")
		p.held = "100ms"
		p.env = append(p.env, "HOOK=a secret of a webhook, long enough")
		dsn := filepath.Join(filepath.Dir(string(p.home)), "store.dsn")
		err := os.WriteFile(dsn, []byte(o.dsn+"\n"), 0o600)
		if err == nil && i > 0 {
			if err = os.CopyFS(p.home.Keys(), os.DirFS(o.places[0].home.Keys())); err == nil {
				err = private(p.home.Keys())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		o.places = append(o.places, p)
		o.gateways = append(o.gateways, p.serve("  notes: {command: notes-mcp, env: {NOTES: "+p.notes+"}}\n"+
			"store: {postgres: {dsn: {file: "+dsn+"}, requireSync: false, connections: 6}}\nmetrics: {listen: \"127.0.0.1:0\"}\n"+
			"telemetry: {otlp: {url: \""+o.collector.URL+"\", networks: [\"127.0.0.0/8\"], interval: 1s}}\n"+
			"sinks:\n    lines: {file: events.jsonl, from: start}\n    collector: {otlp: true, from: start}\n"+
			"    hook: {webhook: {url: "+o.hook.URL+", secret: {env: HOOK}, networks: [\"127.0.0.0/8\"]}, from: start}\n"))
	}
	return o
}

// lines are the events in the files of both gateways.
func (o *outlets) lines() map[string]int {
	o.t.Helper()
	out := map[string]int{}
	for _, p := range o.places {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(string(p.home)), "events.jsonl"))
		if err != nil && !os.IsNotExist(err) {
			o.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var e struct{ ID string }
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				o.t.Fatal(err)
			}
			out[e.ID]++
		}
	}
	return out
}

// collected counts events in what the collector got.
func (o *outlets) collected(ids map[string]int) map[string]int {
	o.collector.mu.Lock()
	text := string(o.collector.got["/v1/logs"])
	o.collector.mu.Unlock()
	out := map[string]int{}
	for id := range ids {
		if n := strings.Count(text, `"id":"`+id+`"`); n > 0 {
			out[id] = n
		}
	}
	return out
}

// records is how many records the log has.
func (o *outlets) records() (n int64) {
	o.t.Helper()
	sealer, err := sealerOf(o.places[0])
	if err != nil {
		o.t.Fatal(err)
	}
	s, err := postgres.Open(o.t.Context(), postgres.Options{DSN: o.dsn, Sealer: sealer, Connections: 1})
	if err != nil {
		o.t.Fatal(err)
	}
	defer s.Close()
	last, err := s.Records(o.t.Context(), audit.Filter{Limit: 1})
	if err != nil || len(last) == 0 {
		o.t.Fatalf("%+v, %v", last, err)
	}
	return last[0].Seq
}

func sealerOf(p *place) (*keys.Sealer, error) {
	ring, err := keys.OpenRing(p.home.Keys())
	if err != nil {
		return nil, err
	}
	return ring.Sealer()
}

// caughtUp waits until every sink has been told as many events as there are,
// at least one for each record, and returns how often each was told.
func (o *outlets) caughtUp(what string) (lines, hook, collector map[string]int) {
	o.t.Helper()
	o.places[0].until(what, func() bool {
		n := o.records()
		lines, hook = o.lines(), o.hook.all()
		collector = o.collected(lines)
		return int64(len(lines)) >= n && len(hook) == len(lines) && len(collector) == len(lines) && o.records() == n
	})
	return lines, hook, collector
}

// TestSinksOfTwoGatewaysOnOneDatabase: each event reaches each sink once while
// both gateways are well; what one cannot take waits, and both say so; of a
// gateway that dies the other takes over, and tells again at most what was on
// its way.
func TestSinksOfTwoGatewaysOnOneDatabase(t *testing.T) {
	t.Parallel()
	o := newOutlets(t)
	var agents []agent
	for _, g := range o.gateways {
		agents = append(agents, agent{ClientSession: g.client("2026-07-28")})
	}
	for i := range 8 {
		o.places[i%2].call(agents[i%2], "add", `{"text":"canary-`+string(rune('a'+i))+`"}`, "")
	}
	lines, hook, collector := o.caughtUp("each sink has all events")
	for name, counts := range map[string]map[string]int{"file": lines, "webhook": hook, "collector": collector} {
		for id, n := range counts {
			if n != 1 {
				t.Errorf("%s was told %s %d times", name, id, n)
			}
		}
	}

	o.hook.away.Store(true)
	o.places[1].call(agents[1], "add", `{"text":"canary-away"}`, "")
	for i, p := range o.places {
		p.until("the lag shows at each gateway", func() bool {
			page := p.metrics()
			return strings.Contains(page, `verbatim_sink_lag_records{sink="lines"} 0`) && strings.Contains(page, `verbatim_sink_lag_records{sink="hook"}`) &&
				!strings.Contains(page, `verbatim_sink_lag_records{sink="hook"} 0`)
		})
		if out, err := p.command("status").CombinedOutput(); err != nil || !strings.Contains(string(out), "hook") {
			t.Errorf("gateway %d: %v %s", i, err, out)
		}
	}
	before := len(lines)
	o.hook.away.Store(false)

	o.places[0].kill()
	_ = o.gateways[0].cmd.Wait() // it was killed
	o.server.Exec(t, "DO $$ DECLARE s TEXT; BEGIN FOR s IN SELECT schemaname FROM pg_tables WHERE tablename = 'follower' LOOP "+
		"EXECUTE format('UPDATE %I.follower SET until = 1', s); END LOOP; END $$") // a minute later
	o.places[1].call(agents[1], "add", `{"text":"canary-after"}`, "")
	lines, hook, collector = o.caughtUp("the other gateway went on")
	for name, counts := range map[string]map[string]int{"file": lines, "webhook": hook, "collector": collector} {
		again := 0
		for _, n := range counts {
			again += n - 1
		}
		if len(counts) <= before || again > len(counts)-before {
			t.Errorf("%s: %d events, %d before, %d told again", name, len(counts), before, again)
		}
	}
	o.collector.mu.Lock()
	defer o.collector.mu.Unlock()
	if strings.Contains(string(o.collector.got["/v1/logs"]), "canary") {
		t.Error("a value left")
	}
}
