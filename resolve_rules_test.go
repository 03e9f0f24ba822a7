package verbatim_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/resolve"
)

// payees is a table of which a test moves the alias "Vendor A" while calls
// run.
type payees struct {
	resolver resolve.Resolver
	point    func(id string)
}

func payeesInGo(*testing.T) payees {
	v := &vendors{rows: map[string]string{}}
	return payees{v, func(id string) { v.set("Vendor A", id) }}
}

// payeesInAFile replaces the file as an editor does, so that no half of it is
// ever read.
func payeesInAFile(t *testing.T) payees {
	path := filepath.Join(t.TempDir(), "payees.csv")
	var mu sync.Mutex
	point := func(id string) {
		mu.Lock()
		defer mu.Unlock()
		next := path + ".next"
		if err := os.WriteFile(next, []byte("alias,id\nVendor A,"+id+"\n"), 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(next, path); err != nil {
			t.Error(err)
		}
	}
	point("VENDOR-001")
	table, err := resolve.OpenTable(path, resolve.ParseCSV, resolve.TableOptions{Fold: true})
	if err != nil {
		t.Fatal(err)
	}
	return payees{table, point}
}

// paying is a financial tool whose payee and currency are resolved.
func paying(payee, currency resolve.Resolver) catalog.Spec {
	spec := financial("pay", `{"type":"object","required":["to","amountMinor","currency"],"properties":{
		"to":{"type":"string"},"amountMinor":{"type":"integer"},"currency":{"type":"string"}}}`)
	spec.ProposalSchema = []byte(`{"type":"object","required":["to","amount","currency"],"properties":{
		"to":{"type":"string"},"amount":{"type":["number","string"]},"currency":{"type":"string"}}}`)
	value := func(p string) map[string]string { return map[string]string{"value": p} }
	spec.Resolvers = []resolve.Rule{{Name: "payees", From: value("/to"), Into: value("/to"), Resolver: payee}}
	if currency != nil {
		spec.Resolvers = append(spec.Resolvers, resolve.Rule{Name: "currencies", From: value("/currency"), Into: value("/currency"), Resolver: currency})
	}
	money, err := resolve.NewMoney(resolve.MoneyOptions{})
	if err != nil {
		panic(err)
	}
	spec.Resolvers = append(spec.Resolvers, resolve.Rule{Name: "money",
		From:     map[string]string{"amount": "/amount", "currency": "/currency"},
		Into:     map[string]string{"amountMinor": "/amountMinor", "currency": "/currency"},
		Resolver: money})
	spec.Targets = []catalog.TargetRule{{Type: "Vendor", Pointer: "/to"}}
	return spec
}

// payment is a call of paying, with a number of its own so that no two rounds
// are one request.
func payment(n int) []byte {
	return fmt.Appendf(nil, `{"to":"Vendor A","amount":%d,"currency":"USD"}`, n)
}

func frozenPayment(n int) string {
	return fmt.Sprintf(`{"amountMinor":%d,"currency":"USD","to":"VENDOR-001"}`, n*100)
}

// linger lets others run for a random while; no clock decides.
func linger(r *rand.Rand) {
	for range r.IntN(400) {
		runtime.Gosched()
	}
}

// raced is one round: a call is approved for VENDOR-001 and runs while the
// alias is moved to VENDOR-002 at a random moment.
func raced(t *testing.T, s *stage, p payees, n int, r *rand.Rand) {
	t.Helper()
	p.point("VENDOR-001")
	c := verbatim.Call{Tool: s.name, Arguments: payment(n)}
	before, back, held, verb := len(s.probe.ran()), r.IntN(4) == 0, r.IntN(2) == 0, ""
	if r.IntN(3) == 0 { // between two steps, not only beside them
		verb = []string{"Now", "Votes", "Claim", "Begin", "Finish"}[r.IntN(5)]
	}
	mover := rand.New(rand.NewPCG(r.Uint64(), 1))
	o := heldOrResumed(t, s, c, held, func() {
		if verb != "" {
			s.store.on(verb, func() error { p.point("VENDOR-002"); return nil })
		}
		linger(mover)
		p.point("VENDOR-002")
		if back {
			linger(mover)
			p.point("VENDOR-001")
		}
	})
	if verb != "" {
		s.store.on(verb, nil)
	}
	ran := s.probe.ran()[before:]
	switch o.Code {
	case verbatim.CodeOK:
		if !slices.Equal(ran, []string{frozenPayment(n)}) {
			t.Fatalf("round %d: approved for VENDOR-001, ran %q", n, ran)
		}
	case verbatim.CodeTargetChanged:
		if len(ran) != 0 {
			t.Fatalf("round %d: %s, and yet it ran %q", n, o.Code, ran)
		}
		s.state(o.ActionID, action.Denied)
	default:
		t.Fatalf("round %d: %s %s", n, o.Status, o.Code)
	}
	p.point("VENDOR-002")
	c.Approval = o.ActionID
	if again := s.with(c); len(s.probe.ran()) != before+len(ran) {
		t.Fatalf("round %d: the approval ran once more: %s", n, again.Code)
	}
}

// heldOrResumed takes a call to its end: held open while ada approves it, or
// made again afterwards. The table moves beside the second half.
func heldOrResumed(t *testing.T, s *stage, c verbatim.Call, held bool, move func()) verbatim.Outcome {
	t.Helper()
	var moving sync.WaitGroup
	defer moving.Wait()
	if !held {
		o := s.with(c)
		want(t, o, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
		s.Approve(o.ActionID, "ada")
		moving.Go(move)
		c.Approval = o.ActionID
		return s.with(c)
	}
	pending := make(chan string, 1)
	c.Wait, c.Suspended = time.Minute, func(o verbatim.Outcome) { pending <- o.ActionID }
	done := make(chan verbatim.Outcome, 1)
	moving.Go(func() {
		o, err := s.Gate.Call(t.Context(), s.Session(), c)
		if err != nil {
			t.Error(err)
		}
		done <- o
	})
	var id string
	select {
	case id = <-pending:
	case o := <-done:
		t.Fatalf("it was not held: %s %s %s", o.Status, o.Code, o.Violations.Error())
	}
	moving.Go(move)
	s.Approve(id, "ada")
	return <-done
}

func TestRacedAliasRunsTheApprovedTargetOrNothing(t *testing.T) {
	t.Parallel()
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	for name, source := range map[string]func(*testing.T) payees{"function": payeesInGo, "file": payeesInAFile} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := source(t)
			s := newStage(t, parts{spec: paying(p.resolver, nil)})
			r := rand.New(rand.NewPCG(1, 2))
			for n := 1; n <= rounds; n++ {
				raced(t, s, p, n, r)
			}
			for _, args := range s.probe.ran() {
				var amount int
				if _, err := fmt.Sscanf(args, `{"amountMinor":%d,`, &amount); err != nil || args != frozenPayment(amount/100) {
					t.Errorf("it ran %s", args)
				}
			}
			t.Logf("%d of %d ran", len(s.probe.ran()), rounds)
		})
	}
}

