//go:build bench

package apibench_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/api"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/openapi"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/rest"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

const (
	token    = "a-token-that-is-long-enough"
	document = `openapi: 3.1.0
paths:
  /payments:
    post:
      operationId: pay
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [payee, amountMinor, currency], properties: {
        payee: {type: string, maxLength: 40}, amountMinor: {type: integer, minimum: 1}, currency: {type: string}, note: {type: string}}}}}}
`
	rules = `
@id("payments") permit (principal, action == Action::"up.pay", resource) when { context.args.body.amountMinor < 1000000 };`
)

// tools binds the operations of the document.
type tools map[string]*catalog.Tool

func (c tools) Bind(_ string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	if tool := c[t.Name]; tool != nil {
		return tool, ""
	}
	return nil, verbatim.CodeToolRefused
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func listen(t testing.TB, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := &http.Server{Handler: h}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close() })
	return l.Addr().String()
}

func signer(t testing.TB, p keys.Purpose) *keys.Signer {
	t.Helper()
	s, err := keys.NewSigner(p, bytes.Repeat([]byte{7}, 32))
	must(t, err)
	return s
}

// sequence adds records to the signed log twice a second, as the daemon does.
func sequence(t testing.TB, log audit.Ledger) {
	t.Helper()
	q, err := audit.NewSequencer(log, signer(t, keys.Checkpoints))
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(500 * time.Millisecond); ctx.Err() == nil; {
			select {
			case <-ctx.Done():
			case <-tick.C:
				if _, err := q.Turn(ctx); err != nil && ctx.Err() == nil {
					t.Errorf("the log: %v", err)
				}
			}
		}
	}()
	t.Cleanup(func() { stop(); <-ended })
}

// product is the API as verbatim serve composes it: receipts and warrants are
// signed, and the log behind them.
func product(t testing.TB) string {
	t.Helper()
	found, _, err := openapi.Read([]byte(document))
	must(t, err)
	raw := found[0].Definition()
	tool, err := catalog.Define(catalog.Spec{Name: "up.pay", Server: "up", Definition: raw, Pin: catalog.DefinitionDigest(raw), Impact: catalog.Ordinary, Reason: "a measurement"})
	must(t, err)
	engine, err := cedar.Load(map[string][]byte{"bench.cedar": []byte(rules)}, []*catalog.Tool{tool}, cedar.Options{})
	must(t, err)
	f := verbatimtest.New(t, verbatimtest.Config{Policy: engine, Gate: func(c *verbatim.Config) {
		c.Warrants, c.Receipts = signer(t, keys.Warrants), signer(t, keys.Receipts)
	}})
	sequence(t, f.Store)
	h, err := hub.New(hub.Config{Gate: f.Gate, Binder: tools{"pay": tool}, Version: "bench", Servers: []hub.Server{{Name: "up", Audience: "up.example",
		Dial: func(context.Context) (hub.Transport, error) {
			return rest.New(rest.Config{Base: "https://up.example", Operations: found})
		}}}})
	must(t, err)
	t.Cleanup(func() { h.Close(context.Background()) })
	a, err := api.New(api.Config{Calls: h, Actions: f.Gate})
	must(t, err)
	who, err := endpoint.NewTokens([]endpoint.Static{{Name: "bench", Digest: sha256.Sum256([]byte(token)), Caller: hub.Caller{Session: f.Session()}}})
	must(t, err)
	at := new(atomic.Pointer[http.Handler])
	address := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*at.Load()).ServeHTTP(w, r) }))
	e, err := endpoint.New(endpoint.Config{Hub: h, Beside: a, Authority: who, Hosts: []string{address},
		Limits: endpoint.Limits{Rate: endpoint.MaxRate}}) // one caller asks as fast as it can
	must(t, err)
	var handler http.Handler = e
	at.Store(&handler)
	return "http://" + address
}

// echo sends the body back; with before, after that has succeeded.
func echo(t testing.TB, before func() error) string {
	t.Helper()
	return "http://" + listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && before != nil {
			err = before()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
}

// synced is one write at the end of a file and its fdatasync.
func synced(t testing.TB) func() error {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	must(t, err)
	t.Cleanup(func() { f.Close() })
	line := make([]byte, 512)
	return func() error {
		if _, err := f.Write(line); err != nil {
			return err
		}
		return syscall.Fdatasync(int(f.Fd()))
	}
}

var numbers atomic.Int64

// body is that of a fresh call.
func body() string {
	arguments := fmt.Sprintf(`{"body":{"payee":"VENDOR-001","amountMinor":%d,"currency":"USD","note":"invoice %d of the month, for the office"}}`,
		1+numbers.Load()%1000, numbers.Add(1))
	return `{"toolName":"up.pay","arguments":` + fmt.Sprintf("%q", arguments) + `,"callId":"call_1"}`
}

// asking posts a fresh body to a path, and wants an answer that holds a word.
func asking(t testing.TB, url, word string) func(int) error {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: crowd}}
	answers := make([]bytes.Buffer, crowd) // by client; their memory is kept, so that a long answer costs the client no more than a short one
	return func(client int) error {
		text := body()
		if strings.HasSuffix(url, "/explain") { // it takes no more
			text = strings.Replace(text, `,"callId":"call_1"`, "", 1)
		}
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(text))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		answer, err := c.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		got := &answers[client]
		got.Reset()
		_, err = got.ReadFrom(answer.Body)
		if err == nil && (answer.StatusCode != http.StatusOK || !bytes.Contains(got.Bytes(), []byte(word))) {
			err = fmt.Errorf("%d %s", answer.StatusCode, got)
		}
		return err
	}
}
