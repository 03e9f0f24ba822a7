package verbatim_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

func signerOf(t *testing.T, p keys.Purpose) *keys.Signer {
	t.Helper()
	s, err := keys.NewSigner(p, bytes.Repeat([]byte{byte(len(p))}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// voteKey is the one that the fixture signs votes with.
func voteKey() ed25519.PublicKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)).Public().(ed25519.PublicKey)
}

func receiptsOn(c *verbatim.Config) {
	s, err := keys.NewSigner(keys.Receipts, bytes.Repeat([]byte{byte(len(keys.Receipts))}, 32))
	if err != nil {
		panic(err)
	}
	c.Receipts = s
}

// pinned is whom an auditor of a stage trusts.
func (s *stage) pinned() audit.Trust {
	s.t.Helper()
	origin, err := s.store.Origin(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	var vkeys []string
	for name, key := range map[string]ed25519.PublicKey{
		origin:                    signerOf(s.t, keys.Checkpoints).Public()[0],
		audit.ReceiptName(origin): signerOf(s.t, keys.Receipts).Public()[0],
		audit.VoteName(origin):    voteKey(),
	} {
		k, err := audit.LogKey(name, key)
		if err != nil {
			s.t.Fatal(err)
		}
		vkeys = append(vkeys, k)
	}
	trust, err := audit.NewTrust(vkeys...)
	if err != nil {
		s.t.Fatal(err)
	}
	return trust
}

func (s *stage) sequence() {
	s.t.Helper()
	q, err := audit.NewSequencer(s.store, signerOf(s.t, keys.Checkpoints))
	if err == nil {
		_, err = q.Turn(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) evidence(id string, payload bool) audit.Evidence {
	s.t.Helper()
	e, err := audit.VerifyBundle(s.bundle(id, payload), s.pinned())
	if err != nil {
		s.t.Fatal(err)
	}
	return e
}

func (s *stage) bundle(id string, payload bool) audit.Bundle {
	s.t.Helper()
	text, err := s.Gate.Evidence(s.t.Context(), "acme", id, payload)
	if err != nil {
		s.t.Fatal(err)
	}
	b, err := audit.ParseBundle(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

func (s *stage) receipt(o verbatim.Outcome) audit.Receipt {
	s.t.Helper()
	r, err := s.pinned().OpenReceipt(o.Receipt)
	if err != nil {
		s.t.Fatalf("%s: %v", o.Receipt, err)
	}
	if r.Action != o.ActionID || r.State != string(o.State) {
		s.t.Errorf("the receipt is of %s %s, the outcome %s %s", r.Action, r.State, o.ActionID, o.State)
	}
	return r
}

// TestEachOutcomeComesWithAReceiptThatTheLogKeeps follows one approved call,
// and then checks everything with nothing but keys.
func TestEachOutcomeComesWithAReceiptThatTheLogKeeps(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: financial("note", noteSchema), gate: receiptsOn})
	asked := s.with(verbatim.Call{Arguments: []byte(`{"text":"a"}`), IdempotencyKey: "k"})
	promised := []audit.Receipt{s.receipt(asked)}
	s.Approve(asked.ActionID, "ada")
	ran := s.with(verbatim.Call{Arguments: []byte(`{"text":"a"}`), IdempotencyKey: "k", Approval: asked.ActionID})
	want(t, ran, verbatim.StatusOK, verbatim.CodeOK)
	again := s.with(verbatim.Call{Arguments: []byte(`{"text":"a"}`), IdempotencyKey: "k"})
	promised = append(promised, s.receipt(ran), s.receipt(again))

	if _, err := s.Gate.Evidence(t.Context(), "acme", ran.ActionID, false); !errors.Is(err, verbatim.ErrNotSigned) {
		t.Errorf("before the log has signed: %v", err)
	}
	s.sequence()
	e := s.evidence(ran.ActionID, true)
	for i, r := range promised {
		if !e.Holds(r) {
			t.Errorf("receipt %d, of %s, is not kept", i+1, r.Event)
		}
	}
	first, last := e.Steps[0], e.Steps[len(e.Steps)-1]
	if first.Opened["arguments"] != `{"text":"a"}` || first.Opened["raw"] != `{"text":"a"}` || first.Opened["proposalHash"] != ran.ProposalHash {
		t.Errorf("shown: %v", first.Opened)
	}
	if facts, err := policy.ReadFacts(first.Opened["facts"]); err != nil || facts.Now.IsZero() || facts.Tool.Impact != "financial" {
		t.Errorf("what policy was told: %+v, %v", facts, err)
	}
	if last.Event != audit.ActionSucceeded || last.Opened["result"] != `{"done":true}` || last.Facts["comparison"] != "equal" {
		t.Errorf("last: %+v", last)
	}
	if len(e.Votes) != 1 || e.Votes[0].Signer != "server" || !e.Votes[0].Trusted || !strings.Contains(e.Votes[0].Payload, `"vote":"approve"`) {
		t.Errorf("votes: %+v", e.Votes)
	}
}

func TestReceiptsOfOtherOutcomes(t *testing.T) {
	t.Parallel()
	denied := newStage(t, parts{policy: decide(policy.Deny), gate: receiptsOn})
	o := denied.call(`{"text":"a"}`)
	want(t, o, verbatim.StatusDenied, verbatim.CodePolicyDenied)
	denied.receipt(o)
	bad := denied.call(`{"text":`)
	if bad.Receipt != nil || bad.ActionID != "" {
		t.Errorf("there is no action, but a receipt: %s", bad.Receipt)
	}

	uncertain := newStage(t, parts{gate: receiptsOn})
	uncertain.probe.set(func(context.Context, execute.Input) (execute.Output, error) {
		return execute.Output{}, errors.New("broken pipe")
	})
	uncertain.receipt(uncertain.call(`{"text":"a"}`))

	off := newStage(t, parts{})
	if o := off.call(`{"text":"a"}`); o.Receipt != nil {
		t.Errorf("nobody signs, but there is a receipt: %s", o.Receipt)
	}
}

// TestReadsHaveReceiptsWhereTheyAreAskedFor: such a receipt says that the
// record is written, not that it is on the disk.
func TestReadsHaveReceiptsWhereTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	quiet := newStage(t, parts{spec: reading("note", noteSchema), gate: receiptsOn})
	if o := quiet.call(`{"text":"a"}`); o.Receipt != nil {
		t.Errorf("a read has a receipt that nobody asked for: %s", o.Receipt)
	}
	s := newStage(t, parts{spec: reading("note", noteSchema), gate: func(c *verbatim.Config) { receiptsOn(c); c.ReadReceipts = true }})
	o := s.call(`{"text":"a"}`)
	r, err := s.pinned().OpenReceipt(o.Receipt)
	if err != nil || r.Kept != audit.KeptWritten || r.Event != audit.ReadAllowed || r.Action != o.ActionID {
		t.Fatalf("%+v, %v", r, err)
	}
	s.sequence()
	if e := s.evidence(o.ActionID, true); !e.Holds(r) || len(e.Steps) != 1 || len(e.Steps[0].Opened) != 0 {
		t.Errorf("%+v", e)
	}
}

func TestAReceiptNeedsItsOwnKey(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	_, err := verbatim.New(verbatim.Config{Store: s.store, Tools: verbatim.Toolset{}, Receipts: signerOf(t, keys.Votes)})
	if err == nil {
		t.Fatal("a key for votes signs receipts")
	}
}

// TestEvidenceHoldsNoReasonAndNoPayloadUnlessAsked: the internal reason never
// leaves, and arguments only on demand.
func TestEvidenceHoldsNoReasonAndNoPayloadUnlessAsked(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{gate: receiptsOn, policy: decide(policy.Allow)})
	o := s.call(`{"text":"secretword"}`)
	s.sequence()
	for _, payload := range []bool{false, true} {
		text := string(s.bundle(o.ActionID, payload).JSON())
		reason := s.state(o.ActionID, action.Succeeded).Decision.Reason
		if strings.Contains(text, "secretword") || reason != "" && strings.Contains(text, reason) {
			t.Errorf("payload %v: %s", payload, text)
		}
		if got := s.evidence(o.ActionID, payload).Steps[0].Opened["arguments"] != ""; got != payload {
			t.Errorf("payload %v, shown %v", payload, got)
		}
	}
	for name, ids := range map[string][2]string{"another tenant": {"rival", o.ActionID}, "no action": {"acme", "act_none"}, "no id": {"acme", ""}} {
		if _, err := s.Gate.Evidence(t.Context(), ids[0], ids[1], true); !errors.Is(err, action.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// putBack is a store whose backup, from before an action was erased, was put
// back: it has the salts, the key of the payload is gone.
type putBack struct{ verbatim.Store }

func (s putBack) Action(ctx context.Context, tenant, id string) (action.Action, error) {
	a, err := s.Store.Action(ctx, tenant, id)
	return verbs.WithoutPayload(a, a.UpdatedAt), err
}

func TestEvidenceShowsNothingOfWhatWasErasedAndPutBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.Allow), gate: func(c *verbatim.Config) {
		receiptsOn(c)
		c.Store = putBack{c.Store}
	}})
	o := s.call(`{"text":"secretword"}`)
	s.sequence()
	b := s.bundle(o.ActionID, true)
	for _, r := range b.Records {
		if r.Salt != nil || len(r.Opened) > 0 {
			t.Errorf("record %d shows %v", r.Index+1, r.Opened)
		}
	}
	if e := s.evidence(o.ActionID, true); len(e.Steps) != 2 {
		t.Errorf("%+v", e.Steps)
	}
}

