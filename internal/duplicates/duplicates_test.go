package duplicates_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
)

const (
	gateways   = 3
	duplicates = 64 // calls of one proposal
	atOnce     = 6  // proposals under way
)

// proposals is how many calls there are, each made 64 times.
func proposals(t *testing.T) int {
	t.Helper()
	if text := os.Getenv("VERBATIM_DUPLICATES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if testing.Short() {
		return 20
	}
	return 50
}

// reporter takes faults.
type reporter interface {
	Errorf(format string, args ...any)
}

// process is the parent's end of one gateway.
type process struct {
	in    io.WriteCloser
	mu    sync.Mutex
	next  int
	waits map[int]chan answer
}

func launch(t *testing.T, dsn, effects, plant string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestGateway$")
	cmd.Env = append(os.Environ(), order+"="+strings.Join([]string{dsn, effects, plant}, "\n"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{in: in, waits: map[int]chan answer{}}
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		p.listen(out)
	}()
	t.Cleanup(func() {
		_ = in.Close()
		<-listened
		if err := cmd.Wait(); err != nil {
			t.Errorf("a gateway ended with %v: %s", err, stderr.String())
		}
	})
	return p
}

func (p *process) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "answer ")
		var a answer
		if !ok || json.Unmarshal([]byte(text), &a) != nil {
			continue
		}
		p.mu.Lock()
		wait := p.waits[a.ID]
		delete(p.waits, a.ID)
		p.mu.Unlock()
		wait <- a
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, wait := range p.waits {
		wait <- answer{Error: "the gateway has ended"}
	}
	p.waits = nil
}

func (p *process) ask(r request) answer {
	wait := make(chan answer, 1)
	p.mu.Lock()
	if p.waits == nil {
		p.mu.Unlock()
		return answer{Error: "the gateway has ended"}
	}
	p.next++
	r.ID = p.next
	p.waits[r.ID] = wait
	text, err := json.Marshal(r)
	if err == nil {
		_, err = p.in.Write(append(text, '\n'))
	}
	p.mu.Unlock()
	if err != nil {
		return answer{Error: err.Error()}
	}
	return <-wait
}

// TestEveryCallTakesEffectOnce: of each proposal, 64 calls are made through
// three gateways. Half of the proposals carry a key, and their calls come all
// at once; the others carry none, and the further calls come while the first,
// whose caller has gone, still runs.
func TestEveryCallTakesEffectOnce(t *testing.T) {
	if os.Getenv(order) != "" {
		return // a gateway
	}
	t.Parallel()
	n := proposals(t)
	start := time.Now()
	dsn := storm(t, t, n, "")
	took := time.Since(start)
	stored(t, dsn, n)
	t.Logf("%d proposals, %d calls, %d gateways: %d effects in %s (%.0f calls/s)", n, n*duplicates, gateways, n, took.Round(time.Second),
		float64(n*duplicates)/took.Seconds())
}

// noted are faults that are wanted.
type noted struct {
	mu   sync.Mutex
	list []string
}

func (f *noted) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, fmt.Sprintf(format, args...))
}

// TestGatewayThatForgetsIsFound: gateways whose store keeps no key, or finds
// no run that a call repeats.
func TestGatewayThatForgetsIsFound(t *testing.T) {
	if os.Getenv(order) != "" {
		return // a gateway
	}
	t.Parallel()
	for _, plant := range []string{plantNoKey, plantNoJoin} {
		f := &noted{}
		storm(t, f, 2, plant)
		twice := false
		for _, fault := range f.list {
			twice = twice || strings.Contains(fault, "took effect")
		}
		if !twice {
			t.Errorf("%s: no second effect was found: %v", plant, f.list)
		}
	}
}

