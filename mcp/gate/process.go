package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// Command is how to start a server that speaks over its standard streams.
type Command struct {
	Path string   // a program; no shell is involved
	Args []string // without the program
	Env  []string // the whole environment
	Dir  string
}

// Process is a running server.
type Process struct {
	Out io.Reader // what the server writes
	In  io.WriteCloser
	cmd *exec.Cmd

	code int // set by Stop
}

// closeGrace is how long a server may take to end once its input is closed.
const closeGrace = 2 * time.Second

// Start starts a server in a process group of its own. Its standard error
// goes to stderr.
func Start(c Command, stderr io.Writer) (*Process, error) {
	if c.Path == "" {
		return nil, errors.New("no command to start")
	}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env, cmd.Dir, cmd.Stderr = c.Env, c.Dir, stderr
	cmd.WaitDelay = closeGrace
	ownGroup(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	return &Process{Out: out, In: in, cmd: cmd}, nil
}

// Stop closes the server's input, waits a moment and then ends its whole
// process group. It returns when the server has ended.
func (p *Process) Stop() {
	p.In.Close()
	ended := make(chan struct{})
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	go func() {
		defer close(ended)
		var exit *exec.ExitError
		if err := p.cmd.Wait(); errors.As(err, &exit) && exit.ExitCode() > 0 {
			p.code = exit.ExitCode()
		}
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	endGroup(p.cmd) // children that the server left behind, too
	<-ended
}

// ExitCode is the code with which a stopped server ended by itself, or 0 if
// it was killed. It is for people; it says nothing about any call.
func (p *Process) ExitCode() int { return p.code }
