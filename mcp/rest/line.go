package rest

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog/openapi"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/netguard"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// Config is one service.
type Config struct {
	// Base is the address below which the paths are: https, or http to a listed
	// network. It may have a path.
	Base       string
	Operations []openapi.Operation
	// Credential returns the header that authenticates the gateway, asked for
	// each request; nil sends none. Over plain HTTP it goes to this machine only.
	Credential func(ctx context.Context) (name, value string, err error)
	// Refused, if not nil, is told of a credential that the service refused.
	Refused func(value string)
	// KeyHeader is the header that takes idempotency keys, for operations whose
	// document declares none; "" if there is none.
	KeyHeader string
	// Networks are reached although they are not public.
	Networks []netip.Prefix
	Roots    []byte // PEM certificates beside the system's; nil: none
}

// Line is a service. It is safe for concurrent use.
type Line struct {
	cfg   Config
	base  string
	by    http.RoundTripper
	tools map[string]openapi.Operation
	pages [][]byte // results of tools/list, one a page
	next  atomic.Int64

	end  chan struct{}
	over sync.Once
}

var _ gate.Line = (*Line)(nil)

// The refusals of a configuration.
var (
	errBase       = errors.New("the address of a service has no query, fragment or user, and no dots in its path")
	errPlain      = errors.New("a credential goes over https, or to this machine")
	errRoots      = errors.New("the certificates of the service are not PEM")
	errHeaderName = errors.New("the header for idempotency keys is not one that a gateway may write")
)

// New checks a configuration. Nothing is sent.
func New(cfg Config) (*Line, error) {
	u, err := url.Parse(cfg.Base)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "" || dotted(u.Path) {
		return nil, errBase
	}
	if cfg.Credential != nil && u.Scheme != "https" && !local(u.Hostname()) {
		return nil, errPlain
	}
	if cfg.KeyHeader != "" && !keyHeader(cfg.KeyHeader) {
		return nil, errHeaderName
	}
	var roots *x509.CertPool
	if cfg.Roots != nil {
		if roots, err = x509.SystemCertPool(); err != nil {
			roots = x509.NewCertPool() // a system without any: only the given ones count
		}
		if !roots.AppendCertsFromPEM(cfg.Roots) {
			return nil, errRoots
		}
	}
	by, err := netguard.Transport(cfg.Base, cfg.Networks, roots)
	if err != nil {
		return nil, err
	}
	l := &Line{cfg: cfg, base: strings.TrimSuffix(cfg.Base, "/"), by: by, tools: map[string]openapi.Operation{}, end: make(chan struct{})}
	for _, o := range cfg.Operations {
		l.tools[o.Name] = o
	}
	l.pages = pagesOf(cfg.Operations)
	return l, nil
}

func dotted(path string) bool {
	for _, s := range strings.Split(path, "/") {
		if s == "." || s == ".." {
			return true
		}
	}
	return false
}

// local: this machine, by a name that no resolver can move.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// keyHeader: a header for keys, or one that nobody else writes.
func keyHeader(name string) bool {
	lower := strings.ToLower(name)
	return lower == "idempotency-key" || lower == "x-idempotency-key" || !openapi.Reserved(name)
}

// pageBytes is how much of definitions one page of tools holds, about.
const pageBytes = 1 << 20

// pagesOf writes the results of tools/list.
func pagesOf(list []openapi.Operation) [][]byte {
	var pages [][]byte
	var tools []string
	size := 0
	close := func(more bool) {
		page := `{"resultType":"complete","tools":[` + strings.Join(tools, ",") + `]`
		if more {
			page += `,"nextCursor":"` + strconv.Itoa(len(pages)+1) + `"`
		}
		pages, tools, size = append(pages, []byte(page+"}")), nil, 0
	}
	for _, o := range list {
		text := o.Definition()
		if size > 0 && size+len(text) > pageBytes {
			close(true)
		}
		tools, size = append(tools, string(text)), size+len(text)
	}
	close(false)
	return pages
}

