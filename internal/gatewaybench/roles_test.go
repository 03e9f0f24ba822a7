//go:build bench && linux

package gatewaybench_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/internal/eager"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/remote"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// pipe is one end of a connection of two streams.
type pipe struct {
	in  io.ReadCloser
	out io.WriteCloser
}

func (p pipe) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p pipe) Write(b []byte) (int, error) { return p.out.Write(b) }
func (p pipe) Close() error                { return errors.Join(p.in.Close(), p.out.Close()) }

// socket is a pipe as the daemon of wrap has one to its client: one that does
// not block, and says so.
type socket struct{ in, out *os.File }

func (s socket) Read(b []byte) (int, error)          { return s.in.Read(b) }
func (s socket) Write(b []byte) (int, error)         { return s.out.Write(b) }
func (s socket) SetReadDeadline(at time.Time) error  { return s.in.SetReadDeadline(at) }
func (s socket) SetWriteDeadline(at time.Time) error { return s.out.SetWriteDeadline(at) }
func (s socket) Close() error                        { return errors.Join(s.in.Close(), s.out.Close()) }
func (s socket) SyscallConn() (syscall.RawConn, error) {
	in, err := s.in.SyscallConn()
	if err != nil {
		return nil, err
	}
	out, err := s.out.SyscallConn()
	return ends{in, out}, err
}

// ends are the descriptors of a socket.
type ends struct {
	syscall.RawConn
	out syscall.RawConn
}

func (e ends) Write(f func(uintptr) bool) error { return e.out.Write(f) }

// A role stands between a client and a server that dial starts.
type role func(client pipe, dial func() pipe) error

var stdioRoles = map[string]role{"server": server, "forwarder": forwarder, "verbatim": gateway, "typed": typed, "sdk": sdkLines}

// server answers.
func server(client pipe, _ func() pipe) error {
	in, out := wire.NewReader(client, wire.Limits{}), wire.NewWriter(client)
	for {
		m, err := in.Read()
		if err != nil {
			return err
		}
		if m.Kind() == wire.KindRequest {
			if err := out.Write(serverAnswer(m)); err != nil {
				return err
			}
		}
	}
}

// forwarder passes lines on, both ways.
func forwarder(client pipe, dial func() pipe) error {
	behind := dial()
	go lines(client, behind)
	return lines(behind, client)
}

func lines(from io.Reader, to io.Writer) error {
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return err
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
}

// newGate is a gate with its store on the disk.
func newGate() (*verbatim.Gate, catalogued, error) {
	tools, engine, err := newCatalog()
	if err != nil {
		return nil, nil, err
	}
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{9}, 32))
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp(os.Getenv(dirVar), "store-*")
	if err != nil {
		return nil, nil, err
	}
	store, err := sqlite.Open(filepath.Join(dir, "store.db"), sqlite.Options{Sealer: sealer})
	if err != nil {
		return nil, nil, err
	}
	g, err := verbatim.New(verbatim.Config{Store: store, Tools: verbatim.Toolset{}, Policy: engine})
	return g, tools, err
}

var session = verbatim.Session{Tenant: "acme", Principal: "maria", Owner: "maria", Agent: "Support Agent"}

// gateway is Verbatim.
func gateway(client pipe, dial func() pipe) error {
	g, tools, err := newGate()
	if err != nil {
		return err
	}
	behind := dial()
	from, err := unblocked(client)
	if err != nil {
		return err
	}
	return gate.Serve(always, gate.Config{Gate: g, Session: session, Server: "s", Binder: tools}, from, behind.in, behind.out)
}

// unblocked is the client's side as the daemon of wrap has it.
func unblocked(client pipe) (io.ReadWriteCloser, error) {
	in, ok := client.in.(*os.File)
	if !ok {
		return client, nil
	}
	var s socket
	var err error
	if s.in, err = loose(in, "from client"); err != nil {
		return nil, err
	}
	s.out, err = loose(client.out.(*os.File), "to client")
	return s, err
}

// loose is a file that does not block.
func loose(f *os.File, name string) (*os.File, error) {
	if f.SetDeadline(time.Time{}) == nil {
		return f, nil
	}
	fd, err := unix.Dup(int(f.Fd())) // the file closes its own when nobody holds it any more
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), name), nil
}

// typed is a proxy of the Go SDK.
func typed(client pipe, dial func() pipe) error {
	behind := dial()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "p", Version: "1"}, nil).Connect(always,
		&mcp.IOTransport{Reader: behind, Writer: behind}, &mcp.ClientSessionOptions{ProtocolVersion: legacy})
	if err != nil {
		return err
	}
	return proxyServer(s).Run(always, &mcp.IOTransport{Reader: client, Writer: client})
}

