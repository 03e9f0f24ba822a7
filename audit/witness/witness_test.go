package witness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/audit/witness"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

func signer(t testing.TB, p keys.Purpose, n byte) *keys.Signer {
	t.Helper()
	s, err := keys.NewSigner(p, bytes.Repeat([]byte{n}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// history is a log in a real store.
type history struct {
	*sqlite.Store
	t      testing.TB
	origin string
}

func newHistory(t testing.TB) *history {
	t.Helper()
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{5}, 32))
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "store.db"), sqlite.Options{Sealer: sealer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h := &history{Store: s, t: t}
	if h.origin, err = s.Origin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

// grow adds records and returns the signed checkpoint.
func (h *history) grow(n int) []byte {
	h.t.Helper()
	for range n {
		if err := h.RejectInput(h.t.Context(), action.Rejection{Tenant: "acme", Principal: "p", Agent: "a", Tool: "t", Stage: "json",
			Code: "invalid_arguments", Digest: canon.Sum(nil)}); err != nil {
			h.t.Fatal(err)
		}
	}
	q, err := audit.NewSequencer(h.Store, signer(h.t, keys.Checkpoints, 1))
	if err == nil {
		_, err = q.Turn(h.t.Context())
	}
	if err != nil {
		h.t.Fatal(err)
	}
	signed, err := h.LatestCheckpoint(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return signed
}

func (h *history) key() string {
	h.t.Helper()
	k, err := audit.LogKey(h.origin, signer(h.t, keys.Checkpoints, 1).Public()[0])
	if err != nil {
		h.t.Fatal(err)
	}
	return k
}

const name = "witness.example/w1"

// place is a running witness.
type place struct {
	dir string
	url string
	key string
	at  time.Time
	end func()
}

func newPlace(t testing.TB, dir string, logs ...string) *place {
	t.Helper()
	trust, err := audit.NewTrust(logs...)
	if err != nil {
		t.Fatal(err)
	}
	p := &place{dir: dir, at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w, err := witness.New(witness.Config{Name: name, Key: signer(t, keys.Witnesses, 2), Dir: dir, Logs: trust, Now: func() time.Time { return p.at }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w)
	p.end = sync.OnceFunc(func() {
		server.Close()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(p.end)
	p.url, p.key = server.URL, audit.WitnessKey(name, signer(t, keys.Witnesses, 2).Public()[0])
	return p
}

func (p *place) client(t testing.TB) *witness.Client {
	t.Helper()
	trust, err := audit.NewTrust(p.key)
	if err != nil {
		t.Fatal(err)
	}
	return witness.NewClient(p.url, trust)
}

// post sends a body and returns the status with the answer.
func (p *place) post(t testing.TB, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(p.url+"/add-checkpoint", "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, b.String()
}

func TestAWitnessedLogVerifiesWithTheWitnessAlone(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	p := newPlace(t, t.TempDir(), h.key())
	c := p.client(t)
	for _, n := range []int{1, 3, 0, 5} {
		h.grow(n)
		head, err := h.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if size, err := c.Turn(t.Context(), h); err != nil || size != head.Size {
			t.Fatalf("%d, %v", size, err)
		}
	}
	again := p.client(t) // one that knows nothing of the witness's size
	h.grow(2)
	if _, err := again.Turn(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	kept, err := again.Latest(t.Context(), h.origin)
	if err != nil {
		t.Fatal(err)
	}
	for who, vkeys := range map[string][]string{"both": {h.key(), p.key}, "the log": {h.key()}} {
		trust, err := audit.NewTrust(vkeys...)
		if err != nil {
			t.Fatal(err)
		}
		r, err := audit.Verify(t.Context(), h, trust, audit.Outside{Name: p.url, Signed: kept})
		if err != nil || r.Complete != r.Records {
			t.Fatalf("%s trusted: %+v, %v", who, r, err)
		}
		if at, signed := r.Outside[0].Witnesses[name]; signed != (who == "both") || signed && !at.Equal(p.at) {
			t.Errorf("%s trusted: %+v", who, r.Outside)
		}
	}
}

// TestTheWitnessCatchesTheRewriteOfAKeyHolder: whoever holds the log's key
// writes another history under its name, and cannot get it signed.
func TestTheWitnessCatchesTheRewriteOfAKeyHolder(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	p := newPlace(t, t.TempDir(), h.key())
	h.grow(6)
	if _, err := p.client(t).Turn(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	kept, err := p.client(t).Latest(t.Context(), h.origin)
	if err != nil {
		t.Fatal(err)
	}
	for size, n := range map[string]int{"shorter": 3, "as long": 6, "longer": 9} {
		other := newHistory(t)
		other.grow(n)
		head, err := other.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		forged := audit.Checkpoint{Origin: h.origin, Head: head}
		signed, err := forged.Sign(signer(t, keys.Checkpoints, 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.client(t).Turn(t.Context(), forger{other, signed, h.origin}); !errors.Is(err, witness.ErrWitness) {
			t.Errorf("%s: the witness signed another history: %v", size, err)
		}
		trust, err := audit.NewTrust(h.key(), p.key)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := audit.Verify(t.Context(), forger{other, signed, h.origin}, trust, audit.Outside{Name: "witness", Signed: kept}); !errors.Is(err, audit.ErrFaults) {
			t.Errorf("%s: it verifies beside the witness: %+v, %v", size, r, err)
		}
		if r, err := audit.Verify(t.Context(), forger{other, signed, h.origin}, trust); err != nil || r.Complete != 0 {
			t.Errorf("%s: alone it agrees with itself, as anything can: %+v, %v", size, r, err)
		}
	}
}

// forger shows one log under the name of another.
type forger struct {
	*history
	signed []byte
	as     string
}

func (f forger) Origin(context.Context) (string, error)           { return f.as, nil }
func (f forger) LatestCheckpoint(context.Context) ([]byte, error) { return f.signed, nil }

// TestAnswersAreThoseOfTheProtocol tries each status of C2SP tlog-witness.
func TestAnswersAreThoseOfTheProtocol(t *testing.T) {
	t.Parallel()
	h, stranger := newHistory(t), newHistory(t)
	p := newPlace(t, t.TempDir(), h.key())
	one, foreign := string(h.grow(3)), string(stranger.grow(1))
	head, err := h.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := audit.Checkpoint{Origin: h.origin, Head: audit.Head{Size: head.Size, Root: canon.Sum([]byte("x"))}}
	fork, err := other.Sign(signer(t, keys.Checkpoints, 1))
	if err != nil {
		t.Fatal(err)
	}
	wrongKey, err := audit.Checkpoint{Origin: h.origin, Head: head}.Sign(signer(t, keys.Checkpoints, 9))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("A", 43) + "=\n"
	for _, c := range []struct {
		name, body string
		status     int
		text       string
	}{
		{"nothing", "", 400, ""},
		{"no checkpoint", "old 0\n", 400, ""},
		{"no old size", one, 400, ""},
		{"a negative size", "old -1\n\n" + one, 400, ""},
		{"a size with a zero", "old 00\n\n" + one, 400, ""},
		{"a proof that is no hash", "old 0\nAAAA\n\n" + one, 400, ""},
		{"a proof too long", "old 0\n" + strings.Repeat(line, 64) + "\n" + one, 400, ""},
		{"an old size larger than the log", "old 99\n\n" + one, 400, ""},
		{"an unknown log", "old 0\n\n" + foreign, 404, ""},
		{"another key", "old 0\n\n" + string(wrongKey), 403, ""},
		{"a proof from nothing", "old 0\n" + line + "\n" + one, 422, ""},
		{"another old size", "old 1\n\n" + one, 409, "0\n"},
		{"the first", "old 0\n\n" + one, 200, "— " + name + " "},
		{"the first again", "old 0\n\n" + one, 409, fmt.Sprintf("%d\n", head.Size)},
		{"the same again", fmt.Sprintf("old %d\n\n", head.Size) + one, 200, "— " + name + " "},
		{"the same size, another root", fmt.Sprintf("old %d\n\n", head.Size) + string(fork), 409, fmt.Sprintf("%d\n", head.Size)},
	} {
		status, text := p.post(t, c.body)
		if status != c.status || !strings.HasPrefix(text, c.text) {
			t.Errorf("%s: %d %q, want %d %q", c.name, status, text, c.status, c.text)
		}
	}
	more := string(h.grow(4))
	if status, _ := p.post(t, fmt.Sprintf("old %d\n%s\n", head.Size, line)+"\n"+more); status != 400 && status != 422 {
		t.Errorf("a proof that does not hold: %d", status)
	}
	if status, _ := p.post(t, fmt.Sprintf("old %d\n\n", head.Size)+more); status != 422 {
		t.Errorf("no proof: %d", status)
	}
	for path, want := range map[string]int{"/latest/" + witness.LogID(h.origin): 200, "/latest/" + witness.LogID(stranger.origin): 404,
		"/latest/..%2f..%2fetc": 404, "/add-checkpoint": 405, "/": 404} {
		resp, err := http.Get(p.url + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("GET %s: %d, want %d", path, resp.StatusCode, want)
		}
	}
}

// TestOfTwoHistoriesAtOnceOneIsSigned: check and write are one step.
func TestOfTwoHistoriesAtOnceOneIsSigned(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.grow(1)
	p := newPlace(t, t.TempDir(), h.key())
	var wg sync.WaitGroup
	var mu sync.Mutex
	signed := 0
	for i := range 16 {
		c := audit.Checkpoint{Origin: h.origin, Head: audit.Head{Size: 5, Root: canon.Sum([]byte{byte(i)})}}
		text, err := c.Sign(signer(t, keys.Checkpoints, 1))
		if err != nil {
			t.Fatal(err)
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			if status, _ := p.post(t, "old 0\n\n"+string(text)); status == 200 {
				mu.Lock()
				signed++
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	if signed != 1 {
		t.Fatalf("%d of 16 histories were signed", signed)
	}
}

func FuzzAdd(f *testing.F) {
	h := newHistory(f)
	trust, err := audit.NewTrust(h.key())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("old 0\n\n" + string(h.grow(1))))
	f.Add([]byte("old 1\nAAAA\n\nx\n1\ny\n\n— x y\n"))
	w, err := witness.New(witness.Config{Name: name, Key: signer(f, keys.Witnesses, 2), Dir: f.TempDir(), Logs: trust})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { w.Close() })
	f.Fuzz(func(t *testing.T, body []byte) {
		line, err := w.Add(body)
		if err == nil && !bytes.HasPrefix(line, []byte("— "+name+" ")) {
			t.Fatalf("%q", line)
		}
	})
}
