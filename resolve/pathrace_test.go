package resolve_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

// pathRounds holds how many rounds the race of links takes; 10,000 where it is
// unset, 500 in a short run.
const pathRounds = "VERBATIM_PATH_ROUNDS"

func pathRule(p *resolve.Path) []resolve.Rule {
	return []resolve.Rule{{Name: "files", Resolver: p, From: map[string]string{"value": "/path"}, Into: map[string]string{"value": "/path"}}}
}

func point(t testing.TB, link, target string) {
	t.Helper()
	if err := os.Symlink(target, link+".next"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+".next", link); err != nil {
		t.Fatal(err)
	}
}

// The tool gets where the link led at the decision, and the answer at the run
// differs when the link has moved.
func TestPathN01N03LinkThatMovesIsSeen(t *testing.T) {
	t.Parallel()
	for _, later := range []string{"v2", "../outside", "/etc", "nowhere", "cur"} {
		root := tree(t, "v1/f", "v2/f", "../outside/f", "cur -> v1")
		rules := pathRule(paths(t, resolve.PathOptions{Roots: []string{root}, Base: root}))
		args := canon.ObjectValue(canon.Member{Name: "path", Value: canon.StringValue("cur/f")})
		frozen, _, before, err := resolve.Apply(t.Context(), rules, args, noon)
		if err != nil {
			t.Fatal(err)
		}
		if want := `{"path":"` + root + `/v1/f"}`; string(frozen.Canonical()) != want {
			t.Errorf("N01: got %s, want %s", frozen.Canonical(), want)
		}
		if _, _, again, err := resolve.Apply(t.Context(), rules, args, noon); err != nil {
			t.Error(err)
		} else if at, same := resolve.Compare(before, again); !same {
			t.Errorf("nothing moved, but %s differs", at)
		}
		point(t, filepath.FromSlash(root+"/cur"), later)
		_, _, again, err := resolve.Apply(t.Context(), rules, args, noon)
		if _, same := resolve.Compare(before, again); same {
			t.Errorf("N03: link moved to %s is not seen, %v", later, err)
		}
	}
}

// While links and folders are swapped as fast as the system can, a run that
// asks again and opens the answer reads what was decided on, or nothing; never
// what lies outside, nor another file inside.
func TestPathRaceLetsNothingEscape(t *testing.T) {
	t.Parallel()
	rounds := 10_000
	if testing.Short() {
		rounds = 500
	}
	if text := os.Getenv(pathRounds); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s: %v", pathRounds, err)
		}
		rounds = n
	}
	root := tree(t, "v1/f", "v2/f", "../outside/f", "cur -> v1", "d/f")
	p := paths(t, resolve.PathOptions{Roots: []string{root}, Base: root})
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		swap(root, stop)
	}()
	refused, moved, unread, read := 0, 0, 0, 0
	for i := range rounds {
		text := [...]string{"cur/f", "d/f", root + "/cur/../cur/f"}[i%3]
		args := canon.ObjectValue(canon.Member{Name: "path", Value: canon.StringValue(text)})
		frozen, _, before, err := resolve.Apply(t.Context(), pathRule(p), args, noon)
		if err != nil {
			refused++
			continue
		}
		runtime.Gosched()
		_, _, again, err := resolve.Apply(t.Context(), pathRule(p), args, noon)
		if _, same := resolve.Compare(before, again); err != nil || !same {
			moved++
			continue
		}
		at, _ := frozen.Get("path")
		content, err := openReal(p, at.Text())
		if err != nil {
			unread++
			continue
		}
		if want := strings.TrimPrefix(at.Text(), root+"/"); content != want {
			t.Fatalf("round %d: decided on %s, read the content of %s", i, want, content)
		}
		read++
	}
	close(stop)
	<-stopped
	t.Logf("%d rounds: %d refused, %d moved, %d could not be opened, %d read what was decided on", rounds, refused, moved, unread, read)
}

// swap moves the link between two folders inside and one outside, and puts a
// link to the outside or inside in the place of a folder and back. Errors only mean
// that the next turn tries again.
func swap(root string, stop <-chan struct{}) {
	cur, d := filepath.FromSlash(root+"/cur"), filepath.FromSlash(root+"/d")
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		target := [...]string{"v1", "v2", "../outside"}[i%3]
		if os.Symlink(target, cur+".next") == nil {
			_ = os.Rename(cur+".next", cur)
		}
		_ = os.Rename(d, d+".away")
		_ = os.Symlink([...]string{"../outside", "v2"}[i%2], d)
		_ = os.Remove(d)
		_ = os.Rename(d+".away", d)
	}
}

// openReal reads an answer as a tool in Go should.
func openReal(p *resolve.Path, answer string) (string, error) {
	f, err := p.OpenFile(answer, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	return string(text), err
}
