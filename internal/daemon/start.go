package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/config"
)

// startWait is how long a daemon may take to serve.
const startWait = 20 * time.Second

// Starter says how to start the daemon of a home in the background.
type Starter struct {
	Home  config.Home
	Build Build // of this program
	// Command and Args run this program as the daemon; it must outlive the
	// process that started it.
	Command string
	Args    []string
	// Check says what would keep a daemon from starting, before one is
	// started; nil checks nothing.
	Check func() error
	// Say tells people what happens; may be nil.
	Say func(text string)
}

func (s Starter) say(format string, args ...any) {
	if s.Say != nil {
		s.Say(fmt.Sprintf(format, args...))
	}
}

// Client connects to the daemon of a home. It starts one if none runs, and
// replaces one that is certainly older and serves nobody. Several processes
// may do so at once: the home's lock lets one daemon win.
func (s Starter) Client(ctx context.Context) (*Client, error) {
	c, err := Connect(ctx, s.Home)
	if err == nil {
		return s.newest(ctx, c)
	}
	if !errors.Is(err, ErrNoDaemon) {
		return nil, err
	}
	return s.start(ctx)
}

// newest asks an older daemon to make way.
func (s Starter) newest(ctx context.Context, c *Client) (*Client, error) {
	if !s.Build.Newer(c.State.Build) {
		return c, nil
	}
	state, err := c.drain(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the older daemon to make way: %w", err)
	}
	if state.Attached > 0 {
		s.say("an older daemon (%s) still has clients (%d); it makes way when they have ended", state.Build.Version, state.Attached)
		return c, nil
	}
	return s.start(ctx)
}

// start runs the daemon and waits until it serves.
func (s Starter) start(ctx context.Context) (*Client, error) {
	if s.Check != nil {
		if err := s.Check(); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	if err := rotate(s.Home.Log()); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(s.Home.Log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the daemon's log: %w", err)
	}
	defer log.Close()
	from, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	ended, err := s.spawn(log)
	if err != nil {
		return nil, err
	}
	return s.await(ctx, ended, from)
}

// maxLog is how long the log may be when a daemon starts, in bytes.
const maxLog = 10 << 20

// rotate keeps one earlier log.
func rotate(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() < maxLog {
		return nil // none, or short enough
	}
	return os.Rename(path, path+".1")
}

// spawn starts the process. Its end is sent once.
func (s Starter) spawn(log *os.File) (<-chan error, error) {
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Dir = string(s.Home) // it must not keep anybody's directory busy
	cmd.Env = append(os.Environ(), config.HomeVariable+"="+string(s.Home))
	cmd.Stdout, cmd.Stderr = log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return ended, nil
}

func (s Starter) await(ctx context.Context, ended <-chan error, from int64) (*Client, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := Connect(ctx, s.Home)
		if err == nil {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the daemon does not serve; see %s", s.Home.Log())
		case failed := <-ended:
			if failed != nil {
				return nil, s.whyEnded(failed, from)
			}
			ended = nil // another one holds the lock; it will serve
		case <-tick.C:
		}
	}
}

// whyEnded is what the daemon wrote before it ended.
func (s Starter) whyEnded(failed error, from int64) error {
	f, err := os.Open(s.Home.Log())
	if err != nil {
		return fmt.Errorf("the daemon ended: %w", failed)
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, from, 16<<10))
	if err != nil || strings.TrimSpace(string(text)) == "" {
		return fmt.Errorf("the daemon ended: %w; see %s", failed, s.Home.Log())
	}
	return fmt.Errorf("the daemon did not start:\n%s", strings.TrimSpace(string(text)))
}
