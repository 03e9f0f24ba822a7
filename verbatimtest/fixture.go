package verbatimtest

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// Start is the moment at which every test clock starts.
var Start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// Clock is a clock that only the test moves. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Config is what a fixture is made of. Fields that are not set get what a
// small test wants: admins approve, everything is delivered as a result.
type Config struct {
	Tools     []verbatim.Bound
	Policy    policy.Engine
	Approvers []action.Requirement // nil: one admin
	// Gate changes the configuration before the gate is made; may be nil.
	Gate func(*verbatim.Config)
	// Dir holds the store; "" is a directory of the test's own. A second
	// fixture on the same directory stands for a restart.
	Dir string
}

// Fixture is a gate with all that it needs.
type Fixture struct {
	Gate  *verbatim.Gate
	Store *sqlite.Store
	Clock *Clock
	Dir   string

	tb     testing.TB
	signer *keys.Signer
}

// New makes a fixture with two people, ada and bob, both of group admin.
func New(tb testing.TB, cfg Config) *Fixture {
	tb.Helper()
	f := &Fixture{Clock: &Clock{now: Start}, Dir: cfg.Dir, tb: tb}
	if f.Dir == "" {
		f.Dir = tb.TempDir()
	}
	var err error
	if f.signer, err = keys.NewSigner(keys.Votes, bytes.Repeat([]byte{7}, 32)); err != nil {
		tb.Fatal(err)
	}
	f.open()
	set, err := verbatim.NewToolset(cfg.Tools...)
	if err != nil {
		tb.Fatal(err)
	}
	gate := verbatim.Config{Store: f.Store, Tools: set, Policy: cfg.Policy, Votes: f, Approvers: cfg.Approvers,
		Denials: policy.ToolResult}
	if gate.Approvers == nil {
		gate.Approvers = []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}
	}
	if cfg.Gate != nil {
		cfg.Gate(&gate)
	}
	if f.Gate, err = verbatim.New(gate); err != nil {
		tb.Fatal(err)
	}
	return f
}

func (f *Fixture) open() {
	f.tb.Helper()
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{9}, 32))
	if err != nil {
		f.tb.Fatal(err)
	}
	f.Store, err = sqlite.Open(filepath.Join(f.Dir, "verbatim.db"), sqlite.Options{Sealer: sealer, Now: f.Clock.Now})
	if err != nil {
		f.tb.Fatal(err)
	}
	f.tb.Cleanup(func() { f.Store.Close() })
	for _, name := range []string{"ada", "bob"} {
		f.AddPerson(name, "admin")
	}
}

// Session is an agent that works for the principal maria.
func (f *Fixture) Session() verbatim.Session {
	return verbatim.Session{Tenant: "acme", Principal: "maria", Owner: "maria", Agent: "Support Agent"}
}

// AddPerson adds an active account of the tenant acme.
func (f *Fixture) AddPerson(name string, groups ...string) {
	f.tb.Helper()
	err := f.Store.AddAccount(context.Background(), auth.Account{ID: name, Name: name, Key: auth.FoldName(name),
		Tenant: "acme", Principal: name, Groups: groups, PasswordHash: "none", Active: true,
		CreatedAt: f.Clock.Now(), PasswordAt: f.Clock.Now()})
	if err != nil && !errors.Is(err, auth.ErrNameTaken) {
		f.tb.Fatal(err)
	}
}

// Approve votes yes on a pending action, as it stands, and fails the test if
// the vote is refused.
func (f *Fixture) Approve(id, voter string) action.Action {
	f.tb.Helper()
	a, err := f.Vote(id, voter, true)
	if err != nil {
		f.tb.Fatalf("%s could not approve: %v", voter, err)
	}
	return a
}

// Reject votes no on a pending action.
func (f *Fixture) Reject(id, voter string) action.Action {
	f.tb.Helper()
	a, err := f.Vote(id, voter, false)
	if err != nil {
		f.tb.Fatalf("%s could not reject: %v", voter, err)
	}
	return a
}

// Vote signs and casts one vote.
func (f *Fixture) Vote(id, voter string, approve bool) (action.Action, error) {
	f.tb.Helper()
	a, err := f.Gate.Action(context.Background(), "acme", id)
	if err != nil {
		return a, err
	}
	if a.Terms == nil {
		return a, action.ErrState
	}
	return f.Gate.Vote(context.Background(), f.Sign(action.Vote{ActionID: id, Voter: voter, Approve: approve,
		Digest: a.Terms.Digest, Nonce: strconv.Quote(id + voter), Method: "password", Reason: "test"}))
}

// Sign makes a vote's envelope with the fixture's vote key.
func (f *Fixture) Sign(v action.Vote) action.Vote {
	f.tb.Helper()
	now, err := f.Store.Now(context.Background())
	if err != nil {
		f.tb.Fatal(err)
	}
	v.LoginAt = now // the voter has just signed in
	v.Envelope = f.signer.Sign(approval.PayloadType, approval.VotePayload(v)).JSON()
	return v
}

// VerifyVote checks the envelope of a vote. It makes a Fixture an
// approval.Verifier.
func (f *Fixture) VerifyVote(_ context.Context, v action.Vote) error {
	e, err := keys.ParseEnvelope(v.Envelope)
	if err != nil {
		return err
	}
	payload, err := f.signer.Open(e, approval.PayloadType)
	if err != nil {
		return err
	}
	if !bytes.Equal(payload, approval.VotePayload(v)) {
		return errors.New("the vote is not the one that was signed")
	}
	return nil
}
