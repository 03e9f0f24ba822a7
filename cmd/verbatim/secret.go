package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/config"
)

// The limits of a secret that a program or a file gives.
const (
	maxSecret     = 16 << 10
	secretTime    = 10 * time.Second
	secretRefresh = 5 * time.Minute
)

var (
	errNoSecret  = errors.New("the secret is empty, or is not one line of printable characters")
	errOpenFile  = errors.New("the file can be read by others; run chmod 600 on it")
	errSecretRun = errors.New("the program that prints the secret failed")
)

// readSecret finds a secret. Its errors say the place, never the text.
func readSecret(ctx context.Context, s config.Secret) (string, error) {
	switch {
	case s.Env != "":
		text, err := oneLine([]byte(os.Getenv(s.Env)))
		if err != nil {
			return "", fmt.Errorf("variable %s: %w", s.Env, err)
		}
		return text, nil
	case s.File != "":
		return secretFile(s.File)
	default:
		return secretOf(ctx, s.Command)
	}
}

func secretFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if exposed(info) {
		return "", fmt.Errorf("%s: %w", path, errOpenFile)
	}
	if info.Size() > maxSecret {
		return "", fmt.Errorf("%s: %w", path, errNoSecret)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	line, err := oneLine(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return line, nil
}

func secretOf(ctx context.Context, command []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, secretTime)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	if err := cmd.Run(); err != nil || out.Len() > maxSecret {
		return "", errSecretRun
	}
	return oneLine(out.Bytes())
}

// oneLine takes the line end away; what a header could not carry is refused.
func oneLine(text []byte) (string, error) {
	text = bytes.TrimRight(text, "\r\n")
	if len(text) == 0 || len(text) > maxSecret || bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", errNoSecret
	}
	return string(text), nil
}

// credential is the header that authenticates the gateway to a server. Files
// and variables are read each time, so that a new secret is used at once; a
// program is asked again after some minutes.
type credential struct {
	from config.Credential

	mu   sync.Mutex
	text string
	at   time.Time
}

func (c *credential) header(ctx context.Context) (name, value string, err error) {
	if len(c.from.Command) == 0 {
		text, err := readSecret(ctx, c.from.Secret)
		return c.from.Header, c.from.Prefix + text, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.text == "" || time.Since(c.at) > secretRefresh {
		text, err := readSecret(ctx, c.from.Secret)
		if err != nil {
			return "", "", err
		}
		c.text, c.at = text, time.Now()
	}
	return c.from.Header, c.from.Prefix + c.text, nil
}
