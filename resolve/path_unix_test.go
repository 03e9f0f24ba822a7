//go:build unix

package resolve_test

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-de4804fb/verbatim/resolve"
)

// Opening a pipe waits for ever, and a socket is no file.
func TestPathRefusesPipesAndSockets(t *testing.T) {
	t.Parallel()
	root := tree(t, "pipelink -> pipe")
	if err := syscall.Mkfifo(root+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	socket, err := net.Listen("unix", short+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := os.Link(short+"/s", root+"/socket"); err != nil {
		t.Fatal(err)
	}
	p := paths(t, resolve.PathOptions{Roots: []string{root}, Base: root, Create: true})
	for _, name := range []string{"pipe", "pipelink", "socket", "pipe/x"} {
		if got, err := said(t, p, name); err == nil || refusal(t, err) != "target_unresolved /value" {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
}

// Names that no JSON text can hold, or no person can read, are not answered
// even when a link leads to them.
func TestPathRefusesNamesThatCannotBeShown(t *testing.T) {
	t.Parallel()
	root := tree(t, "b -> back\\slash", "back\\slash", "u -> bytes\xff", "bytes\xff", "n -> new\nline", "new\nline", "d -> folder\nname/f", "folder\nname/f")
	p := paths(t, resolve.PathOptions{Roots: []string{root}, Base: root, Create: true})
	for _, name := range []string{"b", "u", "n", "d"} {
		if got, err := said(t, p, name); err == nil || refusal(t, err) != "target_unresolved /value" || strings.Contains(err.Error(), "slash") {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
}
