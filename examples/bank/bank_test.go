package bank_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// answer is what the bank remembers of a request with a key.
type answer struct{ tool, args, result string }

// bank is the bank with its ledger.
type bank struct {
	*verbatimtest.Fixture
	t   *testing.T
	dir string // of the catalog and its table

	mu     sync.Mutex
	ledger []string          // what was paid, as the bank got it
	done   map[string]answer // by idempotency key: what the bank promises to remember for a day
	lose   bool              // the next answer to a payment does not arrive
	rest   int64
	quotes int
}

func open(t *testing.T) *bank {
	t.Helper()
	b := &bank{t: t, dir: t.TempDir(), rest: 5_000_000, done: map[string]answer{}}
	for _, name := range []string{"catalog.yaml", "payees.csv"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b.write(name, string(data))
	}
	c, err := yamlfile.Load(filepath.Join(b.dir, "catalog.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("policy.cedar")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := cedar.Load(map[string][]byte{"policy.cedar": rules}, c.Tools(), cedar.Options{Groups: []string{"treasury", "cfo"}})
	if err != nil {
		t.Fatal(err)
	}
	var tools []verbatim.Bound
	for _, tool := range c.Tools() {
		tools = append(tools, verbatim.Bound{Tool: tool, Handler: b.handler(tool.Name)})
	}
	b.Fixture = verbatimtest.New(t, verbatimtest.Config{Tools: tools, Policy: engine})
	b.AddPerson("tia", "treasury")
	b.AddPerson("tom", "treasury")
	b.AddPerson("cleo", "cfo")
	return b
}

func (b *bank) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bank) handler(tool string) execute.Handler {
	return execute.HandlerFunc(func(_ context.Context, in execute.Input) (execute.Output, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if tool == "quote" {
			b.quotes++ // the clock of this bank
			return execute.Output{Bytes: fmt.Appendf(nil, `{"at":%d,"feeMinor":0,"restMinor":%d}`, b.quotes, b.rest)}, nil
		}
		if tool == "balance" {
			b.ledger = append(b.ledger, tool+" "+string(in.JSON()))
			return execute.Output{Bytes: []byte(`{}`)}, nil
		}
		return b.once(tool, in)
	})
}

// once does what it was asked for under a key, the first time. A repetition
// gets the first answer; the key of another request is refused.
func (b *bank) once(tool string, in execute.Input) (execute.Output, error) {
	asked := answer{tool: tool, args: string(in.JSON())}
	first, known := b.done[in.ProviderKey()]
	switch {
	case known && (first.tool != asked.tool || first.args != asked.args):
		return execute.Output{}, errors.New("the bank knows this key for another request")
	case !known:
		b.ledger = append(b.ledger, tool+" "+asked.args)
		first = asked
		first.result = fmt.Sprintf(`{"booking":%d}`, len(b.ledger))
		b.done[in.ProviderKey()] = first
	}
	if b.lose {
		b.lose = false
		return execute.Output{}, execute.ErrLost
	}
	return execute.Output{Bytes: []byte(first.result)}, nil
}

func (b *bank) paid() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.ledger...)
}

func (b *bank) call(role, tool, args string) verbatim.Outcome {
	b.t.Helper()
	s := b.Session()
	s.Roles = []string{role}
	return b.as(s, verbatim.Call{Tool: tool, Arguments: []byte(args)})
}

func (b *bank) as(s verbatim.Session, c verbatim.Call) verbatim.Outcome {
	b.t.Helper()
	o, err := b.Gate.Call(b.t.Context(), s, c)
	if err != nil {
		b.t.Fatal(err)
	}
	return o
}

