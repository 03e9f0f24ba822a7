package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func TestServerIsNamedAfterWhatRuns(t *testing.T) {
	t.Parallel()
	tests := []struct{ command, want string }{
		{"npx -y @modelcontextprotocol/server-filesystem /srv", "filesystem"},
		{"npx @modelcontextprotocol/server-memory@2026.8.31", "memory"},
		{"npx -y mcp-server-git", "git"},
		{"mcp-server-filesystem /srv", "filesystem"},
		{"/usr/local/bin/notes-mcp", "notes-mcp"},
		{`C:\tools\Notes.exe`, "notes"},
		{"node /opt/weather/dist/index.js", "weather"},
		{"node server.js", "server"},
		{"python3 -m weather_server", "weather-server"},
		{"uvx mcp-server-time --local", "time"},
		{"docker run -i --rm mcp/postgres", "postgres"},
		{"日本", "server"},
		{strings.Repeat("x", 60), strings.Repeat("x", 40)},
	}
	for _, tt := range tests {
		words := strings.Fields(tt.command)
		if got := serverName(words[0], words[1:]); got != tt.want {
			t.Errorf("%s is called %q, want %q", tt.command, got, tt.want)
		}
	}
}

func TestEveryCommandHasAName(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		command := rapid.String().Draw(t, "command")
		args := rapid.SliceOf(rapid.String()).Draw(t, "args")
		if got := serverName(command, args); !config.ServerName.MatchString(got) {
			t.Errorf("%q is no name", got)
		}
	})
}

func TestExitCodesAndHints(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		code int
		says string
	}{
		{"nothing wrong", nil, exitOK, ""},
		{"something broken", errors.New("the disk is full"), exitFailure, "verbatim: the disk is full\n"},
		{"a wrong command line", usage("--x needs a value"), exitUsage, "verbatim: --x needs a value\nhint: see verbatim --help\n"},
		{"an unknown command", errors.New(`unknown command "x"`), exitUsage, "verbatim: unknown command \"x\"\nhint: see verbatim --help\n"},
		{"with a hint", hinted(errors.New("nobody"), "run setup"), exitFailure, "verbatim: nobody\nhint: run setup\n"},
		{"said already", ended(exitApproval), exitApproval, ""},
		{"no terminal", errNoTerminal("setup"), exitUsage, "verbatim: setup asks for a password and reads it from a terminal only\nhint: run it in a terminal\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var said bytes.Buffer
			if code := report(streams{err: &said}, nil, tt.err); code != tt.code || said.String() != tt.says {
				t.Errorf("code %d, %q; want %d, %q", code, said.String(), tt.code, tt.says)
			}
		})
	}
}

func TestReadingALineTakesNothingOfTheNext(t *testing.T) {
	t.Parallel()
	in := strings.NewReader("anna\r\na secret\n")
	for _, want := range []string{"anna", "a secret"} {
		if got, err := readLine(in); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	for name, text := range map[string]string{"nothing": "", "no line end": "anna", "far too much": strings.Repeat("x", 2*maxLine)} {
		if got, err := readLine(strings.NewReader(text)); err == nil {
			t.Errorf("%s was read as %d bytes", name, len(got))
		}
	}
}

func TestEnvironmentOfADeclaredServerComesOnTop(t *testing.T) {
	t.Parallel()
	got := strings.Join(withEnv([]string{"PATH=/bin", "A=1", "AB=2"}, map[string]string{"A": "new", "C": "3"}), " ")
	if got != "PATH=/bin AB=2 A=new C=3" {
		t.Error(got)
	}
}

// A signal does not end a read by itself: without this, Ctrl-C at a question
// would do nothing.
func TestInterruptEndsAQuestion(t *testing.T) {
	t.Parallel()
	in, keyboard, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); keyboard.Close() })
	gone := make(chan struct{})
	close(gone)
	person := terminal{in, io.Discard, gone}
	for name, ask := range map[string]func() (string, error){
		"line":   func() (string, error) { return person.line("Name", "anna") },
		"secret": func() (string, error) { return person.await(func() (string, error) { return readLine(in) }) },
	} {
		if text, err := ask(); text != "" || !errors.Is(err, errInterrupted) {
			t.Errorf("%s: %q, %v; want errInterrupted", name, text, err)
		}
	}
}

func TestOnlyWhatAPersonCanMendIsAskedAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"a wrong password", &daemon.Refusal{Status: http.StatusUnauthorized}, tries},
		{"a weak one", &daemon.Refusal{Status: http.StatusUnprocessableEntity}, tries},
		{"too many tries", &daemon.Refusal{Status: http.StatusTooManyRequests}, 1},
		{"a person who may not vote", &daemon.Refusal{Status: http.StatusForbidden}, 1},
		{"an action that moved", &daemon.Refusal{Status: http.StatusConflict}, 1},
		{"a daemon that broke", &daemon.Refusal{Status: http.StatusInternalServerError}, 1},
		{"an interrupt", errInterrupted, 1},
		{"nothing", nil, 1},
	}
	for _, tt := range tests {
		asked := 0
		err := again(streams{err: io.Discard}, func() error { asked++; return tt.err })
		if asked != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: asked %d times, %v; want %d", tt.name, asked, err, tt.want)
		}
	}
}
