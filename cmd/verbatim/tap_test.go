package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// mcpTap runs a server and keeps every line between: mcp-tap FILE COMMAND...
func mcpTap() {
	file, err := os.OpenFile(os.Args[1], os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		fatal(err)
	}
	var mu sync.Mutex
	keep := func(to io.Writer) io.Writer { return &kept{mu: &mu, file: file, to: to} }
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stderr, cmd.Stdout = os.Stderr, keep(os.Stdout)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fatal(err)
	}
	_, _ = io.Copy(keep(in), os.Stdin) // the server may end first
	in.Close()
	if err := cmd.Wait(); err != nil {
		fatal(err)
	}
}

// kept writes what passes into the file too, by whole lines.
type kept struct {
	mu   *sync.Mutex
	file *os.File
	to   io.Writer
	rest []byte
}

func (k *kept) Write(p []byte) (int, error) {
	k.rest = append(k.rest, p...)
	if i := bytes.LastIndexByte(k.rest, '\n'); i >= 0 {
		k.mu.Lock()
		_, err := k.file.Write(k.rest[:i+1])
		k.mu.Unlock()
		if err != nil {
			return 0, err
		}
		k.rest = append([]byte(nil), k.rest[i+1:]...)
	}
	return k.to.Write(p)
}

// tap keeps the messages between a client and a server, in the order in which
// they were sent.
type tap struct {
	url  string
	file string // of mcp-tap; "" for a proxy

	mu     sync.Mutex
	frames [][]byte
}

// newTap is a proxy before a server that speaks HTTP.
func newTap(t *testing.T, target string) *tap {
	t.Helper()
	at, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	k := &tap{}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = at.Scheme, at.Host, at.Host
		r.Out.Header.Set("Accept-Encoding", "identity")
	}, ModifyResponse: func(r *http.Response) error {
		r.Body = &keptBody{ReadCloser: r.Body, tap: k}
		return nil
	}}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		k.keep(body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	k.url = web.URL + at.Path
	return k
}

func (k *tap) keep(frame []byte) {
	if frame = bytes.TrimSpace(frame); len(frame) > 0 {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.frames = append(k.frames, append([]byte(nil), frame...))
	}
}

// keptBody keeps a JSON body, or each event of a stream.
type keptBody struct {
	io.ReadCloser
	tap  *tap
	text []byte
}

func (b *keptBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.text = append(b.text, p[:n]...)
	if bytes.HasPrefix(b.text, []byte("{")) {
		if err != nil {
			b.tap.keep(b.text)
			b.text = nil
		}
		return n, err
	}
	for {
		event, rest, found := bytes.Cut(b.text, []byte("\n\n"))
		if !found {
			return n, err
		}
		for _, line := range strings.Split(string(event), "\n") {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				b.tap.keep([]byte(data))
			}
		}
		b.text = append([]byte(nil), rest...)
	}
}

// passed is a call with its answer.
type passed struct{ call, answer *wire.Message }

// calls are the tool calls that passed the tap, with their answers, in order.
func (k *tap) calls(t *testing.T) []passed {
	t.Helper()
	frames := k.frames
	if k.file != "" {
		text, err := os.ReadFile(k.file)
		if err != nil {
			t.Fatal(err)
		}
		frames = bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	}
	var out []passed
	open := map[string]int{}
	for _, f := range frames {
		m, err := wire.Parse(f, wire.Limits{})
		if err != nil {
			t.Fatalf("%v: %.300s", err, f)
		}
		switch i, asked := open[m.ID().Key()]; {
		case m.Method() == "tools/call":
			open[m.ID().Key()] = len(out)
			out = append(out, passed{call: m})
		case m.Kind() == wire.KindRequest:
			delete(open, m.ID().Key()) // another client counts from the start again
		case asked && (m.Kind() == wire.KindResult || m.Kind() == wire.KindError):
			out[i].answer = m
			delete(open, m.ID().Key())
		}
	}
	return out
}

// checkBytes holds each call as its client made it against the call as its
// server got it, and the answer as well.
func checkBytes(t *testing.T, list []*peer, front *tap, want int) {
	t.Helper()
	behind := map[string][]passed{}
	for _, x := range list {
		behind[x.name] = x.tap.calls(t)
	}
	calls := front.calls(t)
	if len(calls) != want {
		t.Fatalf("%d calls passed, want %d", len(calls), want)
	}
	compared := map[bool]int{}
	for _, c := range calls {
		server, name, _ := strings.Cut(c.call.Name(), "__")
		if len(behind[server]) == 0 {
			t.Fatalf("%s did not reach its server", c.call.Name())
		}
		got := behind[server][0]
		behind[server] = behind[server][1:]
		if got.call.Name() != name {
			t.Fatalf("the server got %s for %s", got.call.Name(), c.call.Name())
		}
		sameArguments(t, c.call, got.call)
		same := c.call.ProtocolVersion() == got.call.ProtocolVersion()
		compared[same]++
		if same {
			equal(t, "the call", bare(t, c.call), bare(t, got.call))
			equal(t, "the answer", bare(t, c.answer), bare(t, got.answer))
		} else {
			equal(t, "the content", []byte(memberText(t, c.answer, "/result/content")), []byte(memberText(t, got.answer, "/result/content")))
		}
	}
	if compared[true] < want/4 || compared[false] == 0 {
		t.Errorf("calls within an era and across: %v", compared)
	}
	for name, rest := range behind {
		if len(rest) > 0 {
			t.Errorf("%s got %d calls that no client made", name, len(rest))
		}
	}
}

func equal(t *testing.T, what string, want, got []byte) {
	t.Helper()
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is another one (-client +server):\n%s", what, diff)
	}
}

// sameArguments: what the server gets is the RFC 8785 form of what the client
// asked for, with the defaults of the schema.
func sameArguments(t *testing.T, asked, sent *wire.Message) {
	t.Helper()
	v, err := canon.Decode(sent.Arguments(), canon.Options{})
	if err != nil || !bytes.Equal(v.Canonical(), sent.Arguments()) {
		t.Errorf("the server got arguments that are not canonical: %s, %v", sent.Arguments(), err)
	}
	raw := asked.Arguments()
	if raw == nil {
		raw = []byte("{}")
	}
	w, err := canon.Decode(raw, canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range w.Members() {
		if got, ok := v.Get(m.Name); !ok || !bytes.Equal(got.Canonical(), m.Value.Canonical()) {
			t.Errorf("the member %s became %s", m.Name, got.Canonical())
		}
	}
}

// bare is a message without what the gateway may change.
func bare(t *testing.T, m *wire.Message) []byte {
	t.Helper()
	out, err := m.WithID(wire.NumberID(0))
	if err == nil && m.Method() == "tools/call" {
		if out, err = out.WithName("x"); err == nil && m.Arguments() != nil {
			out, err = out.WithArguments([]byte("{}"))
		}
		if err == nil {
			out, err = out.Without("/params/_meta/progressToken")
		}
	}
	if err == nil {
		out, err = out.WithoutOwnMeta()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func memberText(t *testing.T, m *wire.Message, pointer string) string {
	t.Helper()
	if m == nil {
		t.Fatal("a call has no answer")
	}
	raw, _, err := m.Member(pointer)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
