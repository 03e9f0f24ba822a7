package resolve_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

func TestPathRefusalDoesNotTellWhatExists(t *testing.T) {
	t.Parallel()
	root := tree(t, trapped...)
	p := paths(t, resolve.PathOptions{Roots: []string{root}})
	texts := map[string]bool{}
	for _, text := range []string{"/etc/passwd", "/etc/hunter2", root + "/../outside/secret.txt", root + "/../outside/hunter2", root + "/out/secret.txt", root + "/hunter2"} {
		_, err := said(t, p, text)
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "etc") || strings.Contains(err.Error(), "root/") {
			t.Errorf("%s: %v", text, err)
			continue
		}
		texts[err.Error()] = true
	}
	if len(texts) != 1 {
		t.Errorf("refusals differ: %v", texts)
	}
	if _, err := said(t, p, "a"); err == nil || refusal(t, err) != "path /value" {
		t.Errorf("relative path without a base: %v", err)
	}
}

func TestPathCreatesOnlyTheLastComponent(t *testing.T) {
	t.Parallel()
	root := tree(t, trapped...)
	p := paths(t, resolve.PathOptions{Roots: []string{root}, Base: root, Create: true})
	const unresolved = "target_unresolved /value"
	for text, want := range map[string]string{
		"new.txt": "/new.txt", "a/new.txt": "/a/new.txt", "a/../new.txt": "/new.txt", "link/new.txt": "/a/new.txt", "a/file.txt": "/a/file.txt",
		"dangling": "/nowhere", "deep/new": "/a/b/new", "\u00e9.txt": "/\u00e9.txt", ".hidden": "/.hidden", "12:30.log": "/12:30.log", "aux.c": "/aux.c",
		"new/": unresolved, "new/.": unresolved, "new/file.txt": unresolved, "a/file.txt/new": unresolved, "../new.txt": unresolved,
		"out/new.txt": unresolved, "danglingout": unresolved, "danglingdir": unresolved, "outabs/new.txt": unresolved, "loop": unresolved, "up/new.txt": unresolved, "../root-evil/new.txt": unresolved,
		"CON": unresolved, "con.txt": unresolved, "Nul .txt": unresolved, "com1": unresolved, "LPT\u00b9.log": unresolved, "conin$": unresolved, "a/aux": unresolved, "PRN.tar.gz": unresolved,
		"a/new.txt:stream": unresolved, "a/new.txt::$DATA": unresolved, "new?": unresolved, "new*": unresolved, `"new"`: unresolved, "<new>": unresolved, "a|b": unresolved,
		"new.": unresolved, "new ": unresolved, " new": unresolved, "e\u0301.txt": unresolved, "ｎｅｗ": unresolved, "a/~new": unresolved, "new\uff1a": unresolved,
		"s\u0430fe": "path /value", "new\u202etxt": "path /value", "new\x00": "path /value",
	} {
		got, err := said(t, p, text)
		if err != nil {
			got = refusal(t, err)
		} else {
			got = strings.TrimPrefix(got, root)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestPathThatIsCreatedMeanwhileIsTheSame(t *testing.T) {
	t.Parallel()
	root := tree(t)
	p := paths(t, resolve.PathOptions{Roots: []string{root}, Create: true})
	before, err := said(t, p, root+"/new.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.FromSlash(before), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if after, err := said(t, p, root+"/new.txt"); err != nil || after != before {
		t.Errorf("got %s, %v, want %s", after, err, before)
	}
}

func TestPathOptionsAreChecked(t *testing.T) {
	t.Parallel()
	root := tree(t, trapped...)
	for name, opt := range map[string]resolve.PathOptions{
		"no roots":                 {},
		"empty root":               {Roots: []string{""}},
		"relative root":            {Roots: []string{"root"}},
		"root that is not there":   {Roots: []string{root + "/nothing"}},
		"new root":                 {Roots: []string{root + "/nothing"}, Create: true},
		"root that is a file":      {Roots: []string{root + "/a/file.txt"}},
		"root that is a link":      {Roots: []string{root + "/link"}},
		"root behind a link":       {Roots: []string{root + "/link/b"}},
		"root with dots":           {Roots: []string{root + "/a/../safe"}},
		"home":                     {Roots: []string{"~"}},
		"second root wrong":        {Roots: []string{root, root + "/link"}},
		"relative base":            {Roots: []string{root}, Base: "a"},
		"base outside":             {Roots: []string{root}, Base: filepath.ToSlash(filepath.Dir(root))},
		"base that is a link":      {Roots: []string{root}, Base: root + "/link"},
		"base that is not there":   {Roots: []string{root}, Base: root + "/nothing"},
		"base with the same start": {Roots: []string{root}, Base: root + "-evil"},
	} {
		if _, err := resolve.NewPath(opt); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	versions := map[string]bool{}
	for _, opt := range []resolve.PathOptions{{Roots: []string{root}}, {Roots: []string{root, root + "/a"}}, {Roots: []string{root}, Base: root}, {Roots: []string{root}, Create: true}} {
		a, err := paths(t, opt).Resolve(t.Context(), map[string]canon.Value{"value": canon.StringValue(root + "/a")})
		if err != nil {
			t.Fatal(err)
		}
		versions[a.Version] = true
	}
	if len(versions) != 4 {
		t.Errorf("versions do not tell configurations apart: %v", versions)
	}
}

func TestPathBelowSaysWhatToOpen(t *testing.T) {
	t.Parallel()
	root := tree(t, trapped...)
	p := paths(t, resolve.PathOptions{Roots: []string{root, root + "/a"}})
	for answer, want := range map[string]string{
		root: root + " .", root + "/safe/ok.txt": root + " safe/ok.txt", root + "/a": root + "/a .", root + "/a/b/deep.txt": root + "/a b/deep.txt",
		root + "/ab": root + " ab", root + "-evil": "no", "/": "no", "": "no",
	} {
		got := "no"
		if r, rel, ok := p.Below(answer); ok {
			got = filepath.ToSlash(r) + " " + filepath.ToSlash(rel)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", answer, got, want)
		}
	}
	top := paths(t, resolve.PathOptions{Roots: []string{"/"}})
	if r, rel, ok := top.Below(root + "/a"); !ok || r != string(filepath.Separator) || filepath.ToSlash(rel) != strings.TrimPrefix(root, "/")+"/a" {
		t.Errorf("below the top: %s, %s, %v", r, rel, ok)
	}
	if got, err := said(t, top, root+"/link"); err != nil || got != root+"/a" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestPathStopsWhenTheCallerDoes(t *testing.T) {
	t.Parallel()
	root := tree(t, trapped...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := paths(t, resolve.PathOptions{Roots: []string{root}}).Resolve(ctx, map[string]canon.Value{"value": canon.StringValue(root + "/a")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// On a system that tells case apart, ./SAFE is not ./safe; on one that does
// not, it is the same folder and has the same answer.
func TestPathC04CaseIsThatOfTheFileSystem(t *testing.T) {
	t.Parallel()
	root := tree(t, "safe/ok.txt", "a/")
	p := paths(t, resolve.PathOptions{Roots: []string{root}, Base: root})
	_, exists := os.Stat(filepath.FromSlash(root + "/SAFE"))
	got, err := said(t, p, "./SAFE/ok.txt")
	switch {
	case exists == nil && (err != nil || got != root+"/safe/ok.txt"):
		t.Errorf("same folder: got %s, %v", got, err)
	case exists != nil && (err == nil || refusal(t, err) != "target_unresolved /value"):
		t.Errorf("other folder: got %s, %v", got, err)
	}
	info, err := os.Lstat(filepath.FromSlash(root + "/safe"))
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]string{"SAFE": "safe", "Safe": "safe", "safe": "safe", "a": "a", "SAFE~1": "safe", "other": ""} {
		if got, err := resolve.ReadName(t.Context(), filepath.FromSlash(root), said, info); got != want || (err == nil) != (want != "") {
			t.Errorf("%s is on disk as %q, %v; want %q", said, got, err, want)
		}
	}
}

// A file system that does not tell case apart cannot hold both names; one that
// does never asks which of them SAFE is.
func TestPathC04NameBetweenTwoOthersIsNeither(t *testing.T) {
	t.Parallel()
	root := tree(t, "safe/x", "Safe/y")
	info, err := os.Lstat(filepath.FromSlash(root + "/safe"))
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.FromSlash(root)); err != nil || len(entries) == 1 {
		return // one folder: covered above
	}
	if got, err := resolve.ReadName(t.Context(), filepath.FromSlash(root), "SAFE", info); err == nil {
		t.Errorf("got %s", got)
	}
}

func TestPathOfHardLinksAreTwoNames(t *testing.T) {
	t.Parallel()
	root := tree(t, "readme")
	if err := os.Link(filepath.FromSlash(root+"/readme"), filepath.FromSlash(root+"/README")); err != nil {
		return // a file system where they are one name
	}
	p := paths(t, resolve.PathOptions{Roots: []string{root}, Base: root})
	for _, name := range []string{"readme", "README"} {
		if got, err := said(t, p, name); err != nil || got != root+"/"+name {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
	if got, err := said(t, p, "Readme"); err == nil {
		t.Errorf("Readme: got %s", got)
	}
}

func TestWindowsPathText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`C:\Users\x`: "C:/Users/x", `c:/Users//x/.`: "C:/Users/x", `C:\`: "C:/", `a\b`: "a/b", `a/../b`: "a/../b", `C:\a~1\x.txt`: "C:/a~1/x.txt", `a\con-x`: "a/con-x",
		`C:`: "", `C:x`: "", `C:..\x`: "", `\x`: "", `/x`: "", `\\server\share\x`: "", `//server/share`: "", `\\?\C:\x`: "", `\\.\pipe\x`: "", `\\.\C:`: "", `\??\C:\x`: "",
		`C:\\server\x`: "", `1:\x`: "", `\u0441:\x`: "", `file:///C:/x`: "", `C:\x.txt::$DATA`: "", `C:\x.txt:s`: "", `C:\a::$INDEX_ALLOCATION\x`: "", `x:y\z`: "",
		`C:\CON`: "", `C:\a\nul.txt`: "", `aux`: "", `C:\a\Com1 .log`: "", "C:\\LPT\u00b2": "", `conout$`: "", `C:\a.`: "", `C:\a \b`: "", `C:\a\... \b`: "", `C:\a\...`: "",
		`C:\a?`: "", `C:\*`: "", `C:\a|b`: "", `C:\"a"`: "", `C:\<a`: "", "C:\\a\x00": "", "C:\\a\u202e": "", `~\x`: "", ``: "",
	} {
		got, ok := resolve.WindowsPath(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, ok, want)
		}
	}
}

// Two ways to one file give one answer; ways to two files give two.
func TestPathsAreEqualExactlyIfTheirFilesAre(t *testing.T) {
	t.Parallel()
	root := tree(t, "d0/d1/d2/f", "d0/d1/f", "d0/f", "f", "d0/d1/d3/f", "l0 -> d0", "d0/l1 -> d1", "d0/d1/l2 -> ../../d0", "d0/d1/d2/l3 -> ROOT/d0/d1/d3")
	p := paths(t, resolve.PathOptions{Roots: []string{root}, Base: root})
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"d0", "d1", "d2", "d3", "f", "l0", "l1", "l2", "l3", ".", "..", ""}), 1, 7)
	rapid.Check(t, func(rt *rapid.T) {
		var infos []os.FileInfo
		var answers []string
		for _, label := range []string{"one", "two"} {
			text := root + "/" + strings.Join(names.Draw(rt, label), "/")
			info, err := os.Stat(text)
			got, refused := said(t, p, text)
			if refused != nil {
				refusal(t, refused)
				continue
			}
			if err != nil {
				rt.Fatalf("%s resolves to %s, but %v", text, got, err)
			}
			infos, answers = append(infos, info), append(answers, got)
			if at, err := os.Lstat(got); err != nil || !os.SameFile(at, info) {
				rt.Fatalf("%s resolves to %s, which is another file, %v", text, got, err)
			}
			if real, err := filepath.EvalSymlinks(got); err != nil || real != got {
				rt.Fatalf("%s resolves to %s, whose real path is %s, %v", text, got, real, err)
			}
		}
		if len(infos) == 2 && os.SameFile(infos[0], infos[1]) != (answers[0] == answers[1]) {
			rt.Fatalf("answers %v", answers)
		}
	})
}

func FuzzPathText(f *testing.F) {
	root := tree(f, trapped...)
	for _, s := range []string{"a/file.txt", "../outside", "link/../a", "~", "C:\\x", "a\x00", "out/secret.txt", "deep/..", "%2e%2e/x", "bidilink", strings.Repeat("here/", 50)} {
		f.Add(s)
	}
	p := paths(f, resolve.PathOptions{Roots: []string{root}, Base: root, Create: true})
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		resolve.WindowsPath(text)
		got, err := said(t, p, text)
		if err != nil {
			refusal(t, err)
			return
		}
		if _, _, ok := p.Below(got); !ok || !strings.HasPrefix(got+"/", root+"/") {
			t.Errorf("%q: answer %q", text, got)
		}
		if again, err := said(t, p, got); err != nil || again != got {
			t.Errorf("%q: %q is not its own answer: %q, %v", text, got, again, err)
		}
	})
}
