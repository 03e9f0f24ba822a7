// Package verifier_test holds the independent checker of this directory to
// the project's own: both read the same true files, and both refuse the same
// changed ones.
package verifier_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/needs"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// scene is a gate whose outcomes are checked elsewhere.
type scene struct {
	*verbatimtest.Fixture
	t    *testing.T
	node string
	keys string // text of the public keys
	dir  string
}

func signer(t testing.TB, p keys.Purpose) *keys.Signer {
	t.Helper()
	s, err := keys.NewSigner(p, bytes.Repeat([]byte{byte(len(p))}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t, node: needs.Peer(t, "node"), dir: t.TempDir()}
	pay, err := verbatim.Untyped(catalog.Spec{Name: "bank.pay", Impact: catalog.Financial,
		Schema: []byte(`{"type":"object","properties":{"to":{"type":"string"},"amount":{"type":"integer"}}}`)},
		execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: []byte(`{"paid":true,"note":"ü \u2028 9007199254740993"}`)}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	allow := policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
	})
	s.Fixture = verbatimtest.New(t, verbatimtest.Config{Tools: []verbatim.Bound{pay}, Policy: allow,
		Gate: func(c *verbatim.Config) { c.Receipts = signer(t, keys.Receipts) }})
	origin, err := s.Store.Origin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	votes := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)).Public().(ed25519.PublicKey) // the fixture's
	for name, key := range map[string]ed25519.PublicKey{origin: signer(t, keys.Checkpoints).Public()[0],
		audit.ReceiptName(origin): signer(t, keys.Receipts).Public()[0], audit.VoteName(origin): votes} {
		k, err := audit.LogKey(name, key)
		if err != nil {
			t.Fatal(err)
		}
		s.keys += k + "\n"
	}
	s.file("keys.txt", []byte(s.keys))
	return s
}

func (s *scene) file(name string, content []byte) string {
	s.t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *scene) trust() audit.Trust {
	s.t.Helper()
	trust, err := audit.NewTrust(strings.Fields(s.keys)...)
	if err != nil {
		s.t.Fatal(err)
	}
	return trust
}

// pay makes one approved payment and returns its outcome.
func (s *scene) pay(args string) verbatim.Outcome {
	s.t.Helper()
	c := verbatim.Call{Tool: "bank.pay", Arguments: []byte(args)}
	asked, err := s.Gate.Call(s.t.Context(), s.Session(), c)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Approve(asked.ActionID, "ada")
	c.Approval = asked.ActionID
	ran, err := s.Gate.Call(s.t.Context(), s.Session(), c)
	if err != nil || ran.Status != verbatim.StatusOK {
		s.t.Fatalf("%+v, %v", ran, err)
	}
	return ran
}

