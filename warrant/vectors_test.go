package warrant_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/warrant"
)

var update = flag.Bool("update", false, "write testdata/vectors/warrant.json again")

var vectorFile = filepath.Join("..", "testdata", "vectors", "warrant.json")

// vectors is the file that the checkers of every language run.
type vectors struct {
	About    string       `json:"about"`
	Audience string       `json:"audience"`
	Began    string       `json:"began"` // when the memory of the executor begins
	Keys     []trustedKey `json:"keys"`  // that the executor trusts
	Cases    []vector     `json:"cases"`
}

type trustedKey struct {
	ID     string `json:"keyid"`
	Public string `json:"public"` // hex
}

// vector is a list of checks, in order, by one executor that has seen nothing
// yet.
type vector struct {
	Name   string  `json:"name"`
	Checks []check `json:"checks"`
}

type check struct {
	Now             string          `json:"now,omitempty"` // "" is ten seconds after the signature
	Tool            string          `json:"tool,omitempty"`
	Action          string          `json:"actionId,omitempty"`
	Attempt         int             `json:"attempt,omitempty"`
	Envelope        string          `json:"envelope"`
	Arguments       string          `json:"arguments,omitempty"`
	ArgumentsBase64 string          `json:"argumentsBase64,omitempty"` // where they are no text
	Verdict         warrant.Verdict `json:"verdict"`
}

const (
	audience = "payments.example"
	began    = "2026-11-30T08:59:00.000Z"
	issued   = "2026-11-30T09:00:00.000Z"
	usual    = "2026-11-30T09:00:10.000Z"
	sendBy   = "2026-11-30T09:00:30.000Z"
	// agreed are the effective arguments of nearly all vectors.
	agreed = `{"account":"VENDOR-001","amount":{"currency":"USD","minor":840000},"dry":false,"lines":[{"n":1,"sku":"a"},{"n":2,"sku":"b"}],"memo":"caf\u00e9 \u20ac \ud83d\ude00","none":null,"rate":0.1,"tags":["x","y","y"],"weight":1e-7}`
)

func at(t testing.TB, stamp string) time.Time {
	t.Helper()
	out, err := time.Parse("2006-01-02T15:04:05.000Z", stamp)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func signer(t testing.TB, seed byte) *keys.Signer {
	t.Helper()
	s, err := keys.NewSigner(keys.Warrants, bytes.Repeat([]byte{seed}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// canonical is the RFC 8785 form of a text that has one.
func canonical(t testing.TB, text string) string {
	t.Helper()
	v, err := canon.DecodeText(text, canon.Options{Exact: true})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return string(v.Canonical())
}

// sample is the warrant of a call of pay.transfer with arguments.
func sample(t testing.TB, arguments string) warrant.Warrant {
	t.Helper()
	args := canonical(t, arguments)
	return warrant.Warrant{Issuer: "verbatim.example/1", Audience: audience, Kind: warrant.Mutation, Tenant: "acme", Principal: "maria",
		Agent: "agent", Tool: "pay.transfer", Action: "act_1", Attempt: 1, Fence: 1, ProviderKey: "pk_1", Errors: warrant.Reported,
		Proposal: warrant.ProposalHash("agent", "pay.transfer", args), Args: canon.Sum([]byte(args)),
		IssuedAt: at(t, issued), SendBy: at(t, sendBy)}
}

func sign(t testing.TB, w warrant.Warrant) string {
	t.Helper()
	out, err := w.Sign(signer(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func once(name, envelope, arguments string, v warrant.Verdict) vector {
	return vector{name, []check{{Envelope: envelope, Arguments: arguments, Verdict: v}}}
}

// allVectors makes the file's content.
func allVectors(t testing.TB) vectors {
	t.Helper()
	out := vectors{About: "Checks of warrants (docs/spec/warrant.md). Made by go test ./warrant -update.", Audience: audience, Began: began}
	for _, seed := range []byte{1, 2} {
		key := signer(t, seed)
		out.Keys = append(out.Keys, trustedKey{key.KeyID(), hexOf(key.Public()[0])})
	}
	out.Cases = append(out.Cases, argumentVectors(t)...)
	out.Cases = append(out.Cases, changeVectors(t)...)
	out.Cases = append(out.Cases, envelopeVectors(t)...)
	out.Cases = append(out.Cases, payloadVectors(t)...)
	out.Cases = append(out.Cases, standingVectors(t)...)
	for i := range out.Cases {
		for j := range out.Cases[i].Checks {
			c := &out.Cases[i].Checks[j]
			if !utf8.ValidString(c.Arguments) {
				c.Arguments, c.ArgumentsBase64 = "", base64.StdEncoding.EncodeToString([]byte(c.Arguments))
			}
			if c.Now == "" {
				c.Now = usual
			}
		}
	}
	return out
}

func TestVectorsAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	var made bytes.Buffer
	enc := json.NewEncoder(&made)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(allVectors(t)); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(vectorFile, made.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(kept), made.String()); diff != "" {
		t.Errorf("the file is not what the code makes (-file +code):\n%.2000s", diff)
	}
}

// TestEveryVectorHasItsVerdict reads the file as a checker in another language
// would.
func TestEveryVectorHasItsVerdict(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var file vectors
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	seen, names := map[warrant.Verdict]int{}, map[string]bool{}
	for _, c := range file.Cases {
		if names[c.Name] {
			t.Errorf("two vectors are %q", c.Name)
		}
		names[c.Name] = true
		now := at(t, file.Began)
		clock := func() time.Time { return now }
		cfg := warrant.Config{Audience: file.Audience, Now: clock}
		for _, k := range file.Keys {
			cfg.Keys = append(cfg.Keys, unhex(t, k.Public))
		}
		checker, err := warrant.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range c.Checks {
			arguments := []byte(x.Arguments)
			if x.ArgumentsBase64 != "" {
				if arguments, err = base64.StdEncoding.DecodeString(x.ArgumentsBase64); err != nil {
					t.Fatal(err)
				}
			}
			now = at(t, x.Now)
			_, got := checker.Check(t.Context(), []byte(x.Envelope), arguments, warrant.Expect{Tool: x.Tool, Action: x.Action, Attempt: x.Attempt})
			if got != x.Verdict {
				t.Errorf("%s, check %d: %s, want %s", c.Name, i, got, x.Verdict)
			}
			seen[got]++
		}
	}
	for _, v := range warrant.Verdicts() {
		if seen[v] == 0 && v != warrant.Unavailable { // that one has no vector: nothing is asked
			t.Errorf("no vector has the verdict %s", v)
		}
	}
	t.Logf("%d vectors: %v", len(file.Cases), seen)
}
