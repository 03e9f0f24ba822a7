package resolve_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/resolve"
)

func TestPathOpensNothingButTheAnswer(t *testing.T) {
	t.Parallel()
	root := tree(t, trapped...)
	p := paths(t, resolve.PathOptions{Roots: []string{root}, Create: true})
	for name, want := range map[string]string{
		"a/file.txt": "a/file.txt", "a/b/deep.txt": "a/b/deep.txt", "new": "no", "nothing/new": "no", "a/file.txt/x": "no", "a/file.txt/..": "no",
		"link/file.txt": "no", "file": "no", "absolute/file.txt": "no", "out/secret.txt": "no", "outfile": "no", "dangling": "no", "loop": "no", "a/../../outside/secret.txt": "no",
	} {
		got := "no"
		if f, err := p.OpenFile(root+"/"+name, os.O_RDONLY, 0); err == nil {
			text, err := io.ReadAll(f)
			if got = string(text); err != nil {
				t.Error(err)
			}
			f.Close()
		} else if strings.Contains(err.Error(), "/") {
			t.Errorf("%s: %v", name, err)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, answer := range []string{root + "-evil/secret.txt", "/etc/passwd", "a/file.txt", ""} {
		if f, err := p.OpenFile(answer, os.O_RDONLY, 0); err == nil {
			f.Close()
			t.Errorf("%s: opened", answer)
		}
	}
	folder, err := p.OpenFile(root, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if names, err := folder.Readdirnames(-1); err != nil || len(names) < 10 {
		t.Errorf("%d names, %v", len(names), err)
	}
}

func TestPathWritesNothingButTheAnswer(t *testing.T) {
	t.Parallel()
	root := tree(t, "a/file.txt", "link -> a/file.txt", "dangling -> ../outside-new", "../outside/secret.txt", "out -> ../outside/secret.txt")
	p := paths(t, resolve.PathOptions{Roots: []string{root}, Create: true})
	write := func(name string, flag int) string {
		f, err := p.OpenFile(root+"/"+name, os.O_WRONLY|flag, 0o600)
		if err != nil {
			return "refused"
		}
		defer f.Close()
		if _, err := f.WriteString("new"); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(filepath.FromSlash(root + "/" + name))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	for _, c := range []struct {
		name string
		flag int
		want string
	}{
		{"a/file.txt", 0, "newile.txt"},
		{"a/file.txt", os.O_TRUNC, "new"},
		{"a/file.txt", os.O_CREATE | os.O_TRUNC, "new"},
		{"a/other.txt", os.O_CREATE, "new"},
		{"a/other.txt", 0, "new"},
		{"third.txt", 0, "refused"},
		{"nothing/new.txt", os.O_CREATE, "refused"},
		{"link", os.O_TRUNC, "refused"},
		{"dangling", os.O_CREATE, "refused"},
		{"out", os.O_CREATE | os.O_TRUNC, "refused"},
		{"a", 0, "refused"},
	} {
		if got := write(c.name, c.flag); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if text, err := os.ReadFile(filepath.FromSlash(root + "/../outside/secret.txt")); err != nil || string(text) != "../outside/secret.txt" {
		t.Errorf("outside: %q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.FromSlash(root + "/../outside-new")); err == nil {
		t.Error("a file was made outside")
	}
}
