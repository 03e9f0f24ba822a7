package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// mcpEntries are the methods that a client can reach. A new one fails the
// test until it stands here.
var mcpEntries = []string{"initialize", "server/discover", "ping", "tools/list", "tools/call", "resources/list",
	"resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe", "prompts/list",
	"prompts/get", "completion/complete", "logging/setLevel", "notifications/initialized",
	"notifications/cancelled", "notifications/progress", "notifications/roots/list_changed", "subscriptions/listen", "tasks/get", "tasks/update", "tasks/cancel"}

// unlisted are methods that no map lists, spelled as an attacker would.
var unlisted = []string{"tools/Call", "tools/call ", "tools\\u002fcallx", "tasks/list", "notifications/tools/call", "$/tools/call"}

// payServer lists one tool and counts the calls that reach it.
type payServer struct {
	mu    sync.Mutex
	calls []string
}

func (s *payServer) serve(in io.Reader, out io.Writer) {
	r, w := wire.NewReader(in, wire.Limits{}), wire.NewWriter(out)
	for {
		m, err := r.Read()
		if err != nil {
			return
		}
		if strings.Contains(string(m.Bytes()), `tools/call`) || strings.Contains(string(m.Bytes()), `tools\u002fcall`) {
			s.mu.Lock()
			s.calls = append(s.calls, string(m.Bytes()))
			s.mu.Unlock()
		}
		if m.Kind() != wire.KindRequest {
			continue
		}
		result := `{"tools":[{"name":"pay","inputSchema":{"type":"object"}}]}`
		answer, err := wire.NewResult(m.ID(), []byte(result))
		if err != nil || w.Write(answer) != nil {
			return
		}
	}
}

type allUncataloged struct{}

func (allUncataloged) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	tool, err := catalog.Uncataloged(server, t.Name, t.Raw)
	if err != nil {
		return nil, verbatim.CodeToolRefused
	}
	return tool, ""
}

type duplex struct {
	io.Reader
	io.WriteCloser
}

func TestNoMCPMethodRunsAToolWithoutAnApproval(t *testing.T) {
	t.Parallel()
	sameEntries(t, gate.ClientMethods(), append([]string(nil), mcpEntries...))
	for _, method := range append(unlisted, mcpEntries...) {
		t.Run(strings.ReplaceAll(method, "/", "_"), func(t *testing.T) {
			t.Parallel()
			r, s := newArena(t), &payServer{}
			clientIn, toGate := io.Pipe()
			fromGate, clientOut := io.Pipe()
			serverIn, toServer := io.Pipe()
			fromServer, serverOut := io.Pipe()
			go s.serve(serverIn, serverOut)
			go io.Copy(io.Discard, fromGate)
			done := make(chan error, 1)
			go func() {
				done <- gate.Serve(context.Background(), gate.Config{Gate: r.Gate, Session: r.Session(), Server: "files",
					Binder: allUncataloged{}, Wait: time.Millisecond}, duplex{clientIn, clientOut}, fromServer, toServer)
			}()
			for i, id := range []string{`"id":1,`, "", `"id":"2",`} {
				params := fmt.Sprintf(`{"name":"pay","arguments":{"n":%d},"method":"tools/call","requestId":1}`, i)
				if _, err := fmt.Fprintf(toGate, `{"jsonrpc":"2.0",%s"method":"%s","params":%s}`+"\n", id, method, params); err != nil {
					t.Fatal(err)
				}
			}
			toGate.Close()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if method == "tools/call" {
				checkSuspended(t, r)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, c := range s.calls {
				if m, err := wire.Parse([]byte(c), wire.Limits{}); err != nil || m.Method() == "tools/call" {
					t.Errorf("a call reached the server: %s", c)
				}
			}
			serverOut.Close()
		})
	}
}

// checkSuspended: every call was recorded and waits; none has run.
func checkSuspended(t *testing.T, r *arena) {
	t.Helper()
	rows, err := r.Gate.Actions(context.Background(), action.Filter{Tenant: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range rows {
		if a.State != action.PendingApproval {
			t.Errorf("action %s is %s", a.ID, a.State)
		}
	}
}
