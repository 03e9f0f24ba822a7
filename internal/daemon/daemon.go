package daemon

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/sink"
)

// Config is what a daemon is made of. Origin, TLS, Idle, Reload and Ready may
// be zero.
type Config struct {
	Home     config.Home
	Build    Build  // of this program
	Listen   string // address of the page
	Origin   string // where browsers find the page; "" means http://localhost and the port that was got
	TLS      *tls.Config
	Tenant   string // the one tenant of the home
	Gate     *verbatim.Gate
	Accounts *auth.Accounts
	// VoteKeys are the public keys that sign votes made with a password.
	VoteKeys []ed25519.PublicKey
	Tools    func(name string) (*catalog.Tool, bool)
	// Pages makes the approvers' pages for the origin that was got.
	Pages func(origin string) (http.Handler, error)
	// Attach starts the server of a client. Its error goes to the client.
	Attach func(h Hello, notes *Notes) (Upstream, error)
	// Endpoint is the address for MCP clients over HTTP; nil: there is none.
	Endpoint *Endpoint
	// Sinks hand events on; nil: nobody is told.
	Sinks *sink.Sinks
	// Metrics is the address for Prometheus; nil: there is none.
	Metrics *Metrics
	// Idle is how long a daemon without work stays; 0 means until it is told.
	Idle time.Duration
	// KeepKeys is how long idempotency keys are kept after their action has
	// ended; nil, or less than that, means action.MinKeyRetention.
	KeepKeys func() time.Duration
	// Retention is how long payloads are kept, by class; empty: until they are
	// erased.
	Retention action.Retention
	// Sequence adds records to the signed log and says how many. It is called
	// twice a second and once at the end; nil leaves the log unsigned.
	Sequence func(context.Context) (int, error)
	// Reload is called every second; nil does nothing.
	Reload func()
	// Mistakes say what keeps changed files from being in use; nil says nothing.
	Mistakes func() []string
	// Ready is told the state once everything serves.
	Ready func(State)
	Log   *slog.Logger
}

// Daemon serves one home.
type Daemon struct {
	cfg      Config
	lock     *Lock
	log      *slog.Logger
	state    State
	attached *attachments
	clients  Clients // of the endpoint; zero if there is none

	serving context.Context // ends when calls are no longer taken
	stop    context.CancelFunc

	draining atomic.Bool
	forgets  atomic.Bool   // payloads are being forgotten
	touched  atomic.Int64  // when somebody last asked for something, Unix nanoseconds
	stirred  chan struct{} // something was started; see giveBack
	creating sync.Mutex    // one account is made at a time: only the first needs no login
}

// endGrace bounds how long an ending daemon waits for runs.
const endGrace = 10 * time.Second

// Run serves a home until ctx ends, somebody asks it to stop, or it has been
// idle. The caller closes the store and frees the lock afterwards.
func Run(ctx context.Context, lock *Lock, cfg Config) error {
	d := &Daemon{cfg: cfg, lock: lock, log: cfg.Log, attached: newAttachments(), stirred: make(chan struct{}, 1)}
	d.serving, d.stop = context.WithCancel(ctx)
	defer d.stop()
	d.touch()
	if _, err := cfg.Gate.Sweep(ctx, true); err != nil {
		return fmt.Errorf("look after an earlier daemon: %w", err)
	}
	page, err := d.openPage()
	if err != nil {
		return err
	}
	defer closeAll(page)
	control, socket, err := listen(cfg.Home)
	if err != nil {
		return err
	}
	defer removeSocket(cfg.Home, socket)
	d.state = State{PID: os.Getpid(), Build: cfg.Build, Page: d.origin(page[0].Addr()), Socket: socket}
	pages, err := cfg.Pages(d.state.Page)
	if err != nil {
		return errors.Join(err, control.Close())
	}
	clients, err := d.openEndpoint()
	if err != nil {
		return errors.Join(err, control.Close())
	}
	metrics, err := d.openMetrics()
	if err != nil {
		return errors.Join(err, control.Close())
	}
	d.warnOfOrphans(ctx)
	return d.serve(control, page, clients, metrics, pages)
}

// served is a server with what it listens on.
type served struct {
	server *http.Server
	on     []net.Listener
}

// serve runs the servers and the sweeper until the end.
func (d *Daemon) serve(control net.Listener, page []net.Listener, clients, metrics net.Listener, pages http.Handler) error {
	// The context of requests must outlive d.serving: answers of calls that
	// finish at the end still go out.
	all := []served{
		{&http.Server{Handler: d.api(), ReadHeaderTimeout: 10 * time.Second}, []net.Listener{control}},
		{&http.Server{Handler: d.noticed(pages), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
			WriteTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(d.log.Handler(), slog.LevelDebug)}, page},
	}
	if clients != nil {
		all = append(all, served{d.endpointServer(), []net.Listener{clients}})
	}
	if metrics != nil {
		all = append(all, served{d.metricsServer(), []net.Listener{metrics}})
	}
	var servers []*http.Server
	failed := make(chan error, len(all)+len(page))
	for _, s := range all {
		servers = append(servers, s.server)
		for _, l := range s.on {
			go func() { failed <- s.server.Serve(l) }()
		}
	}
	if err := writeState(d.cfg.Home, d.state); err != nil {
		d.end(servers)
		return err
	}
	defer os.Remove(d.cfg.Home.State())
	d.log.Info("serving", "page", d.state.Page, "endpoint", d.state.Endpoint, "socket", d.state.Socket, "version", d.state.Build.Version)
	if d.cfg.Ready != nil {
		d.cfg.Ready(d.state)
	}
	go d.watch()
	go d.giveBack()
	sequenced := make(chan struct{})
	go d.sequence(sequenced)
	handed := d.hand()
	var err error
	select {
	case <-d.serving.Done():
	case err = <-failed:
	}
	d.end(servers)
	d.lastRecords(sequenced)
	d.lastEvents(handed)
	return err
}

// end stops taking calls, waits for runs that have begun, and closes.
func (d *Daemon) end(servers []*http.Server) {
	d.stop()
	ctx, cancel := context.WithTimeout(context.Background(), endGrace)
	defer cancel()
	if d.attached.end(ctx) != nil {
		d.log.Warn("runs were still going when the daemon ended; they are uncertain")
	}
	if d.clients.End != nil {
		d.clients.End(ctx)
	}
	for _, s := range servers {
		if s.Shutdown(ctx) != nil {
			_ = s.Close() // it took too long
		}
	}
}

// origin is where browsers find the page.
func (d *Daemon) origin(at net.Addr) string {
	if d.cfg.Origin != "" {
		return d.cfg.Origin
	}
	return "http://" + named(at)
}

// named is a loopback address as browsers should show it. They make passkeys
// for the name localhost, and for no bare address.
func named(at net.Addr) string {
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return at.String()
	}
	return net.JoinHostPort("localhost", port)
}

// noticed notes that somebody is there.
func (d *Daemon) noticed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.touch()
		h.ServeHTTP(w, r)
	})
}

func (d *Daemon) touch() { d.touched.Store(time.Now().UnixNano()) }
