package web_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/newcomertest"
)

// visitor is a newcomer before an office, whose every hesitation fails.
type visitor struct {
	t *testing.T
	o *office
	newcomertest.Newcomer
}

func (n *visitor) ok(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

func (n *visitor) press(words string)       { n.t.Helper(); n.ok(n.Press(words)) }
func (n *visitor) open(words string)        { n.t.Helper(); n.ok(n.Open(words)) }
func (n *visitor) unfold(words string)      { n.t.Helper(); n.ok(n.Unfold(words)) }
func (n *visitor) write(label, text string) { n.t.Helper(); n.ok(n.Write(label, text)) }
func (n *visitor) reads(words string)       { n.t.Helper(); n.ok(n.Reads(words)) }

// asked is a call of the agent that waits for somebody.
func (n *visitor) asked() string {
	n.t.Helper()
	out := n.o.call("")
	if out.Status != verbatim.StatusApprovalRequired {
		n.t.Fatalf("%+v", out)
	}
	return out.ActionID
}

func (n *visitor) signIn() {
	n.t.Helper()
	n.ok(n.Enter(n.o.address))
	n.write("Name", "Grace")
	n.write("Password", password)
	n.press("Sign in")
}

// TestANewcomerFindsTheirWay has somebody approve, reject, settle what is
// uncertain and find on the next day what they approved, by the words in
// sight alone.
func TestANewcomerFindsTheirWay(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	if _, err := o.b.accounts.Create(t.Context(), "Grace", password, "acme", "", []string{"admin", "operator"}); err != nil {
		t.Fatal(err)
	}
	n := &visitor{t, o, newcomertest.At(o.ctx)}
	approved := n.asked()
	n.signIn()
	n.open("Pay “VENDOR-001”")
	n.reads("Never with this tool on this target: this is the first")
	n.write("Your password, to sign a yes", password)
	n.press("Approve exactly this")
	n.reads("approved, not run yet")
	if out := o.call(approved); out.Status != verbatim.StatusOK {
		t.Fatalf("%+v", out)
	}

	rejected := n.asked()
	n.press("Inbox")
	n.open("Pay “VENDOR-001”")
	n.unfold("Reject instead")
	n.write("Reason, kept in the record", "that was paid last week")
	n.write("Your password, to sign a no", password)
	n.press("Reject")
	n.reads("that was paid last week")
	o.is(rejected, action.Denied)

	lost := n.asked()
	n.press("Inbox")
	n.open("Pay “VENDOR-001”")
	n.write("Your password, to sign a yes", password)
	n.press("Approve exactly this")
	o.change(func() { o.lost = true })
	if out := o.call(lost); out.Status != verbatim.StatusUncertain {
		t.Fatalf("%+v", out)
	}
	n.press("Operations")
	n.reads("Nobody knows whether these took effect")
	n.open("Pay “VENDOR-001”")
	n.unfold("It took effect")
	n.write("How you know, kept in the record", "It is in the bank's ledger, line 7.")
	n.write("Your password", password)
	n.press("Record that it happened")
	o.is(lost, action.ReconciledSucceeded)

	o.later(24 * time.Hour)
	n.signIn()
	n.press("History")
	n.press("yesterday")
	n.reads("approved by Grace")
	n.reads("rejected by Grace")
	rows, err := chromedp.Run(o.ctx, chromedp.Evaluate[int](`document.querySelectorAll("li.item").length`))
	if err != nil || rows != 3 {
		t.Errorf("%d actions of yesterday, %v", rows, err)
	}
}
