package web_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/authtest"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/web"
)

const (
	password = "seven quiet lamps burn"
	origin   = "http://127.0.0.1:8420"
	tenant   = "acme"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// fakeGate keeps actions in memory and counts votes as the engine does.
type fakeGate struct {
	mu       sync.Mutex
	accounts *auth.Accounts
	now      func() time.Time
	actions  []action.Action
	votes    []action.Vote
	records  []audit.Record
	fail     error
	refuse   error // of votes and revocations
	revoked  []string
	earlier  action.Earlier
	room     []verbatim.Room
	stops    []action.Stop
	lifted   []action.Stop
	settled  []action.Reconciliation
	grants   []action.StandingGrant
	signed   []action.Vote                   // for grants
	covers   map[string]action.StandingGrant // by action
}

var (
	_ web.Gate = (*fakeGate)(nil)
	_ web.Gate = (*verbatim.Gate)(nil)
)

func (g *fakeGate) Actions(_ context.Context, f action.Filter) ([]action.Action, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	limit := f.Limit
	if limit == 0 {
		limit = 100
	}
	seen := f.Before == ""
	var out []action.Action
	for _, a := range slices.Backward(g.actions) {
		fits := a.Tenant == f.Tenant && (f.Tool == "" || a.Tool == f.Tool) && (f.Principal == "" || a.Principal == f.Principal) &&
			(len(f.States) == 0 || slices.Contains(f.States, a.State)) && (f.From.IsZero() || !a.CreatedAt.Before(f.From)) &&
			(f.Until.IsZero() || a.CreatedAt.Before(f.Until)) &&
			(f.Voter == "" || slices.ContainsFunc(g.votes, func(v action.Vote) bool { return v.ActionID == a.ID && v.Voter == f.Voter }))
		if seen && fits && len(out) < limit {
			out = append(out, a)
		}
		seen = seen || a.ID == f.Before
	}
	return out, g.fail
}

func (g *fakeGate) Action(_ context.Context, tenant, id string) (action.Action, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fail != nil {
		return action.Action{}, g.fail
	}
	for _, a := range g.actions {
		if a.ID == id && a.Tenant == tenant {
			return a, nil
		}
	}
	return action.Action{}, action.ErrNotFound
}

func (g *fakeGate) Votes(_ context.Context, _, id string) ([]action.Vote, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []action.Vote
	for _, v := range g.votes {
		if v.ActionID == id {
			out = append(out, v)
		}
	}
	return out, nil
}

func (g *fakeGate) Vote(ctx context.Context, v action.Vote) (action.Action, error) {
	if err := g.accounts.VerifyVote(ctx, v); err != nil {
		return action.Action{}, err
	}
	if g.refuse != nil {
		return action.Action{}, g.refuse
	}
	voter, err := g.accounts.ByID(ctx, v.Voter)
	if err != nil {
		return action.Action{}, action.ErrIneligible
	}
	who := action.Person{ID: voter.ID, Tenant: voter.Tenant, Principal: voter.Principal, Groups: voter.Groups, Active: voter.Active}
	others, err := g.accounts.StandsFor(ctx, voter)
	if err != nil {
		return action.Action{}, err
	}
	for _, o := range others {
		who.For = append(who.For, action.Person{ID: o.ID, Tenant: o.Tenant, Principal: o.Principal, Groups: o.Groups, Active: o.Active})
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.actions, func(a action.Action) bool { return a.ID == v.ActionID })
	if i < 0 {
		return action.Action{}, action.ErrNotFound
	}
	a := &g.actions[i]
	switch {
	case a.State != action.PendingApproval:
		return *a, action.ErrState
	case a.Terms.Digest != v.Digest:
		return *a, action.ErrDigest
	case approval.Eligible(*a.Terms, approval.ProposerOf(*a), who) != nil:
		return *a, action.ErrIneligible
	case slices.ContainsFunc(g.votes, func(o action.Vote) bool { return o.ActionID == v.ActionID && o.Voter == v.Voter }):
		return *a, action.ErrVoted
	case v.Approve && !approval.SteppedUp(*a, v, g.clock()):
		return *a, action.ErrStepUp
	}
	v.At, v.For = start, approval.StandsFor(*a.Terms, approval.ProposerOf(*a), who)
	g.votes = append(g.votes, v)
	switch approval.Tally(*a.Terms, approval.ProposerOf(*a), g.votes, map[string]action.Person{who.ID: who}) {
	case approval.Enough:
		a.State = action.Approved
	case approval.Refused:
		a.State = action.Denied
	}
	return *a, nil
}

func (g *fakeGate) Revoke(_ context.Context, tenant, id, account, reason string) (action.Action, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refuse != nil {
		return action.Action{}, g.refuse
	}
	for i := range g.actions {
		if g.actions[i].ID == id && g.actions[i].Tenant == tenant {
			g.actions[i].State = action.Revoked
			g.revoked = append(g.revoked, id+" "+account+" "+reason)
			return g.actions[i], nil
		}
	}
	return action.Action{}, action.ErrNotFound
}

func (g *fakeGate) Records(_ context.Context, f audit.Filter) ([]audit.Record, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []audit.Record
	for _, r := range slices.Backward(g.records) {
		fits := r.Tenant == f.Tenant && (f.Before == 0 || r.Seq < f.Before) && (f.Action == "" || f.Action == r.Action) && (f.Event == "" || f.Event == r.Event)
		if fits && (f.Limit == 0 || len(out) < f.Limit) {
			out = append(out, r)
		}
	}
	return out, g.fail
}

func (g *fakeGate) clock() time.Time {
	if g.now == nil {
		return start
	}
	return g.now()
}

func (g *fakeGate) change(id string, to func(*action.Action)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.actions {
		if g.actions[i].ID == id {
			to(&g.actions[i])
		}
	}
}

func (g *fakeGate) counted() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.votes)
}

