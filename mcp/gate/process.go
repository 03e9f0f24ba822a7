package gate

import (
	"errors"
	"fmt"
	"io"
	"os"
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

	cmd   *exec.Cmd
	out   *os.File
	ended chan struct{} // closed when nothing of the server is left
	code  int           // set before ended is closed
}

// closeGrace is how long a server may take to end once its input is closed,
// and how long what it wrote last may take to arrive.
const closeGrace = 2 * time.Second

// Start starts a server in a process group of its own, which ends with it:
// when the program ends, for whatever reason, what it has started is ended
// too. Its standard error goes to stderr.
func Start(c Command, stderr io.Writer) (*Process, error) {
	if c.Path == "" {
		return nil, errors.New("no command to start")
	}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env, cmd.Dir = c.Env, c.Dir
	ownGroup(cmd)
	// The pipes are our own, so that the end of the program is seen although
	// something that it has started holds on to them.
	var files pipes
	in, out, messages, err := files.attach(cmd)
	if err == nil {
		err = cmd.Start()
	}
	files.closeTheirs()
	if err != nil {
		files.closeOurs()
		return nil, fmt.Errorf("start the server: %w", err)
	}
	p := &Process{Out: out, In: in, cmd: cmd, out: out, ended: make(chan struct{})}
	go p.wait(messages, stderr)
	return p, nil
}

// pipes are the two ends of a server's standard streams.
type pipes struct{ ours, theirs []*os.File }

func (p *pipes) attach(cmd *exec.Cmd) (in, out, messages *os.File, err error) {
	var theirs [3]*os.File
	for i, at := range []**os.File{&in, &out, &messages} {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, nil, nil, err
		}
		*at, theirs[i] = r, w
		if i == 0 {
			*at, theirs[i] = w, r
		}
		p.ours, p.theirs = append(p.ours, *at), append(p.theirs, theirs[i])
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	return in, out, messages, nil
}

func (p *pipes) closeTheirs() { closeAll(p.theirs) }
func (p *pipes) closeOurs()   { closeAll(p.ours) }

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// wait collects the program when it ends, and then ends what is left of its
// group.
func (p *Process) wait(messages *os.File, stderr io.Writer) {
	defer close(p.ended)
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(stderr, messages) // the server's last words may be cut off
	}()
	var exit *exec.ExitError
	if err := p.cmd.Wait(); errors.As(err, &exit) && exit.ExitCode() > 0 {
		p.code = exit.ExitCode()
	}
	endGroup(p.cmd)
	select {
	case <-copied:
	case <-time.After(closeGrace): // something that left the group holds on to it
	}
	messages.Close()
	<-copied
}

// Stop closes the server's input, waits a moment and then ends its whole
// process group. It returns when the server has ended.
func (p *Process) Stop() {
	p.In.Close()
	select {
	case <-p.ended:
	case <-time.After(closeGrace):
		endGroup(p.cmd) // children that the server left behind, too
		<-p.ended
	}
	p.out.Close()
}

// ExitCode is the code with which a stopped server ended by itself, or 0 if
// it was killed. It is for people; it says nothing about any call.
func (p *Process) ExitCode() int { return p.code }
