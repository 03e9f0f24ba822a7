package web_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
	"github.com/seed-de4804fb/verbatim/web"
)

// desk is the real engine behind a page at localhost, and two admins with a
// browser and a passkey each.
type desk struct {
	*verbatimtest.Fixture
	t          *testing.T
	runs       atomic.Int32
	address    string
	ada, grace context.Context
}

func newDesk(t *testing.T, admins int) *desk {
	t.Helper()
	d := &desk{t: t}
	var b *bench
	d.Fixture, b = engineAsking(t, &d.runs, admins)
	server := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	d.address = "http://localhost:" + port
	site, err := web.New(web.Config{Gate: d.Gate, People: b.accounts, Tools: b.find, Origin: d.address, Now: b.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = site
	server.Start()
	t.Cleanup(server.Close)
	for name, into := range map[string]*context.Context{"Ada Byron": &d.ada, "Grace": &d.grace} {
		if _, err := b.accounts.Create(t.Context(), name, password, "acme", "", []string{"admin"}); err != nil {
			t.Fatal(err)
		}
		*into = browser(t)
		device(t, *into)
		signIn(t, *into, d.address, name)
		register(t, *into, d.address)
	}
	return d
}

// propose makes one call and returns the action that waits.
func (d *desk) propose(order string) string {
	d.t.Helper()
	o, err := d.Gate.Call(d.t.Context(), d.Session(), verbatim.Call{Tool: "refund", Arguments: []byte(`{"order":"` + order + `","amountMinor":1250}`)})
	if err != nil || o.Status != verbatim.StatusApprovalRequired {
		d.t.Fatalf("%+v, %v", o, err)
	}
	return o.ActionID
}

func (d *desk) open(ctx context.Context, id string) {
	d.t.Helper()
	do(d.t, ctx, chromedp.Navigate(d.address+"/actions/"+id), chromedp.WaitVisible(chromedp.CSS("h1.headline")))
}

func (d *desk) state(id string) action.State {
	d.t.Helper()
	a, err := d.Gate.Action(d.t.Context(), "acme", id)
	if err != nil {
		d.t.Fatal(err)
	}
	return a.State
}

func (d *desk) approve(ctx context.Context) {
	d.t.Helper()
	do(d.t, ctx, chromedp.Click(chromedp.CSS("button.yes")))
	loaded(d.t, ctx, ".votes, .error")
}

func TestQuorumOfTwoTakesTwoPeopleInTheirOwnBrowsers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	id := d.propose("A-17")
	d.open(d.ada, id)
	d.open(d.grace, id)
	d.approve(d.ada)
	if got := d.state(id); got != action.PendingApproval {
		t.Fatalf("one of two made it %s", got)
	}
	do(t, d.ada, chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".votes")))
	if text := pageText(t, d.ada); !strings.Contains(text, "Ada Byron") || !strings.Contains(strings.ToLower(text), "you have decided") {
		t.Errorf("after her vote Ada reads %q", text)
	}
	d.approve(d.grace)
	if got := d.state(id); got != action.Approved {
		t.Fatalf("two of two made it %s", got)
	}
	o, err := d.Gate.Call(t.Context(), d.Session(), verbatim.Call{Tool: "refund", Arguments: []byte(`{"order":"A-17","amountMinor":1250}`)})
	if err != nil || o.Status != verbatim.StatusOK || d.runs.Load() != 1 {
		t.Errorf("%+v, %v, %d runs", o, err, d.runs.Load())
	}
	votes, err := d.Gate.Votes(t.Context(), "acme", id)
	if err != nil || len(votes) != 2 || votes[0].Method != action.MethodPasskey || votes[1].Method != action.MethodPasskey {
		t.Errorf("%+v, %v", votes, err)
	}
}

func TestTwoApproversAtOnceAreBothToldTheTruth(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	id := d.propose("A-18")
	d.open(d.ada, id)
	d.open(d.grace, id)
	var wg sync.WaitGroup
	for _, ctx := range []context.Context{d.ada, d.grace} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS("button.yes"))); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	loaded(t, d.ada, ".votes, .error")
	loaded(t, d.grace, ".votes, .error")
	votes, err := d.Gate.Votes(t.Context(), "acme", id)
	if err != nil || len(votes) != 1 || d.state(id) != action.Approved {
		t.Fatalf("%d votes, %s, %v", len(votes), d.state(id), err)
	}
	told := 0
	for _, ctx := range []context.Context{d.ada, d.grace} {
		if text := pageText(t, ctx); strings.Contains(text, "not counted") || strings.Contains(text, "approved already") && strings.Contains(text, "not possible") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d of the two were told that their vote came too late", told)
	}
}

func TestApprovalIsTakenBackInABrowser(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	id := d.propose("A-19")
	d.open(d.ada, id)
	d.approve(d.ada)
	d.open(d.grace, id)
	do(t, d.grace, chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true })`),
		chromedp.SendKeys(chromedp.CSS(`form[action$="/revoke"] textarea, form[action$="/revoke"] input[name=reason]`), "the order was cancelled"),
		chromedp.Click(chromedp.CSS(`form[action$="/revoke"] button`)))
	for end := time.Now().Add(stepLimit); d.state(id) != action.Revoked && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	if got := d.state(id); got != action.Revoked {
		t.Fatalf("it is %s: %s", got, pageText(t, d.grace))
	}
	o, err := d.Gate.Call(t.Context(), d.Session(), verbatim.Call{Tool: "refund", Arguments: []byte(`{"order":"A-19","amountMinor":1250}`), Approval: id})
	if err != nil || o.Status != verbatim.StatusDenied || d.runs.Load() != 0 {
		t.Errorf("%+v, %v, %d runs", o, err, d.runs.Load())
	}
}

func TestAVoteByAnAccountOfTheOwnersMakingIsMarked(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	b.gate.votes = []action.Vote{{ActionID: "act_1", Voter: b.alice.ID, Approve: true, Method: action.MethodPassword, At: start}}
	for tie, want := range map[string]string{"": "", "owner": "Their own agent asked", "invited": "It may be theirs"} {
		b.gate.records = []audit.Record{{Seq: 1, At: start, Tenant: tenant, Event: audit.VoteApprove, Action: "act_1", By: b.alice.ID, Facts: map[string]string{"tie": tie}}}
		page := text(b.get("/actions/act_1").Body.String())
		if want == "" && (strings.Contains(page, "may be theirs") || strings.Contains(page, "own agent asked")) || !strings.Contains(page, want) {
			t.Errorf("tie %q: the page does not say %q", tie, want)
		}
	}
}