func TestRolesReachTheirOwnAccountsAndPayees(t *testing.T) {
	t.Parallel()
	b := open(t)
	for _, c := range []struct {
		role, tool, args string
		want             verbatim.Code
	}{
		{"clerk", "balance", `{"account":"operating"}`, verbatim.CodeOK},
		{"clerk", "balance", `{"account":"ACC-001"}`, verbatim.CodeOK},
		{"clerk", "balance", `{"account":"payroll"}`, verbatim.CodeNoMatchingRule},
		{"hr", "balance", `{"account":" PAYROLL "}`, verbatim.CodeOK},
		{"hr", "balance", `{"account":"operating"}`, verbatim.CodeNoMatchingRule},
		{"guest", "balance", `{"account":"operating"}`, verbatim.CodeNoMatchingRule},
		{"clerk", "balance", `{"account":"savings"}`, verbatim.CodeTargetUnresolved},
		{"clerk", "transfer", `{"account":"operating","payee":"acme","amount":"999.99 USD"}`, verbatim.CodeOK},
		{"clerk", "transfer", `{"account":"operating","payee":"acme","amount":"1000 USD"}`, verbatim.CodeApprovalRequired},
		{"clerk", "transfer", `{"account":"payroll","payee":"acme","amount":"1 USD"}`, verbatim.CodeNoMatchingRule},
		{"hr", "transfer", `{"account":"payroll","payee":"globex","amount":"1 EUR"}`, verbatim.CodeOK},
		{"clerk", "transfer", `{"account":"operating","payee":"Hooli","amount":"1 USD"}`, verbatim.CodePolicyDenied},
		{"clerk", "transfer", `{"account":"operating","payee":"Initech","amount":"1 USD"}`, verbatim.CodeTargetUnresolved}, // expired
		{"clerk", "transfer", `{"account":"operating","payee":"\u0410cme","amount":"1 USD"}`, verbatim.CodeTargetUnresolved},
		{"clerk", "transfer", `{"account":"operating","payee":"acme","amount":"1.005 USD"}`, verbatim.CodeTargetUnresolved},
		{"clerk", "transfer", `{"account":"operating","payee":"acme","amount":"1 USD","requestedBy":"cleo"}`, verbatim.CodeIdentitySpoof},
		{"clerk", "transfer", `{"account":"operating","payee":"acme","amount":"1 USD","payeeId":"VENDOR-002"}`, verbatim.CodeInvalidArguments},
		{"clerk", "transfer", `{"account":"operating","payee":"acme","amount":"1 USD","reference":"a\u200bb"}`, verbatim.CodePolicyDenied},
		{"clerk", "close_account", `{"account":"operating"}`, verbatim.CodeNoMatchingRule},
		{"cfo", "close_account", `{"account":"operating"}`, verbatim.CodeApprovalRequired},
	} {
		if o := b.call(c.role, c.tool, c.args); o.Code != c.want {
			t.Errorf("%s %s %s: %s, want %s", c.role, c.tool, c.args, o.Code, c.want)
		}
	}
	want := []string{
		`balance {"accountId":"ACC-001"}`, `balance {"accountId":"ACC-001"}`, `balance {"accountId":"ACC-002"}`,
		`transfer {"accountId":"ACC-001","amountMinor":99999,"currency":"USD","payeeId":"VENDOR-001","requestedBy":"maria"}`,
		`transfer {"accountId":"ACC-002","amountMinor":100,"currency":"EUR","payeeId":"VENDOR-002","requestedBy":"maria"}`,
	}
	if diff := cmp.Diff(want, b.paid()); diff != "" {
		t.Error(diff)
	}
}

const large = `{"account":"operating","payee":"Acme","amount":"8.4 thousand dollars"}`

func TestLargePaymentNeedsTwoOfTreasuryOrTheCFO(t *testing.T) {
	t.Parallel()
	b := open(t)
	o := b.call("clerk", "transfer", large)
	b.Approve(o.ActionID, "tia")
	if again := b.call("clerk", "transfer", large); again.Code != verbatim.CodeApprovalRequired || len(b.paid()) != 0 {
		t.Errorf("after one of treasury: %s", again.Code)
	}
	b.Approve(o.ActionID, "tom")
	s := b.Session()
	s.Roles = []string{"clerk"}
	if again := b.as(s, verbatim.Call{Tool: "transfer", Arguments: []byte(large), Approval: o.ActionID}); again.Code != verbatim.CodeOK {
		t.Errorf("after two of treasury: %s", again.Code)
	}
	b.mu.Lock()
	quotes := b.quotes
	b.mu.Unlock()
	if quotes < 2 || len(b.paid()) != 1 { // the quote's clock went on between them
		t.Errorf("%d quotes, paid %v", quotes, b.paid())
	}
}

func TestApprovalIsOverWhenWhatItShowedChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*bank)
		want   verbatim.Code
	}{
		"the payee was moved": {func(b *bank) { b.write("payees.csv", "alias,id\nAcme,VENDOR-002\n") }, verbatim.CodeTargetChanged},
		"the payee is two":    {func(b *bank) { b.write("payees.csv", "alias,id\nAcme,VENDOR-001\nacme,VENDOR-002\n") }, verbatim.CodeTargetAmbiguous},
		"the payees are gone": {func(b *bank) { b.write("payees.csv", "nothing") }, verbatim.CodeTargetUnresolved},
		"the rest is another": {func(b *bank) { b.mu.Lock(); b.rest--; b.mu.Unlock() }, verbatim.CodeApprovalStale},
	} {
		b := open(t)
		o := b.call("clerk", "transfer", large)
		b.Approve(o.ActionID, "cleo")
		c.change(b)
		s := b.Session()
		s.Roles = []string{"clerk"}
		if again := b.as(s, verbatim.Call{Tool: "transfer", Arguments: []byte(large), Approval: o.ActionID}); again.Code != c.want || len(b.paid()) != 0 {
			t.Errorf("%s: %s of %q, paid %v", name, again.Code, again.Member, b.paid())
		}
	}
}

