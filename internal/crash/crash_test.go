package crash_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/seed-de4804fb/verbatim/catalog"
)

// way is a scene with an effect class that leads through a point.
type way struct {
	scene  string
	effect catalog.EffectClass
}

// ways lists, for each point, the ways that lead through it, found by walking
// each of them once without an end.
func ways(t *testing.T) map[string][]way {
	t.Helper()
	walking.Lock()
	defer walking.Unlock()
	if walked == nil {
		walked = walkAll(t)
	}
	return walked
}

// What ways has found; the tests share it.
var (
	walking sync.Mutex
	walked  map[string][]way
)

func walkAll(t *testing.T) map[string][]way {
	t.Helper()
	out := map[string][]way{}
	dir := t.TempDir()
	n := 0
	for scene, play := range scenes() {
		for _, effect := range []catalog.EffectClass{catalog.Keyed, catalog.KeyedCancel, catalog.Queryable, catalog.Natural, catalog.Blind} {
			n++
			r := run{Dir: dir, Provider: filepath.Join(dir, "provider"+strconv.Itoa(n)), Effect: effect, Scene: scene, N: n}
			var mu sync.Mutex
			seen := map[string]bool{}
			w := open(t, r, 0, func(point string) { mu.Lock(); seen[point] = true; mu.Unlock() })
			w.lose("", nil)
			play(t.Context(), w)
			w.gate.Wait()
			w.close(t)
			for point := range seen {
				out[point] = append(out[point], way{scene, effect})
			}
		}
	}
	return out
}

// many is how often each point is tried; more where the environment says so.
func many(t *testing.T, name string, n int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return n
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// tally counts what runs have shown.
type tally struct {
	mu   sync.Mutex
	hits map[string]int
	runs int
	bad  []string
}

func (l *tally) add(r run, hit bool, v verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs++
	if hit {
		l.hits[r.Point]++
	}
	for _, text := range v {
		l.bad = append(l.bad, fmt.Sprintf("%s %s, %s: %s", r.Scene, r.Effect, r.Point, text))
	}
}

// trial runs one child to its end and judges.
func trial(t *testing.T, l *tally, r run) {
	t.Helper()
	c := start(t, r)
	answers, hit := c.listen(t, "")
	_ = c.Wait()
	l.add(r, hit, recovered(t, r, answers))
	if err := os.Remove(r.Provider); err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
}

// TestKilledAtEachPoint ends a process at every point of the walk, in turns,
// and starts anew on the same store.
func TestKilledAtEachPoint(t *testing.T) {
	t.Parallel()
	each := many(t, "VERBATIM_CRASHES", 1)
	l := &tally{hits: map[string]int{}}
	killEach(t, l, each, func(worker int) run { return run{Dir: t.TempDir()} })
	report(t, l, each)
}

// workers is how many children run at once, each on a store of its own.
const workers = 2

func killEach(t *testing.T, l *tally, each int, base func(worker int) run) {
	t.Helper()
	known := ways(t)
	jobs := make(chan run)
	var all sync.WaitGroup
	for worker := range workers {
		r := base(worker)
		scratch := t.TempDir()
		all.Go(func() {
			n := 0
			for job := range jobs {
				n++
				job.Dir, job.Postgres, job.N = r.Dir, r.Postgres, r.N+n
				job.Provider = filepath.Join(scratch, "provider"+strconv.Itoa(n))
				trial(t, l, job)
			}
		})
	}
	for turn := range each {
		for _, point := range points() {
			if len(known[point]) == 0 {
				t.Errorf("no scene leads through %q", point)
				continue
			}
			w := known[point][turn%len(known[point])]
			jobs <- run{Effect: w.effect, Scene: w.scene, Point: point}
		}
	}
	close(jobs)
	all.Wait()
}

func report(t *testing.T, l *tally, each int) {
	t.Helper()
	for _, text := range l.bad {
		t.Error(text)
	}
	fewest := l.runs
	for _, point := range points() {
		if l.hits[point] < each {
			t.Errorf("%q was hit %d times of %d", point, l.hits[point], each)
		}
		fewest = min(fewest, l.hits[point])
	}
	t.Logf("%d runs, %d points, each hit at least %d times; %d faults", l.runs, len(points()), fewest, len(l.bad))
}

// TestPlantedFaultsAreFound: a check that has never failed proves nothing.
func TestPlantedFaultsAreFound(t *testing.T) {
	t.Parallel()
	for plant, point := range map[string]string{plantEarlyResult: "tool arrive", plantNoStart: "tool answered"} {
		l := &tally{hits: map[string]int{}}
		dir := t.TempDir()
		trial(t, l, run{Dir: dir, Provider: filepath.Join(dir, "provider"), Effect: catalog.Blind, Scene: "allowed", Point: point, Plant: plant, N: 1})
		if l.hits[point] != 1 || len(l.bad) == 0 {
			t.Errorf("%s: not found (%d hits)", plant, l.hits[point])
		}
		t.Logf("%s: %v", plant, l.bad)
	}
}
