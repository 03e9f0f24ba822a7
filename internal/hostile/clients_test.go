package hostile_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long anybody waits for an answer before it is a hang. Under
// load it is far more than what any script needs.
const patience = 60 * time.Second

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p1"}`

// reply is what a client got.
type reply struct {
	status int
	header http.Header
	body   string
}

// post sends one request as it is, and reads all of the answer.
func (g *gateway) post(t testing.TB, token, body string, headers ...string) reply {
	t.Helper()
	return g.send(t, http.MethodPost, token, body, headers...)
}

func (g *gateway) send(t testing.TB, method, token, body string, headers ...string) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, g.url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return reply{}
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"X-Secret": {canaryHeader}, "Cookie": {"session=" + canaryHeader}}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	dress(r, headers)
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Errorf("no answer: %v", err)
		return reply{}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Errorf("half an answer: %v", err)
	}
	return reply{response.StatusCode, response.Header, string(text)}
}

// dress sets headers, in pairs: NAME adds, =NAME replaces, -NAME takes away.
func dress(r *http.Request, headers []string) {
	for i := 0; i+1 < len(headers); i += 2 {
		name, value := headers[i], headers[i+1]
		switch {
		case name == "Host":
			r.Host = value
		case name == "Path":
			r.URL.Path, r.URL.RawPath, r.URL.RawQuery = "", "", ""
			r.URL.Opaque = "//" + r.URL.Host + value
		case name[0] == '=':
			r.Header.Del(name[1:])
			r.Header[name[1:]] = []string{value}
		case name[0] == '-':
			r.Header.Del(name[1:])
		default:
			r.Header.Add(name, value)
		}
	}
}

// lookup is the honest call of a server's look through the endpoint.
func (g *gateway) lookup(t testing.TB, server string) reply {
	t.Helper()
	name := server + "__look"
	return g.post(t, tokenOf(server), `{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"`+name+`","arguments":{"path":"ok"},`+meta+`}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", name)
}

// listed is the list of a server's tools through the endpoint.
func (g *gateway) listed(t testing.TB, server string) reply {
	t.Helper()
	return g.post(t, tokenOf(server), `{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{`+meta+`}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
}

// wrapped is a client of the older revisions behind verbatim wrap, that lists
// the tools and then calls look. It returns everything that wrap printed.
func (g *gateway) wrapped(t testing.TB, server string) string {
	t.Helper()
	p := g.pipe(t, server)
	p.say(`{"jsonrpc":"2.0","id":"hi","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
	p.await(`"id":"list"`, listTime) // one that never lists is called all the same
	p.say(`{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"look","arguments":{"path":"ok"}}}`)
	if !p.await(`"id":"call"`, patience) {
		t.Errorf("no answer through wrap; it printed %.300s", p.text())
	}
	return p.close()
}

// listTime is how long a client waits for a list.
const listTime = 3 * time.Second

// pipe is a client's end of verbatim wrap.
type pipe struct {
	watched
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	ended chan struct{}
}

func (g *gateway) pipe(t testing.TB, server string) *pipe {
	t.Helper()
	p := &pipe{t: t, cmd: exec.Command(binary, "wrap", "--server", server), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.WaitDelay, p.cmd.Stdout = g.env, 5*time.Second, &p.watched
	var err error
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Errorf("wrap does not start: %v", err)
		close(p.ended)
		return p
	}
	go func() { defer close(p.ended); _ = p.cmd.Wait() }() // with which code does not matter
	return p
}

func (p *pipe) say(lines ...string) {
	for _, line := range lines {
		_, _ = io.WriteString(p.in, line+"\n") // the other end may have closed
	}
}

// await waits until wrap has printed a text, or ended.
func (p *pipe) await(text string, long time.Duration) bool {
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if p.holds(text) {
			return true
		}
		select {
		case <-p.ended:
			return true // what it printed is held against the script
		default:
		}
	}
	return false
}

// close ends the client's side and returns all that was printed.
func (p *pipe) close() string {
	p.in.Close()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Errorf("wrap does not end")
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	return p.text()
}

// watched keeps what is written, up to a bound.
type watched struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

const maxWatched = 32 << 20

// Write takes text.
func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.buf.Len() < maxWatched {
		w.buf.Write(p)
	}
	return len(p), nil
}

func (w *watched) holds(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Contains(w.buf.Bytes(), []byte(text))
}

func (w *watched) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}
