package demo

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

// play is the story: every act says what should happen, does it, and compares.
func (s *stage) play(ctx context.Context) error {
	p := s.cfg.Out
	fmt.Fprintln(p.Out, p.paint(bold, "An agent pays vendors through a pretend bank. Verbatim stands between them."))
	fmt.Fprintln(p.Out, "Everything runs on this machine, in a directory of its own that goes away at the end.")
	for _, act := range []func(context.Context) error{
		s.routine, s.large, s.otherAmount, s.exactly, s.again, s.moved, s.spoof, s.broken, s.lost, s.record,
	} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

const (
	routineArgs = `{"vendor":"Vendor A","amount":"840 USD"}`
	largeArgs   = `{"vendor":"Vendor A","amount":"8.4 thousand USD"}`
	otherArgs   = `{"vendor":"Vendor A","amount":"9.4 thousand USD"}`
	invoice     = "invoice-17"

	firstPayment  = "USD 840.00 to VENDOR-001"
	secondPayment = "USD 8400.00 to VENDOR-001"
	thirdPayment  = "USD 60.00 to VENDOR-002"
)

// propose lets the agent call and compares the code of the answer.
func (s *stage) propose(ctx context.Context, p proposal, want string) (reply, error) {
	p.tool = "transfer"
	extra := ""
	if p.key != "" {
		extra += "  key " + p.key
	}
	if p.approval != "" {
		extra += "  under that approval"
	}
	s.cfg.Out.says("agent", "transfer %s%s", p.args, extra)
	r, err := s.agent.call(ctx, p)
	if err == nil && r.code != want {
		err = &Surprise{What: "the answer to the agent", Want: want, Got: r.code + ": " + r.text}
	}
	return r, err
}

func (s *stage) routine(ctx context.Context) error {
	s.cfg.Out.title("A routine payment runs by itself")
	r, err := s.propose(ctx, proposal{args: routineArgs}, "ok")
	if err != nil {
		return err
	}
	s.cfg.Out.verdict(green, "allowed: the rule routine-payments covers USD below 1,000")
	s.cfg.Out.says("bank", "%s", r.text)
	return s.ledgerHolds(firstPayment)
}

// pending is the action that the large payment waits in.
func (s *stage) pending(ctx context.Context, args, key string) (daemon.Detail, error) {
	r, err := s.propose(ctx, proposal{args: args, key: key}, "approval_required")
	if err != nil {
		return daemon.Detail{}, err
	}
	return s.daemon.Action(ctx, r.actionID)
}

func (s *stage) large(ctx context.Context) error {
	p := s.cfg.Out
	p.title("A large one waits for a person, who sees what would really run")
	shown, err := s.pending(ctx, largeArgs, invoice)
	if err != nil {
		return err
	}
	p.verdict(yellow, "approval required: nothing has run")
	s.show(shown)
	if err := s.ledgerHolds(firstPayment); err != nil {
		return err
	}
	if err := s.vote(ctx, shown, true); err != nil {
		return err
	}
	p.says("person", "approves exactly that, with a password of their own")
	return nil
}

// show is what the person decides on: requested beside effective, and the dry
// run.
func (s *stage) show(d daemon.Detail) {
	p := s.cfg.Out
	p.says("person", "reads: %s", d.Headline)
	for _, r := range d.Arguments {
		if r.Requested != "" && r.Requested != "(absent)" {
			p.note(fmt.Sprintf("            the agent wrote  %s = %s", r.Name, r.Requested))
		}
	}
	for _, r := range d.Arguments {
		if r.Effective != "(absent)" {
			p.note(fmt.Sprintf("            what would run   %s = %s (%s)", r.Name, r.Effective, r.Change))
		}
	}
	for _, r := range d.Preview {
		if strings.HasSuffix(r.Name, "text") {
			p.note(fmt.Sprintf("            the bank's dry run says %s", r.Effective))
		}
	}
}

func (s *stage) otherAmount(ctx context.Context) error {
	s.cfg.Out.title("Another amount under that approval does not run")
	id, err := s.latest(ctx)
	if err != nil {
		return err
	}
	r, err := s.propose(ctx, proposal{args: otherArgs, approval: id}, "approval_mismatch")
	if err != nil {
		return err
	}
	s.cfg.Out.verdict(red, "denied, %s: %s differs from what was approved", r.code, r.member)
	return s.unchanged(firstPayment)
}

// latest is the id of the newest approved action.
func (s *stage) latest(ctx context.Context) (string, error) {
	list, err := s.daemon.Actions(ctx, "approved", 1)
	if err != nil {
		return "", err
	}
	if len(list.Actions) == 0 {
		return "", &Surprise{What: "approved actions", Want: "one", Got: "none"}
	}
	return list.Actions[0].ID, nil
}

func (s *stage) exactly(ctx context.Context) error {
	s.cfg.Out.title("The approved call runs")
	r, err := s.propose(ctx, proposal{args: largeArgs, key: invoice}, "ok")
	if err != nil {
		return err
	}
	s.cfg.Out.verdict(green, "runs: it is the action that was approved")
	s.cfg.Out.says("bank", "%s", r.text)
	return s.ledgerHolds(firstPayment, secondPayment)
}

func (s *stage) again(ctx context.Context) error {
	s.cfg.Out.title("The agent repeats it: same answer, no second payment")
	r, err := s.propose(ctx, proposal{args: largeArgs, key: invoice}, "ok")
	if err != nil {
		return err
	}
	s.cfg.Out.verdict(green, "answers from its record: %s", r.text)
	return s.unchanged(firstPayment, secondPayment)
}

func (s *stage) moved(ctx context.Context) error {
	p := s.cfg.Out
	p.title("A name that was moved after the approval")
	args := `{"vendor":"Vendor A","amount":"2 thousand USD"}`
	shown, err := s.pending(ctx, args, "")
	if err != nil {
		return err
	}
	p.says("person", "approves: %s", shown.Headline)
	if err := s.vote(ctx, shown, true); err != nil {
		return err
	}
	if err := os.WriteFile(s.home.Path("vendors.csv"), []byte(moved), 0o600); err != nil {
		return err
	}
	p.says("somebody", "makes \"Vendor A\" mean VENDOR-002 in the vendor table")
	r, err := s.propose(ctx, proposal{args: args, approval: shown.ID}, "target_changed")
	if err != nil {
		return err
	}
	p.verdict(red, "denied, %s: the name now means another vendor than the person approved", r.code)
	return s.unchanged(firstPayment, secondPayment)
}

func (s *stage) spoof(ctx context.Context) error {
	s.cfg.Out.title("Somebody else's name in the arguments")
	r, err := s.propose(ctx, proposal{args: `{"vendor":"Vendor B","amount":"5 USD","user_id":"local:boss"}`}, "identity_spoof")
	if err != nil {
		return err
	}
	s.cfg.Out.verdict(red, "denied, %s: who acts comes from the session, never from the model", r.code)
	return s.unchanged(firstPayment, secondPayment)
}

func (s *stage) broken(ctx context.Context) error {
	s.cfg.Out.title("Arguments that do not mean one thing are refused, with a reason the model can act on")
	for _, c := range []struct{ args, want string }{
		{`{"vendor":"Vendor B","amount":"5 USD","amount":"5000 USD"}`, "duplicate_name"},
		{`{"vendor":"Vendor B","amount":9007199254740993}`, "unsafe_integer"},
		{`"{\"vendor\":\"Vendor B\",\"amount\":\"5 USD\"}"`, "json_in_string"},
		{`{"vendor":"Vendor C","amount":"5 USD"}`, "target_unresolved"},
	} {
		code := "invalid_arguments"
		if c.want == "target_unresolved" {
			code = c.want
		}
		r, err := s.propose(ctx, proposal{args: c.args}, code)
		if err != nil {
			return err
		}
		_, problem, found := strings.Cut(r.text, "Problems: ")
		if !found || !strings.Contains(problem, c.want) {
			return &Surprise{What: "the reason of a refusal", Want: c.want, Got: r.text}
		}
		s.cfg.Out.verdict(red, "refused: %s", problem)
	}
	return s.unchanged(firstPayment, secondPayment)
}

// lost is a payment that is made while the answer gets lost. It is not called
// a failure, and it is not made twice.
func (s *stage) lost(ctx context.Context) error {
	p := s.cfg.Out
	p.title("The bank pays and does not answer")
	if err := os.WriteFile(s.home.Path(ledgerFile+silent), nil, 0o600); err != nil {
		return err
	}
	args := `{"vendor":"Vendor B","amount":"60 USD"}`
	if _, err := s.propose(ctx, proposal{args: args}, "outcome_uncertain"); err != nil {
		return err
	}
	p.verdict(yellow, "uncertain, outcome_uncertain: nobody knows whether it was paid, and nothing is guessed")
	if _, err := s.propose(ctx, proposal{args: args}, "outcome_uncertain"); err != nil {
		return err
	}
	p.verdict(red, "refused, outcome_uncertain: the same call waits until a person finds out, on the page")
	if err := s.ledgerHolds(firstPayment, secondPayment, thirdPayment); err != nil {
		return err
	}
	p.says("bank", "paid it once, says its ledger; the answer was lost")
	return nil
}

// eventWords say what an event of the record means.
var eventWords = map[string]string{
	"account_added":    "the person's account",
	"policy_changed":   "the rules that decide on transfers",
	"action_suspended": "a call waits for a person",
	"caller_left":      "the agent did not wait for the answer",
	"vote_approve":     "a person agreed, with a signature",
	"action_approved":  "enough people agreed",
	"action_claimed":   "an approved call is checked again",
	"claim_denied":     "it did not pass: what was approved had changed",
	"action_started":   "the approval is used up; from here on the bank may have been told",
	"action_succeeded": "the bank said yes",
	"action_denied":    "a call was denied",
	"action_uncertain": "the bank did not answer; nobody knows",
	"input_rejected":   "arguments were refused; size and digest only",
}

// record lists what was written down. Each record stands in the transaction
// that changed the state.
func (s *stage) record(ctx context.Context) error {
	p := s.cfg.Out
	p.title("All of it is on record")
	found, err := s.daemon.Records(ctx, "", "", 100, 0)
	if err != nil {
		return err
	}
	slices.Reverse(found.Records)
	counts, order := map[string]int{}, []string{}
	for _, r := range found.Records {
		if counts[r.Event] == 0 {
			order = append(order, r.Event)
		}
		counts[r.Event]++
	}
	for _, want := range []struct {
		event string
		n     int
	}{{"input_rejected", 4}, {"vote_approve", 2}, {"action_succeeded", 2}} {
		if counts[want.event] != want.n {
			return &Surprise{What: "records of " + want.event, Want: fmt.Sprint(want.n), Got: fmt.Sprint(counts[want.event])}
		}
	}
	for _, event := range order {
		p.note(strings.TrimRight(fmt.Sprintf("%2d  %-17s %s", counts[event], event, eventWords[event]), " "))
	}
	return nil
}