func (s *scene) sign() {
	s.t.Helper()
	q, err := audit.NewSequencer(s.Store, signer(s.t, keys.Checkpoints))
	if err == nil {
		_, err = q.Turn(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) bundle(id string) []byte {
	s.t.Helper()
	text, err := s.Gate.Evidence(s.t.Context(), "acme", id, true)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

func (s *scene) export(name string) string {
	s.t.Helper()
	if _, err := audit.Export(s.t.Context(), s.Store, func(path string, content []byte) error {
		s.file(name+"/"+path, content)
		return nil
	}); err != nil {
		s.t.Fatal(err)
	}
	return filepath.Join(s.dir, name)
}

// run runs the checker and decodes what it prints.
func (s *scene) run(into any, stdin []byte, args ...string) int {
	s.t.Helper()
	cmd := exec.Command(s.node, args...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), os.Stderr
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		s.t.Fatalf("%s: %v", out, err)
	}
	return cmd.ProcessState.ExitCode()
}

// verify runs verify.mjs on files and returns what it says.
func (s *scene) verify(args ...string) (map[string]any, int) {
	s.t.Helper()
	said := map[string]any{}
	code := s.run(&said, nil, append([]string{"verify.mjs", "--key", filepath.Join(s.dir, "keys.txt")}, args...)...)
	return said, code
}

func TestBothBelieveTheSameFiles(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	paid := s.pay(`{"to":"VENDOR-001 ü","amount":840000}`)
	s.pay(`{"to":"VENDOR-002","amount":1}`)
	s.sign()
	text := s.bundle(paid.ActionID)
	b, err := audit.ParseBundle(text)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := audit.VerifyBundle(b, s.trust())
	if err != nil {
		t.Fatal(err)
	}
	said, code := s.verify(s.file("one.bundle", text), s.file("one.receipt", paid.Receipt))
	if code != 0 {
		t.Fatalf("%v", said)
	}
	theirs := said["bundles"].([]any)[0].(map[string]any)
	steps := theirs["steps"].([]any)
	if len(steps) != len(ours.Steps) || theirs["log"] != ours.Log || theirs["size"] != float64(ours.Size) || len(theirs["votes"].([]any)) != 1 {
		t.Fatalf("%+v\n%v", ours, theirs)
	}
	if first := ours.Steps[0].Opened; first["facts"] == "" || first["arguments"] == "" {
		t.Errorf("the first record shows %v", first)
	}
	for i, step := range ours.Steps {
		other := steps[i].(map[string]any)
		if other["digest"] != step.Digest.String() || other["event"] != step.Event || other["seq"] != float64(step.Seq) ||
			len(other["opened"].(map[string]any)) != len(step.Opened) {
			t.Errorf("step %d: %+v\n%v", i, step, other)
		}
		for name, value := range step.Opened {
			if other["opened"].(map[string]any)[name] != value {
				t.Errorf("step %d shows another %s", i, name)
			}
		}
	}
	if r := said["receipts"].([]any)[0].(map[string]any); r["inLog"] != true || r["claim"] != audit.ReceiptClaim {
		t.Errorf("receipt: %v", r)
	}
}

func TestBothReadTheSameLog(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for i := range 45 { // more than one bundle of entries
		s.pay(`{"to":"VENDOR-001","amount":` + strconv.Itoa(i) + `}`)
	}
	s.sign()
	kept, err := s.Store.LatestCheckpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.pay(`{"to":"VENDOR-002","amount":1}`)
	s.sign()
	dir := s.export("exported")
	l, err := audit.OpenExported(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := audit.Verify(t.Context(), l, s.trust(), audit.Outside{Name: "kept", Signed: kept})
	if err != nil {
		t.Fatalf("%+v, %v", ours, err)
	}
	said, code := s.verify("--checkpoint", s.file("kept.txt", kept), dir)
	if code != 0 || said["records"] != float64(ours.Records) || said["completeTo"] != float64(ours.Complete) || ours.Complete == 0 {
		t.Errorf("ours %+v, theirs %v", ours, said)
	}
	if alone, code := s.verify(dir); code != 0 || alone["completeTo"] != float64(0) {
		t.Errorf("without a checkpoint from elsewhere: %v", alone)
	}

	// A holder of the log's key writes another history. Only what was kept
	// elsewhere shows it, and it shows it to both.
	other := newScene(t)
	other.pay(`{"to":"VENDOR-003","amount":1}`)
	other.sign()
	rewritten := other.export("exported")
	if said, code := other.verify("--checkpoint", filepath.Join(s.dir, "kept.txt"), rewritten); code != 1 {
		t.Errorf("a checkpoint of another log is taken: %v", said)
	}
}

// answers asks whether texts hold, all in one process.
func (s *scene) answers(kinds []string, texts [][]byte) []bool {
	s.t.Helper()
	type item struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	in := struct {
		Keys  string `json:"keys"`
		Items []item `json:"items"`
	}{Keys: s.keys}
	for i, text := range texts {
		in.Items = append(in.Items, item{kinds[i], base64.StdEncoding.EncodeToString(text)})
	}
	stdin, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	var out []bool
	if code := s.run(&out, stdin, filepath.Join("testdata", "check.mjs"), "files"); code != 0 || len(out) != len(texts) {
		s.t.Fatalf("exit code %d, %d answers of %d", code, len(out), len(texts))
	}
	return out
}

// stride is how many bytes lie between two that are changed.
const stride = 5

// TestBothRefuseChangedBytes flips the lowest bit of bytes of a bundle, a
// receipt and a checkpoint.
func TestBothRefuseChangedBytes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	paid := s.pay(`{"to":"VENDOR-001","amount":840000}`)
	s.sign()
	signed, err := s.Store.LatestCheckpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	trust := s.trust()
	var kinds []string
	var texts [][]byte
	var ours []bool
	for kind, text := range map[string][]byte{"bundle": s.bundle(paid.ActionID), "receipt": paid.Receipt, "checkpoint": signed} {
		for i := -1; i < len(text); i += stride {
			changed := bytes.Clone(text)
			if i >= 0 {
				changed[i] ^= 1
			}
			kinds, texts, ours = append(kinds, kind), append(texts, changed), append(ours, holds(kind, changed, trust))
			if ours[len(ours)-1] != (i < 0) {
				t.Errorf("%s, byte %d: ours says %v", kind, i, ours[len(ours)-1])
			}
		}
	}
	for i, theirs := range s.answers(kinds, texts) {
		if theirs != ours[i] {
			t.Errorf("item %d, a %s: ours says %v, theirs %v", i, kinds[i], ours[i], theirs)
		}
	}
	t.Logf("%d texts", len(texts))
}

func holds(kind string, text []byte, trust audit.Trust) bool {
	switch kind {
	case "bundle":
		b, err := audit.ParseBundle(text)
		if err == nil {
			_, err = audit.VerifyBundle(b, trust)
		}
		return err == nil
	case "receipt":
		_, err := trust.OpenReceipt(text)
		return err == nil
	default:
		_, err := trust.Open(text)
		return err == nil
	}
}
