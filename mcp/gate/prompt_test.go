package gate_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

func request(t *testing.T, size int) *wire.Message {
	t.Helper()
	m, err := wire.NewRequest(wire.NumberID(0), "ping", []byte(`{"x":"`+strings.Repeat("a", size)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLineIsPromptOnlyWhileThePipeHasRoom: a server that does not read leaves
// no room; one that answers has read.
func TestLineIsPromptOnlyWhileThePipeHasRoom(t *testing.T) {
	t.Parallel()
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, say := io.Pipe()
	t.Cleanup(func() { theirs.Close(); ours.Close(); say.Close() })
	line := gate.NewStream(answers, ours, slog.New(slog.DiscardHandler))
	go line.Listen(func(*wire.Message) {})
	room := 4096 // every system has that
	for line.Prompt(room + 1) {
		room++
	}
	if !line.Prompt(room) || room > 1<<20 {
		t.Errorf("room for %d bytes", room)
	}
	gone, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := line.Ask(gone, request(t, room-1000), gate.Trip{})
		ended <- err
	}()
	for line.Prompt(2000) { // until it is written; what nobody has read leaves no room
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Fatal("somebody answered")
	}
	in := wire.NewReader(theirs, wire.Limits{})
	go func() {
		for {
			m, err := in.Read()
			if err != nil {
				return
			}
			if strings.Contains(string(m.Params()), "aaaa") {
				continue // it has read it, and says nothing
			}
			a, err := wire.NewResult(m.ID(), []byte(`{}`))
			if err == nil {
				_, err = say.Write(append(a.Bytes(), '\n'))
			}
			if err != nil {
				return
			}
		}
	}()
	if _, err := line.Ask(t.Context(), request(t, 1), gate.Trip{}); err != nil {
		t.Fatal(err)
	}
	if !line.Prompt(room) {
		t.Error("an answer says that everything before it was read")
	}
}

// TestIDsCannotBeGuessed: a server that has not read a request cannot answer
// it.
func TestIDsCannotBeGuessed(t *testing.T) {
	t.Parallel()
	theirs, ours := io.Pipe()
	answers, say := io.Pipe()
	t.Cleanup(func() { theirs.Close(); say.Close() })
	line := gate.NewStream(answers, ours, slog.New(slog.DiscardHandler))
	go line.Listen(func(*wire.Message) {})
	in := wire.NewReader(theirs, wire.Limits{})
	seen := map[string]bool{}
	for range 50 {
		go func() { _, _ = line.Ask(t.Context(), request(t, 1), gate.Trip{}) }()
		m, err := in.Read()
		if err != nil {
			t.Fatal(err)
		}
		if key := m.ID().Key(); len(key) < 8 || len(key) > 16 || seen[key] {
			t.Errorf("id %s", key)
		}
		seen[m.ID().Key()] = true
	}
}

// TestWhatALinePromisesFindsRoom writes to a server that reads nothing, in
// frames of unhandy sizes, for as long as the line promises room: no write may
// wait.
func TestWhatALinePromisesFindsRoom(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 333, 2049, 4000} {
		theirs, ours, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		answers, say := io.Pipe()
		t.Cleanup(func() { theirs.Close(); ours.Close(); say.Close() })
		line := gate.NewStream(answers, ours, slog.New(slog.DiscardHandler))
		m := request(t, size)
		for line.Prompt(len(m.Bytes()) + 1) {
			if err := ours.SetWriteDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if err := line.Tell(m); err != nil {
				t.Fatalf("frames of %d bytes: %v", len(m.Bytes()), err)
			}
		}
	}
}