// definition is the digest of every fake tool.
var definition = canon.Sum([]byte("definition"))

var payTool = &catalog.Tool{Name: "bank.pay", Title: "Pay an invoice", Sentence: "Pay {amountMinor|money} to {vendorId}",
	Definition: definition, Cataloged: true, Mutation: true, Impact: catalog.Financial, Secrets: []string{"/auth/token"},
	Resolvers: []resolve.Rule{{Name: "money", Into: map[string]string{"amountMinor": "/amountMinor", "currency": "/currency"}}}}

func tools(name string) (*catalog.Tool, bool) {
	switch name {
	case "bank.pay":
		return payTool, true
	case "shell.run":
		return &catalog.Tool{Name: name, Definition: definition, Cataloged: true, Mutation: true, Impact: catalog.Irreversible}, true
	default:
		return nil, false
	}
}

// payment is a pending proposal that every step has changed.
func payment(id string) action.Action {
	a := action.Action{ID: id, Kind: action.KindCall, Tenant: tenant, Principal: "bob@acme", Agent: "Support Agent", Owner: "bob@acme",
		Task: "ticket-4711", Tool: "bank.pay", Definition: definition, Mutation: true, HighImpact: true, State: action.PendingApproval,
		CreatedAt: start.Add(-3 * time.Minute), UpdatedAt: start.Add(-3 * time.Minute), Deadline: start.Add(24 * time.Hour),
		Targets: []snapshot.Target{{Type: "vendor", ID: "VENDOR-001"}}, Model: "example-model",
		Evidence: []snapshot.Evidence{{Pointer: "/vendorId", Resolver: "vendors", Version: "2026-02-27", Digest: canon.Sum([]byte("v"))}},
		Changes: []canon.Change{
			{Pointer: "/amount", Kind: canon.ChangeConsumed, By: "money"}, {Pointer: "/amountMinor", Kind: canon.ChangeResolved, By: "money"},
			{Pointer: "/currency", Kind: canon.ChangeResolved, By: "money"}, {Pointer: "/note", Kind: canon.ChangeDefault},
			{Pointer: "/priority", Kind: canon.ChangeCoerced}, {Pointer: "/urgent", Kind: canon.ChangeStripped},
			{Pointer: "/vendor", Kind: canon.ChangeConsumed, By: "vendors"}, {Pointer: "/vendorId", Kind: canon.ChangeResolved, By: "vendors"},
		},
		Decision: action.Decision{Effect: "require_approval", Code: "approval_required", Reason: "payments above USD 500 need finance",
			PolicyVersion: "8f2c/3", Rules: []string{"payments.cedar:12"}},
		Terms: &action.Terms{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "finance", Votes: 1}, {Name: "admin", Votes: 2}}}},
			PendingUntil: start.Add(24 * time.Hour), TTL: 10 * time.Minute, Nonce: "n", RequestedAt: start.Add(-3 * time.Minute), ExpiresAt: start.Add(48 * time.Hour)},
		Payload: action.Payload{
			Requested: `{"amount":"8.4 thousand USD","auth":{"token":"tok_live_4f9a11"},"cc":"None","priority":"2","urgent":true,"vendor":"Northwind"}`,
			Args:      `{"amountMinor":840000,"auth":{"token":"tok_live_4f9a11"},"cc":"None","currency":"USD","note":null,"priority":2,"vendorId":"VENDOR-001"}`,
			Preview:   `{"balanceAfterMinor":1160000,"fee":0,"used":"tok_live_4f9a11"}`,
		},
	}
	a.Terms.Preview = canon.Sum([]byte(a.Payload.Preview))
	return sealed(a)
}

