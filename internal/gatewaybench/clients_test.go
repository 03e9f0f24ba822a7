//go:build bench && linux

package gatewaybench_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// caller makes one call.
type caller func() error

// lineClient speaks to one server over two streams, one call at a time.
func lineClient(t *testing.T, p pipe, tool, era string) caller {
	t.Helper()
	in := bufio.NewReader(p)
	ask := func(frame string) (string, error) {
		if _, err := io.WriteString(p, frame+"\n"); err != nil {
			return "", err
		}
		return in.ReadString('\n')
	}
	if era == legacy {
		if _, err := ask(greeting); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(p, greeted+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	frame := callOf(tool, era, "7")
	return func() error {
		line, err := ask(frame)
		return expected(line, err)
	}
}

func expected(text string, err error) error {
	if err == nil && !strings.Contains(text, answerIs) {
		err = errors.New(text)
	}
	return err
}

// manyLines makes calls of one client, many of them at once.
func manyLines(t *testing.T, p pipe, tool string, at int) func(total int) error {
	t.Helper()
	call := lineClient(t, p, tool, legacy)
	if err := call(); err != nil {
		t.Fatal(err)
	}
	return func(total int) error {
		in, ids := bufio.NewReader(p), make(chan int, at)
		for range at {
			ids <- 1
		}
		go func() {
			for i := range total {
				<-ids
				if _, err := io.WriteString(p, callOf(tool, legacy, strconv.Itoa(100+i))+"\n"); err != nil {
					return
				}
			}
		}()
		for range total {
			line, err := in.ReadString('\n')
			if err := expected(line, err); err != nil {
				return err
			}
			ids <- 1
		}
		return nil
	}
}

// webClient makes calls over a connection that is kept.
func webClient(t *testing.T, at, tool, era, id string) caller {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	session := ""
	if era == legacy {
		_, h, err := post(c, at, greeting, map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer x"})
		if err != nil {
			t.Fatal(err)
		}
		session = h.Get("Mcp-Session-Id")
	}
	frame, headers := callOf(tool, era, id), headersOf(tool, era, session)
	return func() error {
		text, _, err := post(c, at, frame, headers)
		return expected(text, err)
	}
}

// manyClients makes calls of several clients of their own.
func manyClients(t *testing.T, at, tool string, n int) func(total int) error {
	t.Helper()
	calls := make([]caller, n)
	for i := range calls {
		calls[i] = webClient(t, at, tool, modern, strconv.Itoa(100+i))
		if err := calls[i](); err != nil {
			t.Fatal(err)
		}
	}
	return func(total int) error {
		var all sync.WaitGroup
		errs := make([]error, n)
		for i, call := range calls {
			all.Go(func() {
				for range total / n {
					if errs[i] = call(); errs[i] != nil {
						return
					}
				}
			})
		}
		all.Wait()
		return errors.Join(errs...)
	}
}

// pipes are two ends of a pair of pipes of the operating system.
func pipes(t *testing.T) (a, b pipe) {
	t.Helper()
	r1, w1, err1 := os.Pipe()
	r2, w2, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	a, b = pipe{r1, w2}, pipe{r2, w1}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// inside plays a role in this very process.
func inside(t *testing.T, name string) pipe {
	t.Helper()
	near, far := pipes(t)
	go func() {
		_ = stdioRoles[name](far, func() pipe { return inside(t, "server") })
	}()
	return near
}
