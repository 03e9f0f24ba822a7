package soak_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// childArg makes this test binary a server: childArg FILE.
const childArg = "be-a-notes-server"

const notesTools = `{"name":"add","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}},` +
	`{"name":"list","inputSchema":{"type":"object"}}`

const farTools = `{"name":"look","inputSchema":{"type":"object"}}`

// request is what a server reads of a message.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string
		Arguments struct{ Text string }
	} `json:"params"`
}

func (r request) answer(result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result)
}

// common answers what every server answers the same; "" for a call.
func (r request) common(tools string) string {
	switch r.Method {
	case "initialize":
		return r.answer(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
	case "tools/list":
		return r.answer(`{"tools":[` + tools + `]}`)
	case "tools/call":
		return ""
	default:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, r.ID)
	}
}

// notes is the server of one gateway: each run of add is a line in a file
// that all of them share. Now and then it dies, before or after that.
func notes(path string) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var r request
		if json.Unmarshal(in.Bytes(), &r) != nil || r.ID == nil {
			continue
		}
		answer := r.common(notesTools)
		if answer == "" {
			answer = r.answer(`{"content":[{"type":"text","text":"listed"}]}`)
		}
		if r.Method == "tools/call" && r.Params.Name == "add" {
			answer = add(file, r)
		}
		fmt.Println(answer)
	}
}

func add(file *os.File, r request) string {
	fate := rand.IntN(400)
	if fate == 0 {
		os.Exit(3)
	}
	if _, err := fmt.Fprintln(file, r.Params.Arguments.Text); err != nil {
		os.Exit(4)
	}
	if fate == 1 {
		os.Exit(5) // it has happened, and nobody is told
	}
	return r.answer(`{"content":[{"type":"text","text":"added"}]}`)
}

// far is a server over HTTP that can be made to fail.
type far struct{ mood atomic.Int32 }

// The moods of far.
const (
	well = iota
	failing
	slow
	breaking
	moods
)

// ServeHTTP answers one message.
func (f *far) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	switch f.mood.Load() {
	case failing:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case slow:
		time.Sleep(300 * time.Millisecond)
	case breaking:
		panic(http.ErrAbortHandler)
	}
	var r request
	if q.Method != http.MethodPost || json.NewDecoder(q.Body).Decode(&r) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if r.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer := r.common(farTools)
	if answer == "" {
		answer = r.answer(`{"content":[{"type":"text","text":"seen"}]}`)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, answer)
}
