package web_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/authtest"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
	"github.com/seed-de4804fb/verbatim/web"
)

const (
	payeeSchema = `{"type":"object","required":["to","amountMinor"],"properties":{"to":{"type":"string"},"amountMinor":{"type":"integer"}},"additionalProperties":false}`
	payee       = `{"to":"Vendor A","amountMinor":1250}`
)

// office is the real engine over the real store behind a page, with one
// browser. What approvals bind can be changed under it while a page is open.
type office struct {
	*verbatimtest.Fixture
	t       *testing.T
	b       *bench
	address string
	ctx     context.Context

	mu      sync.Mutex
	tool    verbatim.Bound
	version string // of the policy
	vendor  string // whom "Vendor A" means
	lost    bool   // whether answers of the tool get lost
	runs    int
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, b: &bench{clock: authtest.NewClock(verbatimtest.Start)}, version: "v1", vendor: "VENDOR-001"}
	var err error
	o.tool, err = verbatim.Untyped(catalog.Spec{Name: "pay", Schema: []byte(payeeSchema), Impact: catalog.Financial, Sentence: "Pay {to}",
		Targets: []catalog.TargetRule{{Type: "Vendor", Pointer: "/to"}}, Resolvers: []resolve.Rule{{Name: "vendors", Resolver: o,
			From: map[string]string{"value": "/to"}, Into: map[string]string{"value": "/to"}}}}, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Fixture = verbatimtest.New(t, verbatimtest.Config{Tools: []verbatim.Bound{o.tool}, Policy: o, Gate: func(c *verbatim.Config) {
		if o.b.accounts, err = authtest.Accounts(c.Store.(auth.Book), o.b.clock.Now, 3); err != nil {
			t.Fatal(err)
		}
		c.Tools, c.Votes, c.CanApprove = o, o.b.accounts, o.b.accounts.CanApprove
	}})
	server := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	o.address = "http://localhost:" + port
	server.Config.Handler, err = web.New(web.Config{Gate: o.Gate, People: o.b.accounts, Origin: o.address, Now: o.b.clock.Now,
		Tools: func(name string) (*catalog.Tool, bool) { b, ok := o.Tool(name); return b.Tool, ok }})
	if err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(server.Close)
	o.ctx = browser(t)
	return o
}

// grace signs a person in who approves and operates, with a password.
func (o *office) grace() {
	o.t.Helper()
	if _, err := o.b.accounts.Create(o.t.Context(), "Grace", password, "acme", "", []string{"admin", "operator"}); err != nil {
		o.t.Fatal(err)
	}
	signIn(o.t, o.ctx, o.address, "Grace")
}

func (o *office) Tool(name string) (verbatim.Bound, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tool, name == "pay"
}

// Current is the policy in force: it asks for a person, always.
func (o *office) Current() policy.Engine {
	o.mu.Lock()
	defer o.mu.Unlock()
	return policy.FromFunc(o.version, func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: policy.RequireApproval, Reason: "payments need a person", Approval: &policy.Approval{PendingTTL: 10 * time.Minute,
			Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}}}, nil
	})
}

func (o *office) Version(tool string) string { return o.Current().Version(tool) }

func (o *office) Decide(ctx context.Context, in policy.Input) (policy.Decision, error) {
	return o.Current().Decide(ctx, in)
}

func (o *office) Resolve(_ context.Context, in map[string]canon.Value) (resolve.Answer, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if in["value"].Text() != "Vendor A" {
		return resolve.Answer{}, canon.Refuse("/value", resolve.RuleUnresolved, "a known vendor")
	}
	return resolve.Answer{Values: map[string]canon.Value{"value": canon.StringValue(o.vendor)}, Version: "1"}, nil
}

func (o *office) Handle(context.Context, execute.Input) (execute.Output, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.runs++
	if o.lost {
		return execute.Output{}, execute.ErrLost
	}
	return execute.Output{Bytes: []byte(`{"paid":true}`)}, nil
}

