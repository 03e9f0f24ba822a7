//go:build screenshots

package pictures_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/authtest"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
	"github.com/seed-de4804fb/verbatim/web"
)

const noteSchema = `{"type":"object","required":["customer","text"],"properties":{"customer":{"type":"string"},"text":{"type":"string"}},"additionalProperties":false}`

// smallThings is the real engine with a page and three harmless proposals:
// what the demo leaves waiting has high impact and is never decided on beside
// others.
func smallThings(t *testing.T) show {
	t.Helper()
	tool, err := verbatim.Untyped(catalog.Spec{Name: "crm.note", Schema: []byte(noteSchema), Impact: catalog.Ordinary, Reason: "a note can be removed",
		Sentence: "Write to the file of {customer}: {text}", Targets: []catalog.TargetRule{{Type: "customer", Pointer: "/customer"}}},
		execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: []byte(`{"written":true}`)}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	ask := policy.FromFunc("v1", func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: policy.RequireApproval, Reason: "notes are read before they are kept"}, nil
	})
	var people *auth.Accounts
	now := func() time.Time { return verbatimtest.Start }
	f := verbatimtest.New(t, verbatimtest.Config{Tools: []verbatim.Bound{tool}, Policy: ask, Gate: func(c *verbatim.Config) {
		if people, err = authtest.Accounts(c.Store.(auth.Book), now, 3); err != nil {
			t.Fatal(err)
		}
		c.Votes, c.CanApprove = people, people.CanApprove
	}})
	for i, text := range []string{"Called back on Monday.", "Prefers letters to mail.", "Asked for the price list of spring."} {
		o, err := f.Gate.Call(t.Context(), f.Session(), verbatim.Call{Tool: "crm.note", Arguments: fmt.Appendf(nil, `{"customer":"C-%d","text":%q}`, 104+i, text)})
		if err != nil || o.Status != verbatim.StatusApprovalRequired {
			t.Fatalf("%+v, %v", o, err)
		}
	}
	s := show{name: "Grace", password: "seven quiet lamps burn"}
	if _, err := people.Create(t.Context(), s.name, s.password, "acme", "", []string{"admin"}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	s.page = "http://localhost:" + port
	server.Config.Handler, err = web.New(web.Config{Gate: f.Gate, People: people, Origin: s.page, Now: now,
		Tools: func(name string) (*catalog.Tool, bool) { return tool.Tool, name == tool.Tool.Name }})
	if err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// several photographs the page that decides on several things, before and
// after, and fails where the decisions are not counted.
func several(t *testing.T, ctx context.Context, into string) {
	t.Helper()
	s := smallThings(t)
	enter(t, ctx, s)
	photograph(t, ctx, s, into, []shot{{"batch", "/batch"}})
	do(t, ctx, chromedp.Click(chromedp.CSS(`[name="choice-0"][value="approve"]`)), chromedp.Click(chromedp.CSS(`[name="choice-1"][value="reject"]`)),
		chromedp.SendKeys(chromedp.CSS(`[name="reason-1"]`), "She said so once."), chromedp.SendKeys(chromedp.CSS("#batch input[name=password]"), s.password))
	press(t, ctx, "#batch button", ".item .chip")
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("main").innerText`))
	if err != nil || !strings.Contains(text, "approved") || !strings.Contains(text, "rejected") || strings.Contains(text, "not counted") {
		t.Fatalf("the batch says %q, %v", text, err)
	}
	asItStands(t, ctx, into, "batch-decided")
	grant(t, ctx, s, into)
}

// grant photographs how somebody signs for calls like the one that still
// waits, and fails where that one is not let go with it.
func grant(t *testing.T, ctx context.Context, s show, into string) {
	t.Helper()
	do(t, ctx, chromedp.EmulateViewport(1280, 860), chromedp.Navigate(s.page+"/"), chromedp.WaitVisible(chromedp.CSS(".items")))
	waits := link(t, ctx, "price list")
	photograph(t, ctx, s, into, []shot{{"allow", waits + "/allow"}})
	press(t, ctx, "form.wide button.main", `form[action="`+waits+`/allow"]`)
	asItStands(t, ctx, into, "allow-review")
	do(t, ctx, chromedp.SendKeys(chromedp.CSS("input[name=password]"), s.password))
	press(t, ctx, "button.yes", ".votes")
	asItStands(t, ctx, into, "grant")
	photograph(t, ctx, s, into, []shot{{"granted", waits}})
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("main").innerText`))
	if err != nil || !strings.Contains(text, "standing grant") {
		t.Fatalf("the call that waited says %q, %v", text, err)
	}
}
