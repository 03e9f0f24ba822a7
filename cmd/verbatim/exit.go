package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// The exit codes of every command.
const (
	exitOK       = 0 // done, or allowed
	exitFailure  = 1 // something is broken
	exitUsage    = 2 // the command line is wrong
	exitDenied   = 3 // denied, or refused input
	exitApproval = 4 // a person must approve first
)

// exitError is an error with an exit code and a line that says what to do.
type exitError struct {
	code int
	text string
	hint string
	err  error
}

func (e *exitError) Error() string { return e.text }
func (e *exitError) Unwrap() error { return e.err }

func usage(text string) error { return &exitError{code: exitUsage, text: text} }

func hinted(err error, hint string) error {
	return &exitError{code: exitFailure, text: err.Error(), hint: hint, err: err}
}

// ended carries an exit code whose reason was printed already.
func ended(code int) error { return &exitError{code: code} }

// report prints an error as people expect it and returns its exit code. cmd
// is the command that failed, or nil. With --json the error is the document;
// standard output of wrap is for frames and nothing else.
func report(s streams, cmd *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{code: exitFailure, text: err.Error()}
		if strings.HasPrefix(e.text, "unknown command") || strings.Contains(e.text, "arg(s)") {
			e.code = exitUsage
		}
		if cmd != nil && strings.Contains(e.text, "arg(s)") { // cobra counts; people want to see the form
			e.text = e.text + "; usage: " + strings.TrimSuffix(cmd.UseLine(), " [flags]")
			err = e
		}
	}
	if e.text != "" {
		fmt.Fprintln(s.err, "verbatim:", err)
	}
	hint := e.hint
	if e.code == exitUsage && hint == "" {
		hint = "see verbatim --help"
		if cmd != nil {
			hint = "see " + cmd.CommandPath() + " --help"
		}
	}
	if hint != "" {
		fmt.Fprintln(s.err, "hint:", hint)
	}
	if e.text != "" && cmd != nil && wantsJSON(cmd) && cmd.Name() != "wrap" {
		_ = printJSON(s.out, fault{err.Error(), hint}) // the exit code says it, too
	}
	return e.code
}

// fault is the JSON document of a command that ended with an error.
type fault struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}

// streams are the standard streams of one command.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

func terminalStreams() streams { return streams{os.Stdin, os.Stdout, os.Stderr} }

// onTerminal reports whether a stream is a person's terminal.
func onTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
