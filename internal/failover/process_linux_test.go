package failover_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is the parent's end of a gateway, which is started again whenever it
// ends.
type process struct {
	number int
	at     place

	mu     sync.Mutex
	cmd    *exec.Cmd
	in     io.WriteCloser
	next   int
	waits  map[int]chan answer // nil while it does not run
	lives  int
	ending bool
	last   error         // how the last life ended
	ended  chan struct{} // closed when the last life has ended
}

// supervise keeps a gateway running until it is told to end.
func supervise(t *testing.T, number int, at place) *process {
	t.Helper()
	p := &process{number: number, at: at, ended: make(chan struct{})}
	out, err := p.launch()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		for {
			p.listen(out)
			err := p.cmd.Wait()
			p.mu.Lock()
			over := p.ending
			p.last = err
			p.mu.Unlock()
			if over {
				return
			}
			time.Sleep(100 * time.Millisecond)
			if out, err = p.launch(); err != nil {
				t.Errorf("gateway %d does not start: %v", number, err)
				return
			}
		}
	}()
	t.Cleanup(func() { p.end() })
	return p
}

func (p *process) log() string {
	return filepath.Join(filepath.Dir(p.at.Dir), fmt.Sprintf("gateway-%d.log", p.number))
}

// launch starts the process.
func (p *process) launch() (io.Reader, error) {
	text, err := json.Marshal(p.at)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(p.log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^TestGateway$")
	cmd.Env = append(os.Environ(), order+"="+string(text), "TMPDIR="+filepath.Dir(p.at.Dir))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // a stopped one would stay for ever
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if p.ending {
		_ = in.Close()
	}
	p.cmd, p.in, p.waits = cmd, in, map[int]chan answer{}
	p.lives++
	return out, nil
}

// gone is the answer of a gateway that does not run any more.
const gone = "the gateway has ended"

func (p *process) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "answer ")
		var a answer
		if !ok || json.Unmarshal([]byte(text), &a) != nil {
			p.keep(lines.Text())
			continue
		}
		p.mu.Lock()
		wait := p.waits[a.ID]
		delete(p.waits, a.ID)
		p.mu.Unlock()
		if wait != nil {
			wait <- a
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, wait := range p.waits {
		wait <- answer{Error: gone}
	}
	p.waits = nil
}

// keep adds what a gateway said beside its answers to its log.
func (p *process) keep(text string) {
	if text == "" {
		return
	}
	if f, err := os.OpenFile(p.log(), os.O_APPEND|os.O_WRONLY, 0); err == nil {
		fmt.Fprintln(f, text)
		f.Close()
	}
}

// callerPatience is how long a caller waits before it goes elsewhere.
const callerPatience = 8 * time.Second

func (p *process) ask(r request) answer {
	wait := make(chan answer, 1)
	p.mu.Lock()
	if p.waits == nil {
		p.mu.Unlock()
		return answer{Error: gone}
	}
	p.next++
	r.ID = p.next
	p.waits[r.ID] = wait
	in := p.in
	text, err := json.Marshal(r)
	p.mu.Unlock()
	if err == nil {
		_, err = in.Write(append(text, '\n')) // a stopped gateway does not read; its pipe takes a while to fill
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	select {
	case a := <-wait:
		return a
	case <-time.After(callerPatience):
		return answer{Error: "no answer"}
	}
}

// waiting is how many calls are not answered.
func (p *process) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waits)
}

func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Signal(s) // it may have ended
}

// end lets the process finish what it does, and says how it ended.
func (p *process) end() error {
	p.mu.Lock()
	if !p.ending {
		p.ending = true
		_ = p.in.Close()
	}
	p.mu.Unlock()
	<-p.ended
	return p.last
}