// TestEveryChangedByteOfABundleIsNoticed changes each byte in turn. Nothing
// in a bundle is a hint.
func TestEveryChangedByteOfABundleIsNoticed(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: financial("note", noteSchema), gate: receiptsOn})
	o := s.approved(verbatim.Call{Arguments: []byte(`{"text":"a"}`)})
	o = s.with(verbatim.Call{Arguments: []byte(`{"text":"a"}`), Approval: o.ActionID})
	s.sequence()
	trust := s.pinned()
	text := s.bundle(o.ActionID, true).JSON()
	want, err := json.Marshal(s.evidence(o.ActionID, true))
	if err != nil {
		t.Fatal(err)
	}
	step := 1
	if testing.Short() {
		step = 7
	}
	for i := 0; i < len(text); i += step {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		b, err := audit.ParseBundle(changed)
		if err != nil {
			continue
		}
		if e, err := audit.VerifyBundle(b, trust); err == nil {
			got, _ := json.Marshal(e)
			t.Errorf("byte %d of %d, %q: accepted; the evidence differs: %v", i, len(text), text[max(0, i-20):i+1], !bytes.Equal(got, want))
		}
	}
	for i := range o.Receipt {
		changed := bytes.Clone(o.Receipt)
		changed[i] ^= 1
		if r, err := trust.OpenReceipt(changed); err == nil {
			t.Errorf("byte %d of the receipt: %+v", i, r)
		}
	}
}