func (o *office) change(to func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	to()
}

// ran fails unless the tool has run so often.
func (o *office) ran(want int) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.runs != want {
		o.t.Errorf("%d runs; want %d", o.runs, want)
	}
}

// later moves every clock.
func (o *office) later(d time.Duration) {
	o.Clock.Advance(d)
	o.b.clock.Move(d)
}

// call is what the agent asks for, under an approval or none.
func (o *office) call(approval string) verbatim.Outcome {
	o.t.Helper()
	out, err := o.Gate.Call(o.t.Context(), o.Session(), verbatim.Call{Tool: "pay", Arguments: []byte(payee), Approval: approval})
	if err != nil {
		o.t.Fatal(err)
	}
	return out
}

// waits makes a call that waits for a person and opens its page.
func (o *office) waits() string {
	o.t.Helper()
	out := o.call("")
	if out.Status != verbatim.StatusApprovalRequired {
		o.t.Fatalf("%+v", out)
	}
	o.visit("/actions/" + out.ActionID)
	loaded(o.t, o.ctx, "button.yes")
	return out.ActionID
}

func (o *office) visit(path string) {
	o.t.Helper()
	do(o.t, o.ctx, chromedp.Navigate(o.address+path), chromedp.WaitVisible(chromedp.CSS("main h1")))
}

// approve decides on the page that is open, with the password.
func (o *office) approve(then string) {
	o.t.Helper()
	pressed(o.t, o.ctx, "button.yes", then, [2]string{"#approve-password", password})
}

// says fails unless the page, or the one that is on its way, says something.
func (o *office) says(want string) {
	o.t.Helper()
	text := ""
	for end := time.Now().Add(stepLimit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		got, err := chromedp.Run(o.ctx, chromedp.Evaluate[string](`document.querySelector("main")?.innerText ?? ""`))
		if err == nil {
			text = got
		}
		if strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
			return
		}
	}
	o.t.Errorf("the page does not say %q: %q", want, text)
}

func (o *office) is(id string, want action.State) {
	o.t.Helper()
	if a, err := o.Gate.Action(o.t.Context(), "acme", id); err != nil || a.State != want {
		o.t.Errorf("it is %s, %v; want %s", a.State, err, want)
	}
}

func TestProposalThatExpiresWhileItIsOpenTakesNoVote(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.grace()
	id := o.waits()
	o.later(10 * time.Minute)
	o.approve(".error")
	o.says("deadline has passed")
	if _, err := o.Gate.Sweep(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	o.visit("/actions/" + id)
	o.says("expired")
	o.is(id, action.Expired)
	if out := o.call(id); out.Status != verbatim.StatusDenied {
		t.Errorf("under the expired approval: %+v", out)
	}
	o.ran(0)
}

// TestApprovalOfAPageThatIsOldRunsNothing changes what an approval binds
// while the page that asks for it is open.
func TestApprovalOfAPageThatIsOldRunsNothing(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.grace()
	for _, c := range []struct {
		name   string
		change func()
		code   verbatim.Code
	}{
		{"the policy", func() { o.version = "v2" }, verbatim.CodeApprovalStale},
		{"the alias", func() { o.vendor = "VENDOR-002" }, verbatim.CodeTargetChanged},
	} {
		id := o.waits()
		o.change(c.change)
		o.approve(".votes")
		if out := o.call(id); out.Status != verbatim.StatusDenied || out.Code != c.code {
			t.Errorf("%s: %s, %s; want %s", c.name, out.Status, out.Code, c.code)
		}
		o.is(id, action.Denied)
		do(t, o.ctx, chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("main h1")))
		o.says("denied")
	}
	id := o.waits()
	o.change(func() {
		moved := *o.tool.Tool
		moved.Definition = canon.Sum([]byte("another definition"))
		o.tool.Tool = &moved
	})
	o.approve(".error")
	o.says("cannot be approved")
	o.is(id, action.PendingApproval)
	if votes, err := o.Gate.Votes(t.Context(), "acme", id); err != nil || len(votes) != 0 {
		t.Errorf("%d votes, %v", len(votes), err)
	}
	o.ran(0)
}

