package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A person's own credential is typed at a terminal and comes from nowhere
// else: what a flag, a file, a pipe or the environment holds, an agent holds
// too.

// errNoTerminal: the command was started by a program.
func errNoTerminal(command string) error {
	return &exitError{code: exitUsage, text: command + " asks for a password and reads it from a terminal only",
		hint: "run it in a terminal"}
}

// terminal is a person at a keyboard.
type terminal struct {
	in  *os.File
	out io.Writer
}

// personAt returns the terminal of the command, or an error that says that
// there is none.
func personAt(s streams, command string) (terminal, error) {
	f, ok := s.in.(*os.File)
	if !ok || !onTerminal(f) {
		return terminal{}, errNoTerminal(command)
	}
	return terminal{f, s.err}, nil
}

// line asks for one line; nothing typed means preset.
func (t terminal) line(question, preset string) (string, error) {
	if preset != "" {
		question += " [" + preset + "]"
	}
	fmt.Fprint(t.out, question+": ")
	text, err := readLine(t.in)
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

// secret asks for a password without showing it.
func (t terminal) secret(question string) (string, error) {
	fmt.Fprint(t.out, question+": ")
	text, err := term.ReadPassword(int(t.in.Fd()))
	fmt.Fprintln(t.out)
	if err != nil {
		return "", errors.New("no password was typed")
	}
	return string(text), nil
}
