package resolve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/resolve"
)

// tree makes a folder "root" full of traps, with siblings outside of it, and
// returns its real path. Names ending in a slash are folders; "a -> b" is a
// link, with ROOT for the absolute path of the root.
func tree(t testing.TB, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "root")
	for _, name := range append([]string{"./"}, names...) {
		link, target, isLink := strings.Cut(name, " -> ")
		at := filepath.Join(root, filepath.FromSlash(link))
		parent := filepath.Dir(at)
		if strings.HasSuffix(name, "/") && !isLink {
			parent = at
		}
		if err := os.MkdirAll(parent, 0o700); err != nil {
			t.Fatal(err)
		}
		switch {
		case isLink:
			err = os.Symlink(filepath.FromSlash(strings.ReplaceAll(target, "ROOT", filepath.ToSlash(root))), at)
		case !strings.HasSuffix(name, "/"):
			err = os.WriteFile(at, []byte(name), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.ToSlash(root)
}

func paths(t testing.TB, opt resolve.PathOptions) *resolve.Path {
	t.Helper()
	p, err := resolve.NewPath(opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// chain is a link to a behind last others.
func chain(last int) []string {
	links := []string{"chain0 -> a"}
	for i := range last {
		links = append(links, fmt.Sprintf("chain%d -> chain%d", i+1, i))
	}
	return links
}

var trapped = []string{
	"a/file.txt", "a/b/deep.txt", "safe/ok.txt", "with space.txt", "...", "%2e%2e/x", "$HOME/x", "-rf", "aux.c", "12:30.log",
	"тест.txt", "отчёт_final.txt", "b\u00e9ta.txt", "file-用.txt", "\u0131\u015f\u0131k.txt",
	"../outside/secret.txt", "../root-evil/secret.txt",
	"link -> a", "file -> a/file.txt", "absolute -> ROOT/a", "deep -> a/b", "sibling -> safe", "here -> .", "twice -> link/b", "back -> a/b/../..",
	"out -> ../outside", "outfile -> ../outside/secret.txt", "outabs -> /etc", "evil -> ../root-evil", "up -> ..", "top -> /", "a/upup -> ../..", "through -> ../outside/../root/a",
	"dangling -> nowhere", "danglingdir -> nowhere/", "danglingout -> ../outside/new", "loop -> loop", "ping -> pong", "pong -> ping", "null -> /dev/null", "self -> /proc/self/root",
	"authoriz -> \u0430uthorized", "\u0430uthorized", "bidi\u202etxt.exe", "zero\u200bwidth", "filler\u3164", "a\u2215b", "bidilink -> bidi\u202etxt.exe",
}

func TestPathIsReal(t *testing.T) {
	t.Parallel()
	root := tree(t, append(chain(39), trapped...)...)
	p := paths(t, resolve.PathOptions{Roots: []string{root}, Base: root + "/a"})
	for _, c := range []struct{ name, text, want string }{
		{"as it is", "ROOT/a/file.txt", "/a/file.txt"},
		{"the root", "ROOT", ""},
		{"the root with a slash", "ROOT/", ""},
		{"dots", "ROOT/./a/././file.txt", "/a/file.txt"},
		{"slashes", "ROOT//a///file.txt", "/a/file.txt"},
		{"slashes in front", "//ROOT/a", "/a"},
		{"folder with a slash", "ROOT/a/", "/a"},
		{"folder with a dot", "ROOT/a/.", "/a"},
		{"up and down", "ROOT/a/../a/file.txt", "/a/file.txt"},
		{"up at the end", "ROOT/a/b/..", "/a"},
		{"up above the top", "/../../ROOT/a", "/a"},
		{"out and in again", "ROOT/../root/a", "/a"},
		{"relative", "file.txt", "/a/file.txt"},
		{"relative with a dot", "./file.txt", "/a/file.txt"},
		{"relative and up", "../safe/ok.txt", "/safe/ok.txt"},
		{"the base", ".", "/a"},
		{"link to a folder", "ROOT/link", "/a"},
		{"through a link", "ROOT/link/file.txt", "/a/file.txt"},
		{"link to a file", "ROOT/file", "/a/file.txt"},
		{"absolute link", "ROOT/absolute/b/deep.txt", "/a/b/deep.txt"},
		{"link to a link", "ROOT/twice/deep.txt", "/a/b/deep.txt"},
		{"link to here, many times", "ROOT" + strings.Repeat("/here", 20) + "/a", "/a"},
		{"forty links", "ROOT/chain39", "/a"},
		{"link with dots", "ROOT/back/a", "/a"},
		{"link that goes out and in again", "ROOT/through", "/a"},
		{"up behind a link, one reading", "ROOT/sibling/../a", "/a"},
		{"up behind an absolute link, one reading", "ROOT/absolute/b/../../a/file.txt", "/a/file.txt"},
		{"space", "ROOT/with space.txt", "/with space.txt"},
		{"three dots are a name", "ROOT/...", "/..."},
		{"percent signs are no dots", "ROOT/%2e%2e/x", "/%2e%2e/x"},
		{"dollars are no variables", "ROOT/$HOME/x", "/$HOME/x"},
		{"hyphen", "ROOT/-rf", "/-rf"},
		{"one script in each word", "ROOT/отчёт_final.txt", "/отчёт_final.txt"},
		{"a script that has look-alikes", "ROOT/тест.txt", "/тест.txt"},
		{"scripts that stand together", "ROOT/file-用.txt", "/file-用.txt"},
		{"accents", "ROOT/b\u00e9ta.txt", "/b\u00e9ta.txt"},
		{"dotless i", "ROOT/\u0131\u015f\u0131k.txt", "/\u0131\u015f\u0131k.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := said(t, p, strings.ReplaceAll(c.text, "ROOT", root))
			if err != nil || got != root+c.want {
				t.Fatalf("got %s, %v, want %s", got, err, root+c.want)
			}
			if again, err := said(t, p, got); err != nil || again != got {
				t.Errorf("%s is not its own answer: %s, %v", got, again, err)
			}
		})
	}
}

func TestPathRefuses(t *testing.T) {
	t.Parallel()
	root := tree(t, append(chain(40), trapped...)...)
	p := paths(t, resolve.PathOptions{Roots: []string{root}, Base: root + "/a"})
	const bad, unresolved, ambiguous = "path /value", "target_unresolved /value", "target_ambiguous /value"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", bad},
		{"NUL", "ROOT/a\x00.txt", bad},
		{"line", "ROOT/a\n", bad},
		{"carriage return", "ROOT/a\r", bad},
		{"tab", "ROOT/a\t", bad},
		{"escape", "ROOT/\x1b[2Ja", bad},
		{"delete", "ROOT/a\x7f", bad},
		{"C1 control", "ROOT/a\u0085", bad},
		{"from right to left", "ROOT/bidi\u202etxt.exe", bad},
		{"zero width", "ROOT/zero\u200bwidth", bad},
		{"byte order mark", "\ufeffROOT/a", bad},
		{"soft hyphen", "ROOT/sa\u00adfe", bad},
		{"variation selector", "ROOT/safe\ufe0f", bad},
		{"filler that is a letter", "ROOT/filler\u3164", bad},
		{"private use", "ROOT/\ue000", bad},
		{"line separator", "ROOT/a\u2028b", bad},
		{"backslashes", `ROOT\a\file.txt`, bad},
		{"backslashes and dots", `ROOT/..\..\etc`, bad},
		{"division slash", "ROOT/a\u2215b", bad},
		{"full-width slash", "ROOT/a\uff0fb", bad},
		{"fraction slash", "ROOT/..\u2044outside", bad},
		{"full-width backslash", "ROOT/a\uff3cb", bad},
		{"C01 mixed word", "ROOT/\u0430uthorized", bad},
		{"C01 Greek in Latin", "ROOT/s\u03b1fe", bad},
		{"home", "~", bad},
		{"home of somebody", "~root/.ssh", bad},
		{"below home", "~/../etc/passwd", bad},
		{"longer than a path", "ROOT/" + strings.Repeat("a/", 2048), bad},
		{"longer than a name", "ROOT/" + strings.Repeat("a", 256), bad},

		{"not there", "ROOT/nothing", unresolved},
		{"not there in a folder that is not", "ROOT/nothing/nothing", unresolved},
		{"through what is not there", "ROOT/nothing/../a", unresolved},
		{"relative and not there", "nothing", unresolved},
		{"file with a slash", "ROOT/a/file.txt/", unresolved},
		{"file with a dot", "ROOT/a/file.txt/.", unresolved},
		{"file as a folder", "ROOT/a/file.txt/x", unresolved},
		{"up from a file", "ROOT/a/file.txt/../file.txt", unresolved},
		{"link to a file with a slash", "ROOT/file/", unresolved},
		{"another place", "/etc/passwd", unresolved},
		{"another place that is not there", "/nothing/at/all", unresolved},
		{"the top", "/", unresolved},
		{"the parent", "ROOT/..", unresolved},
		{"up and out", "ROOT/../outside/secret.txt", unresolved},
		{"far up and out", "ROOT/" + strings.Repeat("../", 100) + "etc/passwd", unresolved},
		{"relative and out", "../../outside/secret.txt", unresolved},
		{"up in the middle", "ROOT/a/../../outside/secret.txt", unresolved},
		{"sibling with the same start", "ROOT-evil/secret.txt", unresolved},
		{"link out", "ROOT/out", unresolved},
		{"through a link out", "ROOT/out/secret.txt", unresolved},
		{"link to a file outside", "ROOT/outfile", unresolved},
		{"absolute link out", "ROOT/outabs/passwd", unresolved},
		{"link to the sibling with the same start", "ROOT/evil/secret.txt", unresolved},
		{"link to the parent", "ROOT/up/outside/secret.txt", unresolved},
		{"link to the top", "ROOT/top/etc/passwd", unresolved},
		{"link below to above", "ROOT/a/upup/outside/secret.txt", unresolved},
		{"link to itself", "ROOT/loop", unresolved},
		{"through a link to itself", "ROOT/loop/x", unresolved},
		{"two links in a circle", "ROOT/ping", unresolved},
		{"too many links", "ROOT/chain40", unresolved},
		{"too many links, one after the other", "ROOT" + strings.Repeat("/here", 41), unresolved},
		{"link to nothing", "ROOT/dangling", unresolved},
		{"link to a device", "ROOT/null", unresolved},
		{"link of the process", "ROOT/self/etc/passwd", unresolved},
		{"link to nothing outside", "ROOT/danglingout", unresolved},
		{"device", "/dev/null", unresolved},
		{"open file of the process", "/proc/self/fd/0", unresolved},
		{"folder of the process", "/proc/self/cwd", unresolved},
		{"encoded dots", "ROOT/%2e%2e/outside/secret.txt", unresolved},
		{"dots encoded twice", "ROOT/%252e%252e/outside", unresolved},
		{"dots with a space", "ROOT/.. /outside/secret.txt", unresolved},
		{"dots with spaces around", "ROOT/ ../outside/secret.txt", unresolved},
		{"dots that look like dots", "ROOT/\u2024\u2024/outside", unresolved},
		{"variable", "$HOME/.ssh", unresolved},
		{"Windows variable", "%USERPROFILE%/.ssh", unresolved},
		{"URL", "file:///etc/passwd", unresolved},
		{"URL of the root", "file://ROOT/a", unresolved},
		{"drive", "C:/Windows", unresolved},
		{"stream", "ROOT/a/file.txt::$DATA", unresolved},
		{"Windows device", "ROOT/a/CON", unresolved},
		{"space behind", "ROOT/a ", unresolved},
		{"space before", " ROOT/a", unresolved},
		{"dot behind", "ROOT/a.", unresolved},
		{"glob", "ROOT/*", unresolved},
		{"braces", "ROOT/{a,safe}", unresolved},
		{"option", "--file=ROOT/a", unresolved},
		{"decomposed accents", "ROOT/be\u0301ta.txt", unresolved},
		{"C01 link to a mixed word", "ROOT/authoriz", unresolved},
		{"link to a hidden name", "ROOT/bidilink", unresolved},

		{"up behind a link, two readings", "ROOT/deep/../file.txt", ambiguous},
		{"up behind a link that is shortened away", "ROOT/deep/../../a", ambiguous},
		{"up behind a link out", "ROOT/out/../root/a", ambiguous},
		{"up twice behind a link", "ROOT/twice/../..", ambiguous},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := said(t, p, strings.ReplaceAll(c.text, "ROOT", root))
			if err == nil {
				t.Fatalf("resolved to %s", got)
			}
			if r := refusal(t, err); r != c.want {
				t.Errorf("got %s, want %s", r, c.want)
			}
		})
	}
	for _, args := range []string{`{"value":5}`, `{"value":null}`, `{"value":["/"]}`, `{}`} {
		if _, err := answerTo(t, p, args); err == nil || refusal(t, err) != bad {
			t.Errorf("%s: %v", args, err)
		}
	}
}
