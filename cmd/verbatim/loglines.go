package main

import (
	"bytes"
	"log/slog"
	"sync"
	"time"
)

// logLines writes what a server says on its standard error into the log, line
// by line.
type logLines struct {
	log *slog.Logger

	mu   sync.Mutex
	rest []byte
	from time.Time // when the present second of lines began
	said int
}

// The limits of what servers may say in the log.
const (
	maxLogLine  = 1000
	linesPerSec = 50
)

// Write takes text.
func (l *logLines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, text...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found && len(l.rest) <= maxLogLine {
			return len(text), nil
		}
		if !found {
			line, rest = l.rest[:maxLogLine], nil
		}
		l.say(line)
		l.rest = append([]byte(nil), rest...)
	}
}

func (l *logLines) say(line []byte) {
	if time.Since(l.from) > time.Second {
		l.from, l.said = time.Now(), 0
	}
	if l.said++; l.said > linesPerSec || len(bytes.TrimSpace(line)) == 0 {
		return
	}
	l.log.Info("the server says", "text", plain(string(line[:min(len(line), maxLogLine)])))
}
