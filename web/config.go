package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/passkey"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/internal/origin"
)

// Gate is what the pages ask of the engine. Every method that names a tenant
// answers action.ErrNotFound for what belongs to another one.
type Gate interface {
	Actions(ctx context.Context, f action.Filter) ([]action.Action, error)
	Action(ctx context.Context, tenant, id string) (action.Action, error)
	Votes(ctx context.Context, tenant, id string) ([]action.Vote, error)
	Vote(ctx context.Context, v action.Vote) (action.Action, error)
	Revoke(ctx context.Context, tenant, id, account, reason string) (action.Action, error)
	Records(ctx context.Context, f audit.Filter) ([]audit.Record, error)
	Earlier(ctx context.Context, a action.Action) (action.Earlier, error)
	Room(ctx context.Context, t *catalog.Tool, a action.Action) ([]verbatim.Room, error)
	Counts(ctx context.Context, tenant string) ([]action.Count, error)
	Reconcile(ctx context.Context, tenant string, r action.Reconciliation) (action.Action, error)
	Stops(ctx context.Context, tenant string) ([]action.Stop, error)
	Freeze(ctx context.Context, s action.Stop) (running int, err error)
	Unfreeze(ctx context.Context, s action.Stop) error
	DraftGrant(ctx context.Context, tenant, source string, scope action.Scope, uses int, life time.Duration) (action.StandingGrant, error)
	Grant(ctx context.Context, grant action.StandingGrant, v action.Vote) (action.StandingGrant, error)
	SignGrant(ctx context.Context, tenant string, v action.Vote) (action.StandingGrant, error)
	RevokeGrant(ctx context.Context, tenant, id, account string) (action.StandingGrant, error)
	Grants(ctx context.Context, f action.StandingFilter) ([]action.StandingGrant, error)
	StandingGrant(ctx context.Context, tenant, id string) (action.StandingGrant, []action.Vote, error)
	CoveredBy(ctx context.Context, tenant, id string) (action.StandingGrant, error)
}

// People is what the pages ask of the accounts; [*auth.Accounts] is one.
type People interface {
	Count(ctx context.Context) (int, error)
	ByID(ctx context.Context, id string) (auth.Account, error)
	Login(ctx context.Context, name, password string) (token string, account auth.Account, err error)
	Session(ctx context.Context, token string) (auth.Login, auth.Account, error)
	Logout(ctx context.Context, token string) error
	Check(ctx context.Context, name, password string) (auth.Account, error)
	SignVote(ctx context.Context, name, password string, v action.Vote) (action.Vote, error)
	SignVoteWith(ctx context.Context, site passkey.Site, account auth.Account, v action.Vote, by auth.Assertion) (action.Vote, error)
	SetPassword(ctx context.Context, id, password string) error
	Passkeys(ctx context.Context, account string) ([]auth.Credential, error)
	Assert(ctx context.Context, site passkey.Site, account auth.Account, challenge []byte, by auth.Assertion) error
	AddPasskey(ctx context.Context, site passkey.Site, n auth.NewPasskey) (auth.Credential, error)
	RemovePasskey(ctx context.Context, site passkey.Site, account auth.Account, id []byte, nonce string, by auth.Assertion) error
	LoginWith(ctx context.Context, site passkey.Site, nonce string, by auth.Assertion) (token string, account auth.Account, err error)
	List(ctx context.Context, tenant string) ([]auth.Account, error)
	MayManage(ctx context.Context, who auth.Account) (bool, error)
	SetGroups(ctx context.Context, by auth.Account, id string, groups []string) error
	SetActive(ctx context.Context, by auth.Account, id string, active bool) error
	Invite(ctx context.Context, by auth.Account, groups []string, life time.Duration) (code string, i auth.Invitation, err error)
	Invited(ctx context.Context, code string) (auth.Invitation, error)
	Invitations(ctx context.Context, tenant string) ([]auth.Invitation, error)
	Withdraw(ctx context.Context, by auth.Account, token canon.Digest) error
	LoginFrom(ctx context.Context, tenant string, who auth.Identity) (token string, account auth.Account, err error)
	SignVoteAfter(ctx context.Context, login auth.Login, account auth.Account, v action.Vote) (action.Vote, error)
	FreshFrom(login auth.Login, account auth.Account, most time.Duration) error
	StandsFor(ctx context.Context, who auth.Account) ([]auth.Account, error)
	Delegations(ctx context.Context, tenant string) ([]auth.Delegation, error)
	Delegate(ctx context.Context, by auth.Account, to string, from, until time.Time, reason string) (auth.Delegation, error)
	EndDelegation(ctx context.Context, by auth.Account, id string) error
	Join(ctx context.Context, site passkey.Site, j auth.Joining) (auth.Account, error)
}

var _ People = (*auth.Accounts)(nil)

// Config is what New needs. Every field but Now, Provider, Tenant, Verify
// and Diff is required.
type Config struct {
	Gate   Gate
	People People
	// Tools returns the catalog's facts about a tool: its sentence, title and
	// which members are secret.
	Tools func(name string) (*catalog.Tool, bool)
	// Origin is where browsers find the pages, such as
	// "https://approve.example.com" or "http://localhost:8420". Plain http is
	// for loopback only. From it follow the name that passkeys belong to, the
	// Host and Origin headers that are accepted, and the flags of cookies.
	Origin string
	Now    func() time.Time // nil means time.Now
	// Provider signs people in elsewhere, into Tenant; nil: nobody does.
	Provider Provider
	Tenant   string
	// Verify checks the evidence of one action; nil: the page cannot.
	Verify Verify
	// Diff tells what a candidate policy would change; nil: there is no such page.
	Diff PolicyDiff
}

// ErrConfig is returned for a configuration that is not complete or safe.
var ErrConfig = errors.New("pages cannot be served")

// site serves one configuration.
type site struct {
	gate   Gate
	people People
	tools  func(name string) (*catalog.Tool, bool)
	origin origin.Origin
	now    func() time.Time
	key    []byte // of form tokens; a restart makes open forms stale
	once   *once

	verify   Verify // nil: evidence is not checked here
	diff     PolicyDiff
	provider Provider // nil: there is none
	tenant   string   // of those who come from it
	pages    pages

	reads    reads        // of whoever is answered; the zero reads are English, in UTC
	passkeys passkey.Site // the zero Site where the origin cannot have any
}

// New returns the handler of all pages, or ErrConfig.
func New(c Config) (http.Handler, error) {
	if c.Gate == nil || c.People == nil || c.Tools == nil {
		return nil, fmt.Errorf("%w: gate, people and tools are required", ErrConfig)
	}
	if c.Provider != nil && c.Tenant == "" {
		return nil, fmt.Errorf("%w: who comes from a provider needs a tenant", ErrConfig)
	}
	at, err := origin.Parse(c.Origin)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &site{gate: c.Gate, people: c.People, tools: c.Tools, origin: at, once: &once{}, verify: c.Verify, diff: c.Diff, provider: c.Provider, tenant: c.Tenant, now: c.Now, key: make([]byte, 32), pages: newPages()}
	rand.Read(s.key)
	if valid, err := passkey.NewSite(c.Origin); err == nil { // else people vote with passwords
		s.passkeys = valid
	}
	return s.handler()
}