// storm makes all calls and holds the effects to them.
func storm(t *testing.T, to reporter, n int, plant string) (dsn string) {
	t.Helper()
	dsn, effects := pgtest.Start(t).Schema(t), filepath.Join(t.TempDir(), "effects")
	all := make([]*process, gateways)
	for i := range all {
		all[i] = launch(t, dsn, effects, plant)
	}
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range numbers {
				if i%2 == 0 {
					keyed(to, all, i)
				} else {
					unkeyed(to, all, i)
				}
			}
		}()
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	workers.Wait()
	text, err := os.ReadFile(effects)
	if err != nil {
		t.Fatal(err)
	}
	once(to, string(text), n)
	return dsn
}

// together makes calls at all gateways at once.
func together(all []*process, calls int, r request) []answer {
	out := make([]answer, calls)
	var wg sync.WaitGroup
	for i := range out {
		wg.Add(1)
		go func() {
			defer wg.Done()
			out[i] = all[i%len(all)].ask(r)
		}()
	}
	wg.Wait()
	return out
}

func keyed(t reporter, all []*process, n int) {
	r := request{N: n, Key: fmt.Sprintf("key-%d", n)}
	ran, output := 0, ""
	for _, a := range together(all, duplicates-1, r) {
		switch {
		case a.Error == "" && a.Status == verbatim.StatusInProgress:
			continue
		case a.Error != "" || a.Status != verbatim.StatusOK || output != "" && a.Output != output:
			t.Errorf("proposal %d: %+v beside the output %s", n, a, output)
		case !a.Replayed && !a.Joined:
			ran++
		}
		output = a.Output
	}
	last := all[n%len(all)].ask(r) // whichever gateway ran it
	if ran != 1 || last.Status != verbatim.StatusOK || !last.Replayed || last.Output != output {
		t.Errorf("proposal %d ran %d times and answered %s; the stored answer is %+v", n, ran, output, last)
	}
}

func unkeyed(t reporter, all []*process, n int) {
	home := all[n%len(all)]
	r := request{N: n, Hold: true}
	first := r
	first.Leave = true
	if a := home.ask(first); a.Error != "" || a.Status != verbatim.StatusInProgress {
		t.Errorf("proposal %d, whose caller went: %+v", n, a)
	}
	for _, a := range together(all, duplicates-1, r) {
		if a.Error != "" || a.Status != verbatim.StatusInProgress || !a.Joined {
			t.Errorf("proposal %d, again: %+v", n, a)
		}
	}
	home.ask(request{N: n, Release: true})
}

// once: the file of effects has a line for each proposal.
func once(t reporter, effects string, n int) {
	seen := map[string]int{}
	for _, line := range strings.Fields(effects) {
		seen[line]++
	}
	for i := range n {
		if got := seen[strconv.Itoa(i)]; got != 1 {
			t.Errorf("proposal %d took effect %d times", i, got)
		}
	}
	if len(seen) != n {
		t.Errorf("%d proposals took effect, want %d", len(seen), n)
	}
}

// stored: the database has one row, one attempt and one result for each.
func stored(t *testing.T, dsn string, n int) {
	t.Helper()
	ctx := context.Background()
	db, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(ctx)
	for _, q := range []struct {
		what, sql string
		want      int
	}{
		{"rows", "SELECT count(*) FROM action", n},
		{"fingerprints", "SELECT count(DISTINCT fingerprint) FROM action", n},
		{"attempts", "SELECT count(*) FROM attempt", n},
		{"keys", "SELECT count(*) FROM idempotency", (n + 1) / 2},
		{"results", "SELECT count(p.result) FROM action a JOIN payload p ON p.action_seq = a.seq WHERE a.state = 'succeeded'", n},
	} {
		got := -1
		for end := time.Now().Add(30 * time.Second); got != q.want && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if err := db.QueryRow(ctx, q.sql).Scan(&got); err != nil { // the last runs may still be ending
				t.Fatal(err)
			}
		}
		if got != q.want {
			t.Errorf("%d %s, want %d", got, q.what, q.want)
		}
	}
}
