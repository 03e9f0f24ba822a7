// Package checkers_test holds the checkers of this directory to package
// warrant: the same verdicts on the published vectors, and on arguments that
// nobody has looked at before.
package checkers_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/needs"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/warrant"
)

const vectorFile = "../../testdata/vectors/warrant.json"

type file struct {
	Audience string  `json:"audience"`
	Began    string  `json:"began"`
	Keys     []key   `json:"keys"`
	Cases    []trial `json:"cases"`
}

type key struct {
	Public string `json:"public"`
}

type trial struct {
	Name   string  `json:"name"`
	Checks []check `json:"checks"`
}

type check struct {
	Now             string          `json:"now"`
	Envelope        string          `json:"envelope"`
	Arguments       string          `json:"arguments,omitempty"`
	ArgumentsBase64 string          `json:"argumentsBase64,omitempty"`
	Verdict         warrant.Verdict `json:"verdict"`
}

// checkers are the commands that take a file of vectors.
func checkers(t *testing.T) map[string][]string {
	t.Helper()
	return map[string][]string{"Node": {needs.Peer(t, "node"), "warrant.mjs"}, "Python": {needs.Program(t, "python3"), "warrant.py"}}
}

// verdicts runs a checker. agrees says whether it ended with 0.
func verdicts(t *testing.T, command []string, path string) (got map[string][]warrant.Verdict, agrees bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], path)...)
	var out, wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &wrong
	err := cmd.Run()
	if bad := json.Unmarshal(out.Bytes(), &got); bad != nil {
		t.Fatalf("%v: %v, %v\n%s", command, err, bad, wrong.String())
	}
	return got, err == nil
}

func wanted(f file) map[string][]warrant.Verdict {
	out := map[string][]warrant.Verdict{}
	for _, c := range f.Cases {
		for _, x := range c.Checks {
			out[c.Name] = append(out[c.Name], x.Verdict)
		}
	}
	return out
}

func TestEveryVectorHasTheSameVerdictInEveryLanguage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil || len(f.Cases) < 300 {
		t.Fatalf("%d vectors, %v", len(f.Cases), err)
	}
	for name, command := range checkers(t) {
		got, agrees := verdicts(t, command, vectorFile)
		if diff := cmp.Diff(wanted(f), got); diff != "" || !agrees {
			t.Errorf("%s (-vectors +got), agrees %v:\n%s", name, agrees, diff)
		}
	}
}

// A checker that did not compare would not notice a vector that is wrong.
func TestAVectorThatIsWrongIsNoticed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "wrong.json")
	changed := bytes.Replace(text, []byte(`"verdict": "arguments_changed"`), []byte(`"verdict": "ok"`), 1)
	if err := os.WriteFile(path, changed, 0o600); err != nil || bytes.Equal(changed, text) {
		t.Fatal(err)
	}
	for name, command := range checkers(t) {
		if _, agrees := verdicts(t, command, path); agrees {
			t.Errorf("%s ends with 0", name)
		}
	}
}

const (
	began    = "2026-11-30T09:00:00.000Z"
	agreed   = `{"a":[1,-0.5,1e-30,{"b":"é\u0001\"","":null}],"n":12.5,"t":true,"z":{"ÿ":0,"A":9007199254740991}}`
	alphabet = "0123456789+-.eE\"\\/{}[]:, \n\tutrfalsen\u0000\u007fé€😀\ufeff"
)

// TestArgumentsThatNobodyLookedAtHaveTheSameVerdict changes arguments at
// random places; Go says what is right.
func TestArgumentsThatNobodyLookedAtHaveTheSameVerdict(t *testing.T) {
	t.Parallel()
	for _, round := range []uint64{1, 2} {
		f := randomVectors(t, round)
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "random.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for name, command := range checkers(t) {
			got, _ := verdicts(t, command, path)
			for _, c := range f.Cases {
				if x := c.Checks[0]; got[c.Name][0] != x.Verdict {
					t.Errorf("%s, round %d: %s, want %s: %q %s", name, round, got[c.Name][0], x.Verdict, x.Arguments, x.ArgumentsBase64)
				}
			}
		}
	}
}