// TestBundlesThatLackSomething are made of true parts.
func TestBundlesThatLackSomething(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: financial("note", noteSchema), gate: receiptsOn})
	o := s.approved(verbatim.Call{Arguments: []byte(`{"text":"a"}`)})
	o = s.with(verbatim.Call{Arguments: []byte(`{"text":"a"}`), Approval: o.ActionID})
	other := s.approved(verbatim.Call{Arguments: []byte(`{"text":"b"}`)})
	s.sequence()
	stranger := s.bundle(other.ActionID, false)
	for name, change := range map[string]func(*audit.Bundle){
		"no record":                   func(b *audit.Bundle) { b.Records = nil },
		"a record of another action":  func(b *audit.Bundle) { b.Records = append(b.Records, stranger.Records[0]) },
		"the first record missing":    func(b *audit.Bundle) { b.Records = b.Records[1:] },
		"the start missing":           func(b *audit.Bundle) { b.Records = append(b.Records[:4:4], b.Records[5:]...) },
		"two records swapped":         func(b *audit.Bundle) { b.Records[0], b.Records[1] = b.Records[1], b.Records[0] },
		"a vote missing":              func(b *audit.Bundle) { b.Votes = nil },
		"a vote of another action":    func(b *audit.Bundle) { b.Votes = stranger.Votes },
		"a proof of another record":   func(b *audit.Bundle) { b.Records[0].Proof = b.Records[1].Proof },
		"a salt of another record":    func(b *audit.Bundle) { b.Records[0].Salt = b.Records[1].Salt },
		"an opening of another name":  func(b *audit.Bundle) { b.Records[0].Opened["preview"] = b.Records[0].Opened["raw"] },
		"another action in its title": func(b *audit.Bundle) { b.Action = other.ActionID },
		"an older checkpoint":         func(b *audit.Bundle) { b.Checkpoint = []byte("x") },
	} {
		b := s.bundle(o.ActionID, true)
		if _, err := audit.VerifyBundle(b, s.pinned()); err != nil {
			t.Fatal(err)
		}
		change(&b)
		if e, err := audit.VerifyBundle(b, s.pinned()); err == nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if _, err := audit.VerifyBundle(s.bundle(o.ActionID, true), audit.Trust{}); err == nil {
		t.Error("a bundle holds where nobody is trusted")
	}
}

// TestABundleShowsWhatResolversAnswered: and to what the arguments lead, with
// nothing but what the record committed to.
func TestABundleShowsWhatResolversAnswered(t *testing.T) {
	t.Parallel()
	p := payeesInAFile(t)
	s := newStage(t, parts{spec: paying(p.resolver, nil), gate: receiptsOn})
	o := s.call(string(payment(1)))
	s.sequence()
	row, err := s.Gate.Action(t.Context(), "acme", o.ActionID)
	if err != nil || len(row.Evidence) == 0 {
		t.Fatalf("%+v, %v", row, err)
	}
	first := s.evidence(o.ActionID, true).Steps[0]
	if got := first.Opened["targets"]; got != `[{"id":"VENDOR-001","type":"Vendor"}]` {
		t.Errorf("targets: %s", got)
	}
	if got := first.Opened["evidence"]; !strings.Contains(got, `"digest":"`+row.Evidence[0].Digest.String()+`"`) ||
		!strings.Contains(got, `"resolver":"payees"`) || got != snapshot.EvidenceText(row.Evidence) {
		t.Errorf("evidence: %s", got)
	}
	b := s.bundle(o.ActionID, true)
	b.Records[0].Opened["evidence"] = bytes.Replace(b.Records[0].Opened["evidence"], []byte("payees"), []byte("others"), 1)
	if _, err := audit.VerifyBundle(b, s.pinned()); err == nil {
		t.Error("another resolver is believed")
	}
}