// sealed computes the approval digest again.
func sealed(a action.Action) action.Action {
	terms := *a.Terms
	a.Terms = &terms
	a.Terms.Digest = approval.Digest(a)
	return a
}

// command is a pending proposal with one string.
func command(id, text string) action.Action {
	a := payment(id)
	a.Tool, a.Targets, a.Evidence, a.Changes = "shell.run", nil, nil, nil
	a.Payload = action.Payload{}
	a.Payload.Args = string(canon.ObjectValue(canon.Member{Name: "command", Value: canon.StringValue(text)}).Canonical())
	a.Payload.Requested = a.Payload.Args
	terms := *a.Terms
	terms.Preview = canon.Digest{}
	a.Terms = &terms
	return sealed(a)
}

// bench is a site with one approver, logged in or not.
type bench struct {
	gate     *fakeGate
	clock    *authtest.Clock
	book     *authtest.Book
	accounts *auth.Accounts
	site     http.Handler
	at       string // its origin
	find     func(name string) (*catalog.Tool, bool)
	alice    auth.Account
	cookie   string
	verify   web.Verify
	diff     web.Diff
}

func newBench(t *testing.T, actions ...action.Action) *bench {
	t.Helper()
	b := emptyBench(t, actions...)
	b.alice = b.join(t, "Alice", tenant, "finance")
	b.cookie = b.logIn(t, b.alice)
	return b
}

func emptyBench(t *testing.T, actions ...action.Action) *bench {
	t.Helper()
	b := &bench{at: origin, gate: &fakeGate{actions: actions}, clock: authtest.NewClock(start), book: &authtest.Book{}}
	var err error
	if b.accounts, err = authtest.Accounts(b.book, b.clock.Now, 1); err != nil {
		t.Fatal(err)
	}
	b.gate.accounts, b.gate.now = b.accounts, b.clock.Now
	b.site, err = web.New(web.Config{Gate: b.gate, People: b.accounts, Tools: tools, Origin: origin, Now: b.clock.Now,
		Verify: b.checks, Diff: b.differs})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checks is what the site verifies evidence with.
func (b *bench) checks(ctx context.Context, of, id string) (audit.Evidence, error) {
	if b.verify == nil {
		return audit.Evidence{}, action.ErrNotFound
	}
	return b.verify(ctx, of, id)
}

// differs is what the site tells of a candidate policy.
func (b *bench) differs(context.Context, string, time.Time) (web.Diff, error) {
	return b.diff, b.gate.fail
}

// hash is the costly part of an account, made once for all tests.
var hash = sync.OnceValue(func() string {
	accounts, err := authtest.Accounts(&authtest.Book{}, nil, 1)
	if err != nil {
		return ""
	}
	account, err := accounts.Create(context.Background(), "Anybody", password, tenant, "", nil)
	if err != nil {
		return ""
	}
	return account.PasswordHash
})

// join adds a person with the common password.
func (b *bench) join(t *testing.T, name, tenant string, groups ...string) auth.Account {
	t.Helper()
	a := auth.Account{ID: "person_" + strings.ToLower(name), Name: name, Key: auth.FoldName(name), Tenant: tenant,
		Principal: strings.ToLower(name) + "@" + tenant, Groups: groups, PasswordHash: hash(), Active: true, CreatedAt: start}
	if err := b.book.AddAccount(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return a
}

// logIn returns the cookie of a new login.
func (b *bench) logIn(t *testing.T, a auth.Account) string {
	t.Helper()
	token := (rand.Text() + rand.Text())[:43]
	now := b.clock.Now()
	err := b.book.AddLogin(t.Context(), auth.Login{Token: canon.Sum([]byte(token)), AccountID: a.ID, CreatedAt: now,
		ExpiresAt: now.Add(auth.LoginLife), IdleUntil: now.Add(auth.LoginIdle), Method: auth.MethodPassword}, auth.Proof{PasswordHash: a.PasswordHash})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// request makes a request as the site's own pages make it.
func (b *bench) request(method, path string, form url.Values) *http.Request {
	r := httptest.NewRequest(method, b.at+path, strings.NewReader(form.Encode()))
	if b.cookie != "" {
		r.AddCookie(&http.Cookie{Name: "verbatim", Value: b.cookie})
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.at)
	}
	return r
}

func (b *bench) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.site.ServeHTTP(w, r)
	return w
}

func (b *bench) get(path string) *httptest.ResponseRecorder {
	return b.send(b.request(http.MethodGet, path, nil))
}

func (b *bench) post(path string, form url.Values) *httptest.ResponseRecorder {
	return b.send(b.request(http.MethodPost, path, form))
}