func proxyServer(session *mcp.ClientSession) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "p", Version: "1"}, nil)
	for _, name := range []string{"look", "put"} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return session.CallTool(ctx, &mcp.CallToolParams{Name: r.Params.Name, Arguments: r.Params.Arguments})
		})
	}
	return s
}

// A handler answers HTTP, with a server behind it at an address; host is where
// it will listen.
type handler func(host, behind string) (http.Handler, error)

var httpRoles = map[string]handler{"server": webServer, "forwarder": reverse, "verbatim": webGateway, "typed": webTyped,
	"typedstateless": webTypedStateless, "sdk": sdkWeb}

func webServer(string, string) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := wire.Parse(body, wire.Limits{})
		if err != nil || m.Kind() != wire.KindRequest {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(serverAnswer(m).Bytes())
	}), nil
}

func reverse(_, behind string) (http.Handler, error) {
	target, err := url.Parse(behind)
	if err != nil {
		return nil, err
	}
	return httputil.NewSingleHostReverseProxy(target), nil
}

type anybody struct{ caller hub.Caller }

func (a anybody) Identify(context.Context, string) (endpoint.Identity, error) {
	return endpoint.Identity{Key: "k", Caller: a.caller}, nil
}

func webGateway(host, behind string) (http.Handler, error) {
	g, tools, err := newGate()
	if err != nil {
		return nil, err
	}
	h, err := hub.New(hub.Config{Gate: g, Binder: tools, Servers: []hub.Server{{Name: "s",
		Dial: func(context.Context) (hub.Transport, error) { return remote.New(remote.Config{URL: behind}) }}}})
	if err != nil {
		return nil, err
	}
	return endpoint.New(endpoint.Config{Hub: h, Hosts: []string{host}, Path: "/", Authority: anybody{hub.Caller{Session: session}},
		Limits: endpoint.Limits{Requests: 256}})
}

func webTyped(_, behind string) (http.Handler, error) {
	ctx, cancel := context.WithTimeout(always, time.Minute)
	defer cancel()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "p", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: behind}, nil)
	if err != nil {
		return nil, err
	}
	out := proxyServer(s)
	sessions := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return out }, &mcp.StreamableHTTPOptions{JSONResponse: true})
	stateless := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return out }, &mcp.StreamableHTTPOptions{JSONResponse: true, Stateless: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") == modern { // this revision has no sessions
			stateless.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	}), nil
}

// webTypedStateless is the same proxy as one would set it up who wants no
// sessions: each request stands alone.
func webTypedStateless(_, behind string) (http.Handler, error) {
	ctx, cancel := context.WithTimeout(always, time.Minute)
	defer cancel()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "p", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: behind, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return nil, err
	}
	out := proxyServer(s)
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return out }, &mcp.StreamableHTTPOptions{JSONResponse: true, Stateless: true}), nil
}

// wires passes bytes on, both ways: what any process between two others costs.
func wires(l net.Listener, behind string) error {
	u, err := url.Parse(behind)
	if err != nil {
		return err
	}
	for {
		near, err := l.Accept()
		if err != nil {
			return err
		}
		far, err := net.Dial("tcp", u.Host)
		if err != nil {
			return err
		}
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			go func() {
				_, _ = io.Copy(way[1], way[0])
				way[1].Close()
			}()
		}
	}
}

// serveHTTP listens and says where.
func serveHTTP(name, behind string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	return serveOn(l, name, behind, func(at string) error {
		_, err := io.WriteString(os.Stdout, at+"\n")
		return err
	})
}

// serveOn plays a role on a listener, after it said where that is.
func serveOn(l net.Listener, name, behind string, say func(at string) error) error {
	at := "http://" + l.Addr().String() + "/"
	if name == "wires" {
		if err := say(at); err != nil {
			return err
		}
		return wires(l, behind)
	}
	made, err := httpRoles[name](l.Addr().String(), behind)
	if err != nil {
		return err
	}
	if err := say(at); err != nil {
		return err
	}
	if _, ours := made.(*endpoint.Endpoint); ours { // as the daemon does
		return http.Serve(eager.Listen(l), made)
	}
	return http.Serve(l, made)
}

// headersOf are those of a call of the tool, in an era.
func headersOf(tool, era, session string) map[string]string {
	h := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer x",
		"Mcp-Protocol-Version": era}
	if era == modern {
		h["Mcp-Method"], h["Mcp-Name"] = "tools/call", tool
	}
	if session != "" {
		h["Mcp-Session-Id"] = session
	}
	return h
}

func post(c *http.Client, at, body string, headers map[string]string) (string, http.Header, error) {
	r, err := http.NewRequest(http.MethodPost, at, strings.NewReader(body))
	if err != nil {
		return "", nil, err
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	response, err := c.Do(r)
	if err != nil {
		return "", nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), response.Header, err
}