func TestAliasThatMovedBeforeTheRunNeverRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		to   string
		runs int
	}{
		{"to another", "VENDOR-002", 0},
		{"to the same", "VENDOR-001", 1},
		{"to a look-alike", "VENDOR-O01", 0},
		{"to another case", "vendor-001", 0},
		{"to what has a space more", "VENDOR-001 ", 0},
		{"to what has a zero-width mark more", "VENDOR-001\u200b", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := payeesInGo(t)
			s := newStage(t, parts{spec: paying(p.resolver, nil)})
			p.point("VENDOR-001")
			o := s.approved(verbatim.Call{Arguments: payment(1)})
			p.point(c.to)
			got := s.with(verbatim.Call{Arguments: payment(1), Approval: o.ActionID})
			s.runs(c.runs)
			if c.runs == 0 && (got.Code != verbatim.CodeTargetChanged || got.Member != "/to") {
				t.Errorf("got %s at %q", got.Code, got.Member)
			}
		})
	}
}

// The number that was shown is kept and what it counts is switched.
func TestSwitchedCurrencyIsAnotherAction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args, member string
		same               bool // it means what was approved
	}{
		{"dollars to yen", `{"to":"Vendor A","amount":1,"currency":"JPY"}`, "/currency", false},
		{"dollars to euros", `{"to":"Vendor A","amount":1,"currency":"EUR"}`, "/currency", false},
		{"dollars to dollars of another country", `{"to":"Vendor A","amount":1,"currency":"CAD"}`, "/currency", false},
		{"minor units kept: 100 yen for 1 dollar", `{"to":"Vendor A","amount":100,"currency":"JPY"}`, "/amount", false},
		{"three decimals", `{"to":"Vendor A","amount":0.1,"currency":"BHD"}`, "/amount", false},
		{"another spelling of the same", `{"to":"Vendor A","amount":"1.00","currency":"usd"}`, "/amount", true},
		{"white space in the payee", `{"to":"Vendor  A","amount":1,"currency":"USD"}`, "/to", true},
		{"case of the payee", `{"to":"vendor a","amount":1,"currency":"USD"}`, "/to", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := payeesInAFile(t)
			s := newStage(t, parts{spec: paying(p.resolver, nil)})
			o := s.approved(verbatim.Call{Arguments: payment(1)})
			named := s.with(verbatim.Call{Arguments: []byte(c.args), Approval: o.ActionID})
			want(t, named, verbatim.StatusDenied, verbatim.CodeApprovalMismatch)
			if named.Member != c.member {
				t.Errorf("member %q, want %q", named.Member, c.member)
			}
			s.runs(0)
			s.state(o.ActionID, action.Approved) // still good for what it is for
			if unnamed := s.call(c.args); (unnamed.ActionID == o.ActionID) != c.same {
				t.Errorf("made again without a name it got %s", unnamed.Code)
			}
			if !c.same {
				s.runs(0)
				want(t, s.call(string(payment(1))), verbatim.StatusOK, verbatim.CodeOK)
			}
			if diff := cmp.Diff([]string{frozenPayment(1)}, s.probe.ran()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSpellingsOfOneRequestShareTargetAndHash(t *testing.T) {
	t.Parallel()
	p := payeesInAFile(t)
	s := newStage(t, parts{spec: paying(p.resolver, nil)})
	hash := s.call(string(payment(1))).ProposalHash
	for _, args := range []string{`{"to":"vendor a","amount":1,"currency":"USD"}`, `{"to":" VENDOR \t A ","amount":"1","currency":"usd"}`,
		`{"to":"VENDOR-001","amount":"1.00","currency":"Usd"}`, `{"currency":"USD","amount":1.0,"to":"Vendor\u0020A"}`} {
		if o := s.call(args); o.ProposalHash != hash {
			t.Errorf("%s has another hash (%s)", args, o.Code)
		}
	}
	if o := s.call(`{"to":"Vendor A","amount":1,"currency":"CAD"}`); o.ProposalHash == hash {
		t.Error("another currency has the same hash")
	}
}

func TestCurrencyAliasThatMovedAfterApprovalNeverRuns(t *testing.T) {
	t.Parallel()
	currencies := &vendors{rows: map[string]string{"$": "USD"}}
	p := payeesInGo(t)
	p.point("VENDOR-001")
	s := newStage(t, parts{spec: paying(p.resolver, currencies), policy: decide(policy.RequireApproval)})
	c := verbatim.Call{Arguments: []byte(`{"to":"Vendor A","amount":1,"currency":"$"}`)}
	o := s.approved(c)
	currencies.set("$", "CAD")
	c.Approval = o.ActionID
	got := s.with(c)
	want(t, got, verbatim.StatusDenied, verbatim.CodeTargetChanged)
	if got.Member != "/currency" {
		t.Errorf("member %q", got.Member)
	}
	currencies.set("$", "USD")
	s.with(c)
	s.runs(0)
}

// A run that comes minutes later and after a restart asks the same question
// as one that comes at once.
func TestAliasIsComparedAfterMinutesAndARestart(t *testing.T) {
	t.Parallel()
	for _, later := range []string{"VENDOR-001", "VENDOR-002"} {
		dir := t.TempDir()
		p := payeesInAFile(t)
		first := newStage(t, parts{spec: paying(p.resolver, nil), dir: dir})
		o := first.approved(verbatim.Call{Arguments: payment(1)})
		if err := first.Store.Close(); err != nil {
			t.Fatal(err)
		}
		p.point(later)
		again := newStage(t, parts{spec: paying(p.resolver, nil), dir: dir})
		again.Clock.Advance(9 * time.Minute)
		got := again.with(verbatim.Call{Arguments: payment(1), Approval: o.ActionID})
		if later == "VENDOR-001" {
			want(t, got, verbatim.StatusOK, verbatim.CodeOK)
			again.runs(1)
			continue
		}
		want(t, got, verbatim.StatusDenied, verbatim.CodeTargetChanged)
		again.state(o.ActionID, action.Denied)
		again.runs(0)
	}
}
