package main

import (
	"crypto/ed25519"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/attacktest"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// attacked is a served gateway, and what one caller of it does.
type attacked struct {
	*served
	ran      string // the file that runs are in
	newest   string // the newest action that was counted
	counted  int
	executor string // URL
}

// TestEveryEntryOfARealGatewayGivesEveryAttackTheSameOutcome runs the table of
// attacks against one verbatim serve process, over its listener: the decision
// API, its authorize with an executor behind a listener of its own, and MCP;
// and, over the pipes of a verbatim wrap process, against the same gateway.
// The library is the measure. -short takes every sixth case.
func TestEveryEntryOfARealGatewayGivesEveryAttackTheSameOutcome(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "1ms")
	a := &attacked{ran: filepath.Join(t.TempDir(), "ran")}
	p.held, p.env = "1ms", append(p.env, "RAN="+a.ran)
	attackedHome(p)
	a.served = p.serve("  up: {command: attack-mcp, env: {RAN: " + a.ran + "}, audience: up.example}\n")
	p.setup()
	a.executor = a.listening()
	_, principal, err := localPrincipal()
	if err != nil {
		t.Fatal(err)
	}
	library := attackedLibrary(t, p, principal)
	entries := map[string]attacktest.Entry{"HTTP call": a.entry(a.overAPI), "HTTP authorize": a.entry(a.authorized),
		"MCP stdio": a.entry(a.piped()), "MCP HTTP": a.entry(a.overMCP)}
	tried := 0
	for i, c := range attacktest.Load(t, "../../testdata/vectors/attacks.json") {
		if testing.Short() && i%6 != 0 {
			continue
		}
		tried++
		c = renamed(t, c, principal)
		first := library.Try(t, strconv.Itoa(i), c)
		library.Check(t, "library", c, first, first)
		for name, e := range entries {
			e.MCP = strings.HasPrefix(name, "MCP")
			e.Check(t, name, c, first, e.Try(t, name[len(name)-4:]+strconv.Itoa(i), c))
		}
	}
	if ran := len(a.seen(t)); ran == 0 || tried < 15 {
		t.Errorf("%d cases with %d runs", tried, ran)
	}
}

// renamed is a case for another principal: whoever the table calls maria is
// the caller, and what resembles that name resembles the caller's.
func renamed(t *testing.T, c attacktest.Case, principal string) attacktest.Case {
	t.Helper()
	first, rest := principal[:1], principal[1:]
	alike := first + strings.Replace(rest, "o", "\u043e", 1) // local: a Cyrillic o
	if alike == principal {
		t.Fatalf("nothing resembles %s", principal)
	}
	names := strings.NewReplacer("maria", principal, "Maria", strings.ToUpper(first)+rest, "m\u0430ria", alike)
	c.Arguments = names.Replace(c.Arguments)
	c.Before = append([]attacktest.Step(nil), c.Before...)
	for i := range c.Before {
		c.Before[i].Arguments = names.Replace(c.Before[i].Arguments)
	}
	return c
}

func (a *attacked) entry(propose func(testing.TB, attacktest.Step) attacktest.Said) attacktest.Entry {
	return attacktest.Entry{Propose: propose, Vote: a.vote, Ran: a.seen, Rows: a.rows, Clean: a.clean}
}

// seen lists the runs, in order.
func (a *attacked) seen(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile(a.ran)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func (a *attacked) vote(t testing.TB, id string, approve bool) {
	t.Helper()
	c := a.daemon()
	shown, err := c.Action(t.Context(), id)
	if err == nil {
		ballot := daemon.Ballot{Approve: approve, Digest: shown.Digest, Name: "owner", Password: testPassword}
		if !approve {
			ballot.Reason = "nobody ordered this"
		}
		_, err = c.Vote(t.Context(), id, ballot)
	}
	if err != nil {
		t.Fatalf("the vote: %v", err)
	}
}

// asks sends a request to the gateway's listener; headers come in pairs.
func (a *attacked) asks(t testing.TB, method, url, body string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := (&http.Client{Transport: withToken{endpointToken}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, text
}

// api sends a request to the decision API.
func (a *attacked) api(t testing.TB, method, path, body string, headers ...string) canon.Value {
	t.Helper()
	_, text := a.asks(t, method, strings.TrimSuffix(a.url, "/mcp")+path, body, headers...)
	v, err := canon.Decode(text, canon.Options{MaxBytes: canon.CeilingBytes})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// actions lists the caller's actions, newest first.
func (a *attacked) actions(t testing.TB, query string) []canon.Value {
	t.Helper()
	list, found := a.api(t, http.MethodGet, "/v1/actions?limit=100"+query, "").Get("actions")
	if !found {
		t.Fatal("no list of actions")
	}
	return list.Elements()
}

func idOf(v canon.Value) string {
	id, _ := v.Get("actionId")
	return id.Text()
}

// rows counts what is new since the last time; one case makes no hundred.
func (a *attacked) rows(t testing.TB) int {
	t.Helper()
	newest := a.newest
	for i, v := range a.actions(t, "") {
		if i == 0 {
			newest = idOf(v)
		}
		if idOf(v) == a.newest {
			break
		}
		a.counted++
	}
	a.newest = newest
	return a.counted
}

func (a *attacked) clean(t testing.TB) {
	t.Helper()
	for _, state := range []string{"pending_approval", "approved"} {
		for _, v := range a.actions(t, "&state="+state) {
			done := a.api(t, http.MethodPost, "/v1/actions/"+idOf(v)+"/dismiss", "{}")
			if state, _ := done.Get("state"); state.Text() != "revoked" {
				t.Fatalf("dismissed: %s", done.Canonical())
			}
		}
	}
}

func keyHeader(s attacktest.Step) []string {
	if s.Key == "" {
		return nil
	}
	return []string{"Idempotency-Key", s.Key}
}

func (a *attacked) overAPI(t testing.TB, s attacktest.Step) attacktest.Said {
	return attacktest.Answer(a.api(t, http.MethodPost, "/v1/call", s.Body(t), keyHeader(s)...))
}

// listening is an executor that trusts the keys which the gateway prints.
func (a *attacked) listening() string {
	a.t.Helper()
	out, err := a.command("audit", "keys", "--warrants").Output()
	if err != nil {
		a.t.Fatal(err)
	}
	key, err := hex.DecodeString(strings.Fields(string(out))[0])
	if err != nil {
		a.t.Fatal(err)
	}
	checker, err := warrant.New(warrant.Config{Audience: "up.example", Keys: []ed25519.PublicKey{key}})
	if err != nil {
		a.t.Fatal(err)
	}
	mux, guard := http.NewServeMux(), &warrant.Guard{Checker: checker}
	for name := range attackedKinds {
		mux.Handle("POST /"+name, guard.Handle("up."+name, func(_ http.ResponseWriter, _ *http.Request, c warrant.Call) {
			if err := appendLine(a.ran, name+" "+string(c.Args)); err != nil {
				a.t.Error(err)
			}
		}))
	}
	web := httptest.NewServer(mux)
	a.t.Cleanup(web.Close)
	return web.URL
}