// Ask answers what asks about the service; a run of a tool is one HTTP request.
func (l *Line) Ask(ctx context.Context, m *wire.Message, t gate.Trip) (*wire.Message, error) {
	return l.ask(ctx, m, t, func() bool { return true })
}

// ask calls begin just before a request leaves.
func (l *Line) ask(ctx context.Context, m *wire.Message, t gate.Trip, begin func() bool) (*wire.Message, error) {
	id := wire.NumberID(l.next.Add(1))
	if t.Sent != nil {
		t.Sent(id)
	}
	switch m.Method() {
	case "server/discover":
		return wire.NewResult(id, []byte(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`))
	case "initialize":
		return wire.NewResult(id, []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"openapi","version":"1"}}`))
	case "ping":
		return wire.NewResult(id, []byte(`{}`))
	case "tools/list":
		return l.list(id, m)
	case "tools/call":
		return l.call(ctx, id, m, t, begin)
	default:
		return wire.NewError(id, wire.CodeMethodNotFound, "there is no such method", nil)
	}
}

// Run is Ask, and goes on listening for a while after a deadline.
func (l *Line) Run(ctx context.Context, m *wire.Message, t gate.Trip) (*wire.Message, error) {
	late, begin, cancel := gate.Late(ctx)
	defer cancel()
	return l.ask(late, m, t, begin)
}

// Prompt is true: a request can be called off at any time.
func (l *Line) Prompt(int) bool { return true }

// Tell takes notifications; a service knows none.
func (l *Line) Tell(*wire.Message) error { return nil }

// Reply drops answers: a service asks nothing.
func (l *Line) Reply(*wire.Message) {}

// Listen returns when the line ends: a service says nothing by itself.
func (l *Line) Listen(func(*wire.Message)) { <-l.end }

// Gone is closed when the line has been closed.
func (l *Line) Gone() <-chan struct{} { return l.end }

// Close ends the line.
func (l *Line) Close() { l.over.Do(func() { close(l.end) }) }

func (l *Line) list(id wire.ID, m *wire.Message) (*wire.Message, error) {
	raw, found, err := m.Member("/params/cursor")
	if err != nil {
		return nil, err
	}
	page := 0
	if found {
		text, _ := wire.Text(raw)
		if page, err = strconv.Atoi(text); err != nil || page < 1 || page >= len(l.pages) {
			return wire.NewError(id, wire.CodeInvalidParams, "there is no such page", nil)
		}
	}
	return wire.NewResult(id, l.pages[page])
}

// call makes the one request of a run.
func (l *Line) call(ctx context.Context, id wire.ID, m *wire.Message, t gate.Trip, begin func() bool) (*wire.Message, error) {
	o, found := l.tools[m.Name()]
	if !found {
		return wire.NewError(id, wire.CodeInvalidParams, "there is no such tool", nil)
	}
	request, err := l.request(m, o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", execute.ErrNotRun, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if t.Left != nil {
		go t.Left() // what waits beside the request may begin
	}
	reply, err := l.send(ctx, request, begin)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	return answer(ctx, id, m, reply)
}

var errNoHeader = errors.New("the tool is called with an idempotency key, and no header for it is known")

// request builds what is sent, all but the credential.
func (l *Line) request(m *wire.Message, o openapi.Operation) (request, error) {
	args, err := canon.Decode(m.Arguments(), canon.Options{MaxBytes: canon.CeilingBytes, MaxNodes: canon.CeilingNodes, MaxDepth: canon.CeilingDepth})
	if err != nil || args.Kind() != canon.Object {
		return request{}, errValue
	}
	out, err := build(o.Binding, args)
	if err != nil {
		return out, err
	}
	raw, keyed, err := m.Meta(wire.MetaIdempotencyKey)
	if err != nil {
		return out, err
	}
	if !keyed {
		return out, nil
	}
	header := o.Binding.KeyHeader
	if header == "" {
		header = l.cfg.KeyHeader
	}
	key, ok := wire.Text(raw)
	if header == "" || !ok {
		return out, errNoHeader
	}
	out.header = append(out.header, [2]string{header, key})
	return out, nil
}
