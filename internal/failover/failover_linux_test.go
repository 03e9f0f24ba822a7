package failover_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
)

// setting is a number of the environment, or another one.
func setting(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s is no number", variable)
	}
	return n
}

// newScene starts servers, gateways and callers.
func newScene(t *testing.T, sync bool) (*scene, string) {
	t.Helper()
	seed := uint64(setting(t, "VERBATIM_FAILOVER_SEED", int(time.Now().UnixNano()%1_000_000)))
	t.Logf("VERBATIM_FAILOVER_SEED=%d", seed)
	c := newCluster(t, sync)
	people(t, c)
	home := t.TempDir()
	providers := filepath.Join(home, "providers")
	if err := os.Mkdir(providers, 0o700); err != nil {
		t.Fatal(err)
	}
	var all []*process
	for i := range gateways {
		all = append(all, supervise(t, i, place{DSN: c.front(i), Dir: filepath.Join(home, "gate"+strconv.Itoa(i)), Provider: providers, Sync: sync}))
	}
	t.Cleanup(func() {
		if t.Failed() {
			logs(t, all)
		}
	})
	s := &scene{cluster: c, driver: newDriver(all, setting(t, "VERBATIM_FAULT_CALLERS", callers)), draw: rand.New(rand.NewPCG(seed, 1)), stopped: -1}
	s.works(time.Minute)
	return s, providers
}

func people(t *testing.T, c *cluster) {
	t.Helper()
	s, err := openStore(c.dsn(c.primary), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"ada", "bob"} {
		if err := s.AddAccount(t.Context(), auth.Account{ID: name, Name: name, Key: auth.FoldName(name), Tenant: tenant, Principal: name,
			Groups: []string{"admin"}, PasswordHash: "none", Active: true, CreatedAt: time.Now(), PasswordAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
}

// logs shows the ends of what the gateways said.
func logs(t *testing.T, all []*process) {
	for _, p := range all {
		b, _ := os.ReadFile(p.log())
		t.Logf("gateway %d:\n%s", p.number, b[max(0, len(b)-3000):])
	}
}

// works waits until calls run again.
func (s *scene) works(patience time.Duration) {
	s.Helper()
	had := s.good.Load()
	for end := time.Now().Add(patience); s.good.Load() < had+5; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatal("no call runs any more")
		}
	}
}

// stopOne stops a gateway until the leases of its runs are over and lets it go
// on then. It returns a function that waits for that and counts it. Short
// runs have no time for it.
func (s *scene) stopOne() (over func(n *int)) {
	if testing.Short() {
		return func(*int) {}
	}
	i, until := s.draw.IntN(gateways), time.Now().Add(leaseOver)
	s.stopped = i
	s.gateways[i].signal(syscall.SIGSTOP)
	time.AfterFunc(time.Until(until), func() { s.gateways[i].signal(syscall.SIGCONT) })
	return func(n *int) {
		time.Sleep(time.Until(until.Add(time.Second)))
		s.stopped = -1
		s.stops++
		*n++
	}
}

// harm does one fault, waits until calls run again, and says for how long
// none did.
func (s *scene) harm(f fault) time.Duration {
	s.Helper()
	begun := time.Now()
	f.do(s)
	s.works(time.Minute)
	return s.silence(begun)
}

// finish ends the calls and judges.
func (s *scene) finish(providers string) verdict {
	s.Helper()
	s.driver.end()
	for _, p := range s.gateways {
		p.signal(syscall.SIGCONT)
		if err := p.end(); err != nil {
			s.Errorf("gateway %d ended with %v", p.number, err)
		}
	}
	return judge(s.T, s.cluster, s.driver, providers)
}

func TestNoFaultMakesACallTakeEffectTwice(t *testing.T) {
	if os.Getenv(order) != "" {
		return // a gateway
	}
	t.Parallel()
	s, providers := newScene(t, true)
	wanted, done := setting(t, "VERBATIM_FAULTS", len(faults())+1), map[string]int{}
	if testing.Short() {
		wanted = 4
	}
	var away []time.Duration
	n := 0
	for n < wanted {
		round := faults()
		s.draw.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		round = round[:min(len(round), wanted-n)]
		over := s.stopOne()
		for _, f := range round {
			n++
			quiet := s.harm(f)
			away, done[f.name] = append(away, quiet), done[f.name]+1
			t.Logf("%3d %s: no call ran for %s", n, f.name, quiet.Round(time.Millisecond))
		}
		over(&n)
	}
	v := s.finish(providers)
	slices.Sort(away)
	t.Logf("%d faults: %v, gateway stopped past its lease: %d; commits that lied: %d, rows of theirs that others saw: %d; full disks that ended the primary: %d; gateways started: %d",
		n, done, s.stops, s.lies, v.undone, s.fulls, lives(s.gateways))
	t.Logf("%d calls, %d rows, %d effects: %v; of the times in which none ran the longest is %s, the middle %s", v.calls, total(v), v.happen, v.rows,
		away[len(away)-1].Round(time.Millisecond), away[len(away)/2].Round(time.Millisecond))
	for _, what := range slices.Concat(v.double, v.lost, v.untrue) {
		t.Error(what)
	}
	if v.undone > int(s.lies) {
		t.Errorf("%d rows that were under way are gone, and %d commits lied", v.undone, s.lies)
	}
}

func lives(all []*process) (n int) {
	for _, p := range all {
		p.mu.Lock()
		n += p.lives
		p.mu.Unlock()
	}
	return n
}

func total(v verdict) (n int) {
	for _, rows := range v.rows {
		n += rows
	}
	return n
}

// TestFailoverWithoutSyncIsSeenToLose: the same callers and the same judge,
// with standbys that commits do not wait for.
func TestFailoverWithoutSyncIsSeenToLose(t *testing.T) {
	if os.Getenv(order) != "" {
		return // a gateway
	}
	t.Parallel()
	s, providers := newScene(t, false)
	for range setting(t, "VERBATIM_FAULTS_CONTROL", 2) {
		lag(s)
		s.works(time.Minute)
	}
	v := s.finish(providers)
	t.Logf("%d calls, %d rows, %d effects: %d proposals took effect twice, %d answers were lost, %d states are not true", v.calls, total(v),
		v.happen, len(v.double), len(v.lost), len(v.untrue))
	if len(v.double)+len(v.lost) == 0 {
		t.Error("nothing was lost: this test is blind")
	}
}