func randomVectors(t *testing.T, round uint64) file {
	t.Helper()
	r := rand.New(rand.NewPCG(round, 7))
	s, err := keys.NewSigner(keys.Warrants, bytes.Repeat([]byte{byte(round)}, 32))
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, began)
	if err != nil {
		t.Fatal(err)
	}
	f := file{Audience: "x", Began: began, Keys: []key{{hex.EncodeToString(s.Public()[0])}}}
	same := 0
	for i := range 300 {
		arguments, received := agreed, ""
		if i%3 == 0 { // a number, and a way to write one that may be the same
			arguments, received = numbers(r)
		} else if received = agreed; i%3 == 1 {
			received = spelled(r, agreed)
		}
		if i%2 == 1 {
			received = spoiled(r, received)
		}
		envelope := envelopeFor(t, s, arguments, at)
		checker, err := warrant.New(warrant.Config{Audience: "x", Keys: s.Public(), Now: func() time.Time { return at }})
		if err != nil {
			t.Fatal(err)
		}
		_, v := checker.Check(t.Context(), envelope, []byte(received), warrant.Expect{})
		if v == warrant.OK {
			same++
		}
		x := check{Now: began, Envelope: string(envelope), Arguments: received, Verdict: v}
		if !utf8.ValidString(received) {
			x.Arguments, x.ArgumentsBase64 = "", base64.StdEncoding.EncodeToString([]byte(received))
		}
		f.Cases = append(f.Cases, trial{strconv.Itoa(i), []check{x}})
	}
	if same < 60 || same > 240 {
		t.Errorf("%d of 300 are the same: too few of one kind", same)
	}
	return f
}

func envelopeFor(t *testing.T, s *keys.Signer, arguments string, at time.Time) []byte {
	t.Helper()
	v, err := canon.DecodeText(arguments, canon.Options{Exact: true})
	if err != nil {
		t.Fatalf("%s: %v", arguments, err)
	}
	args := string(v.Canonical())
	text, err := warrant.Warrant{Issuer: "i", Audience: "x", Kind: warrant.Mutation, Tenant: "t", Principal: "p", Agent: "a", Tool: "s.t",
		Action: "act", Attempt: 1, Fence: 1, ProviderKey: "k", Errors: warrant.Reported, Proposal: warrant.ProposalHash("a", "s.t", args),
		Args: canon.Sum([]byte(args)), IssuedAt: at, SendBy: at.Add(warrant.MaxLife)}.Sign(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// numbers are arguments with a double, and perhaps another spelling of it.
func numbers(r *rand.Rand) (agreed, received string) {
	for {
		x := (r.Float64() - 0.5) * []float64{1, 1e-7, 1e7, 1e-300, 1e15, 1e-6}[r.IntN(6)]
		if r.IntN(3) == 0 {
			x = float64(r.IntN(2000) - 1000)
		}
		agreed = `{"x":` + strconv.FormatFloat(x, 'g', -1, 64) + `}`
		if _, err := canon.DecodeText(agreed, canon.Options{Exact: true}); err != nil {
			continue
		}
		digits := -1
		if r.IntN(4) == 0 {
			digits = 25 // the whole binary value, which is not what is printed
		}
		return agreed, `{"x":` + strconv.FormatFloat(x, "eEf"[r.IntN(3)], digits, 64) + `}`
	}
}

// spelled writes the same value differently.
func spelled(r *rand.Rand, text string) string {
	for _, swap := range [][2]string{{"é", `\u00e9`}, {"1,", "1.0,"}, {":", " : "}, {"1e-30", "0.1E-29"}, {"12.5", "125e-1"}, {"-0.5", "-5e-1"}, {`\"`, `\u0022`},
		{`"t":true,`, ``}, {"ÿ", `\u00FF`}, {"0,", "0e7,"}} {
		if r.IntN(2) == 0 {
			text = strings.Replace(text, swap[0], swap[1], 1)
		}
	}
	if !strings.Contains(text, `"t"`) {
		text = `{"t":true,` + text[1:]
	}
	return text
}

// spoiled changes one place, or leaves it.
func spoiled(r *rand.Rand, text string) string {
	i, c := r.IntN(len(text)), []rune(alphabet)[r.IntN(len([]rune(alphabet)))]
	switch r.IntN(4) {
	case 0:
		return text[:i] + string(c) + text[i+1:] // may leave half a character
	case 1:
		return text[:i] + string(c) + text[i:]
	case 2:
		return text[:i] + text[i+1:]
	default:
		return text
	}
}