// comesFromAProvider signs somebody in whom a provider has just seen.
func (o *office) comesFromAProvider() {
	o.t.Helper()
	token, _, err := o.b.accounts.LoginFrom(o.t.Context(), "acme", auth.Identity{Issuer: "https://id.example.test", Subject: "u-1",
		Names: []string{"Olga"}, Groups: []string{"admin"}, ProvedAt: o.b.clock.Now()})
	if err != nil {
		o.t.Fatal(err)
	}
	if _, err := chromedp.Call(o.ctx, network.SetCookie, network.SetCookieParams{Name: "verbatim", Value: token, URL: o.address, SameSite: "Strict"}); err != nil {
		o.t.Fatal(err)
	}
}

func TestHighImpactTakesAFreshSignInOnThePage(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.comesFromAProvider()
	id := o.waits()
	o.later(6 * time.Minute)
	do(t, o.ctx, chromedp.Click(chromedp.CSS("button.yes")), chromedp.WaitVisible(chromedp.CSS(".error")))
	o.says("fresh sign-in")
	o.is(id, action.PendingApproval)
	o.comesFromAProvider()
	o.visit("/actions/" + id)
	do(t, o.ctx, chromedp.Click(chromedp.CSS("button.yes")), chromedp.WaitVisible(chromedp.CSS(".votes")))
	o.is(id, action.Approved)
	if out := o.call(id); out.Status != verbatim.StatusOK {
		t.Errorf("%+v", out)
	}
	o.ran(1)
}

func TestOperatorStopsAndLiftsOnThePage(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.grace()
	id := o.waits()
	o.approve(".votes")
	o.visit("/operate")
	do(t, o.ctx, chromedp.Click(chromedp.CSS("details.stop summary")))
	pressed(t, o.ctx, `form[action="/operate/stop"] button`, "li.stopped", [2]string{"#stop-tool", "pay"}, [2]string{"#stop-reason", "it pays too much"})
	o.says("it pays too much")
	if out := o.call(id); out.Status != verbatim.StatusDenied || out.Code != verbatim.CodeStopped {
		t.Errorf("while it is stopped: %s, %s", out.Status, out.Code)
	}
	o.ran(0)
	o.is(id, action.Approved)
	do(t, o.ctx, chromedp.Click(chromedp.CSS("li.stopped summary")))
	pressed(t, o.ctx, "li.stopped button", "main:not(:has(li.stopped))", [2]string{"li.stopped textarea", "it was a mistake"}, [2]string{"li.stopped input[name=password]", password})
	o.says("The stop is lifted")
	if out := o.call(id); out.Status != verbatim.StatusOK {
		t.Errorf("afterwards: %+v", out)
	}
	o.ran(1)
}

func TestUncertainRunIsSettledFromOperations(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.grace()
	id := o.waits()
	o.approve(".votes")
	o.change(func() { o.lost = true })
	if out := o.call(id); out.Status != verbatim.StatusUncertain {
		t.Fatalf("%+v", out)
	}
	o.visit("/operate")
	do(t, o.ctx, chromedp.Click(chromedp.CSS(`a.go[href="/actions/`+id+`"]`)), chromedp.WaitVisible(chromedp.CSS("details.did summary")),
		chromedp.Click(chromedp.CSS("details.did summary")))
	pressed(t, o.ctx, "details.did button", "main:not(:has(details.did))", [2]string{"#did-evidence", "The bank's ledger, line 7."}, [2]string{"#did-password", password})
	o.is(id, action.ReconciledSucceeded)
	if out := o.call(id); !out.Replayed {
		t.Errorf("afterwards: %+v", out)
	}
	o.visit("/operate")
	o.says("Nothing is uncertain.")
	o.ran(1)
}