func TestPayRunIsOneActionOnAllOfItsPayees(t *testing.T) {
	t.Parallel()
	b := open(t)
	o := b.call("clerk", "pay_run", `{"account":"operating","lines":[{"payee":"Acme","amount":"5 USD"},{"payee":"globex","amount":"0.5 k EUR"},{"payee":"VENDOR-001","amount":"7 USD"}]}`)
	if o.Code != verbatim.CodeApprovalRequired {
		t.Fatal(o.Code)
	}
	a, err := b.Store.Action(t.Context(), "acme", o.ActionID)
	if err != nil {
		t.Fatal(err)
	}
	want := []snapshot.Target{{Type: "account", ID: "ACC-001"}, {Type: "payee", ID: "VENDOR-001"}, {Type: "payee", ID: "VENDOR-002"}, {Type: "payee", ID: "VENDOR-001"}}
	if diff := cmp.Diff(want, a.Targets); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(a.Payload.Args, `{"amountMinor":50000,"currency":"EUR","payeeId":"VENDOR-002"}`) || a.State != action.PendingApproval {
		t.Errorf("%s %s", a.State, a.Payload.Args)
	}
	for _, args := range []string{
		`{"account":"operating","lines":[{"payee":"Acme","amount":"5 USD"},{"payee":"Hooli","amount":"5 USD"}]}`,
		`{"account":"payroll","lines":[{"payee":"Acme","amount":"5 USD"}]}`,
	} {
		if o := b.call("clerk", "pay_run", args); o.Status != verbatim.StatusDenied {
			t.Errorf("%s: %s", args, o.Code)
		}
	}
}

func TestNothingIsPaidAfterStrangersWords(t *testing.T) {
	t.Parallel()
	b := open(t)
	s := b.Session()
	s.Roles, s.Taint = []string{"clerk"}, []string{"read_outside"}
	o := b.as(s, verbatim.Call{Tool: "transfer", Arguments: []byte(`{"account":"operating","payee":"Acme","amount":"1 USD"}`)})
	if o.Code != verbatim.CodePolicyDenied || o.PublicReason != "This session has read what strangers wrote." || len(b.paid()) != 0 {
		t.Errorf("%s %q", o.Code, o.PublicReason)
	}
}

func TestNothingInTheCatalogFailsLint(t *testing.T) {
	t.Parallel()
	c, err := yamlfile.Load("catalog.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if found := catalog.Lint(c); len(found) > 0 {
		t.Error(found)
	}
	rules, err := os.ReadFile("policy.cedar")
	if err != nil {
		t.Fatal(err)
	}
	found, err := cedar.Check(map[string][]byte{"policy.cedar": rules}, c.Tools(), cedar.Options{})
	for _, f := range found {
		if f.Rule != "" { // what policy cannot see of quotes and lines is no mistake
			t.Error(f)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// TestALostPaymentIsSentAgainUnderItsKey: the bank has paid and its answer is
// lost. Nobody knows then, until it is sent again and the bank, which remembers
// the key, tells what it did the first time.
func TestALostPaymentIsSentAgainUnderItsKey(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.mu.Lock()
	b.lose = true
	b.mu.Unlock()
	const small = `{"account":"operating","payee":"acme","amount":"20 USD"}`
	o := b.call("clerk", "transfer", small)
	if o.Code != verbatim.CodeOutcomeUncertain || len(b.paid()) != 1 {
		t.Fatalf("%s, paid %v", o.Code, b.paid())
	}
	if again := b.call("clerk", "transfer", small); again.Code != verbatim.CodeOutcomeUncertain || len(b.paid()) != 1 {
		t.Fatalf("the same call: %s, paid %v", again.Code, b.paid())
	}
	if n, err := b.Gate.Settle(t.Context(), action.Filter{Tenant: b.Session().Tenant}); err != nil || n != 1 {
		t.Fatalf("%d settled, %v", n, err)
	}
	row, err := b.Store.Action(t.Context(), b.Session().Tenant, o.ActionID)
	if err != nil || row.State != action.Succeeded && row.State != action.ReconciledSucceeded || string(row.Result.Output) != `{"booking":1}` {
		t.Errorf("%s %+v, %v", row.State, row.Result, err)
	}
	if paid := b.paid(); len(paid) != 1 {
		t.Errorf("paid %v", paid)
	}
}
