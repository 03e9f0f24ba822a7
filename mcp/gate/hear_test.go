package gate_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/eager"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// socketWorld is a client over a socket, which the gateway can look at.
func socketWorld(t *testing.T) *world {
	t.Helper()
	if runtime.GOOS == "windows" {
		return newWorld(t, time.Second) // nothing can be looked at there
	}
	dir, err := os.MkdirTemp("", "ear-*") // the names of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, time.Second)
	return between(t, w.Fixture, ends{far, near, near}, time.Second, binder{}, gate.Reach{})
}

func looked(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"look","arguments":{"id":"%d"}}}`, id, id)
}

// A client that asks at once is looked for, one that takes its time is waited
// for, and both are answered, however they alternate.
func TestAClientIsHeardWhetherItIsLookedForOrNot(t *testing.T) {
	t.Parallel()
	w := socketWorld(t)
	for id := range 150 {
		if id%50 > 45 {
			time.Sleep(10 * eager.LookFor)
		}
		if a := w.ask(looked(id + 1)); string(a.ID().Raw()) != fmt.Sprint(id+1) || a.Kind() != wire.KindResult {
			t.Fatalf("call %d was answered %s", id+1, a.Bytes())
		}
	}
	if n := len(w.server.received("tools/call")); n != 150 {
		t.Errorf("%d of 150 calls reached the server", n)
	}
}

// A frame that comes in pieces, a cancellation and a ping reach the gateway of
// a client that it looks for, while a call is under way and between calls.
func TestWhatIsLookedForMayComeInPieces(t *testing.T) {
	t.Parallel()
	w := socketWorld(t)
	hold := make(chan struct{})
	w.server.call = func(m *wire.Message) string {
		if strings.Contains(string(m.Arguments()), `"stay"`) {
			<-hold
		}
		return `{"content":[]}`
	}
	for id := range 20 {
		w.ask(looked(id + 1))
	}
	frame := looked(100) + "\n"
	for i := range len(frame) {
		if _, err := w.send.Write([]byte(frame[i : i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if a := w.read(); string(a.ID().Raw()) != "100" {
		t.Fatalf("a frame in pieces was answered %s", a.Bytes())
	}
	w.write(`{"jsonrpc":"2.0","id":200,"method":"tools/call","params":{"name":"look","arguments":{"id":"stay"}}}`)
	w.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":200}}`)
	close(hold)
	if a := w.ask(looked(300)); string(a.ID().Raw()) != "300" {
		t.Fatalf("after a cancelled call: %s", a.Bytes())
	}
	if a := w.ask(`{"jsonrpc":"2.0","id":301,"method":"ping"}`); string(a.ID().Raw()) != "301" {
		t.Fatalf("a ping was answered %s", a.Bytes())
	}
}

// The end of a client that is looked for is its end.
func TestTheEndOfAClientThatIsLookedForIsSeen(t *testing.T) {
	t.Parallel()
	w := socketWorld(t)
	for id := range 20 {
		w.ask(looked(id + 1))
	}
	w.send.Close()
	select {
	case err := <-w.done:
		if w.done <- err; err != nil {
			t.Errorf("the end of the client is the error %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the end of the client was not seen")
	}
}
