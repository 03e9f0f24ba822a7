package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

// A person's own credential is typed at a terminal and comes from nowhere
// else: what a flag, a file, a pipe or the environment holds, an agent holds
// too.

// errNoTerminal: the command was started by a program.
func errNoTerminal(command string) error {
	return &exitError{code: exitUsage, text: command + " asks for a password and reads it from a terminal only",
		hint: "run it in a terminal"}
}

// errInterrupted: the person pressed Ctrl-C at a question.
var errInterrupted = &exitError{code: exitFailure, text: "interrupted; nothing was changed"}

// terminal is a person at a keyboard.
type terminal struct {
	in   *os.File
	out  io.Writer
	gone <-chan struct{} // closed by Ctrl-C
}

// personAt returns the terminal of the command, or an error that says that
// there is none.
func personAt(ctx context.Context, s streams, command string) (terminal, error) {
	f, ok := s.in.(*os.File)
	if !ok || !onTerminal(f) {
		return terminal{}, errNoTerminal(command)
	}
	return terminal{f, s.err, ctx.Done()}, nil
}

// reply is what came of one question.
type reply struct {
	text string
	err  error
}

// await waits for what read returns, or for Ctrl-C: a signal does not end a
// read by itself. What was changed about the terminal is undone then.
func (t terminal) await(read func() (string, error)) (string, error) {
	fd := int(t.in.Fd())
	before, err := term.GetState(fd)
	answer := make(chan reply, 1)
	go func() {
		text, err := read()
		answer <- reply{text, err}
	}()
	select {
	case a := <-answer:
		return a.text, a.err
	case <-t.gone:
		fmt.Fprintln(t.out)
		if err == nil {
			_ = term.Restore(fd, before) // the program ends either way
		}
		return "", errInterrupted
	}
}

// line asks for one line; nothing typed means preset.
func (t terminal) line(question, preset string) (string, error) {
	if preset != "" {
		question += " [" + preset + "]"
	}
	fmt.Fprint(t.out, question+": ")
	text, err := t.await(func() (string, error) { return readLine(t.in) })
	if err != nil {
		return "", err
	}
	if text = strings.TrimSpace(text); text == "" {
		return preset, nil
	}
	return text, nil
}

// maxLine bounds what a person types, in bytes.
const maxLine = 4096

// readLine reads up to a line end, byte by byte: what comes after it belongs
// to the next question.
func readLine(r io.Reader) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for len(line) < maxLine {
		n, err := r.Read(one)
		if n == 1 && one[0] == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		line = append(line, one[:n]...)
		if err != nil {
			return "", errors.New("nothing was typed")
		}
	}
	return "", errors.New("the line is too long")
}

// errNoPassword: the terminal was closed at the question.
var errNoPassword = errors.New("no password was typed")

// secret asks for a password without showing it.
func (t terminal) secret(question string) (string, error) {
	fmt.Fprint(t.out, question+": ")
	text, err := t.await(func() (string, error) {
		text, err := term.ReadPassword(int(t.in.Fd()))
		if err != nil {
			err = errNoPassword
		}
		return string(text), err
	})
	if !errors.Is(err, errInterrupted) {
		fmt.Fprintln(t.out)
	}
	return text, err
}

// tries is how often a person is asked again after a refusal.
const tries = 3

// again repeats what a person can mend at once. Whatever else is wrong ends
// it, and so does the last refusal.
func again(s streams, try func() error) error {
	for n := 1; ; n++ {
		err := try()
		var refused *daemon.Refusal
		if n == tries || !errors.As(err, &refused) ||
			refused.Status != http.StatusUnauthorized && refused.Status != http.StatusUnprocessableEntity {
			return err
		}
		fmt.Fprintf(s.err, "%s; try again, or end with Ctrl-C\n", plain(refused.Text))
	}
}
