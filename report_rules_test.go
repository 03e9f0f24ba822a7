package verbatim_test

import (
	"errors"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/warrant"
)

func (s *stage) report(a verbatim.Authorization, r verbatim.Report) (verbatim.Outcome, error) {
	s.t.Helper()
	if r.Warrant == nil {
		r.Warrant = a.Warrant
	}
	return s.Gate.Report(s.t.Context(), s.Session(), a.Outcome.ActionID, r)
}

func TestWhatAReportMakesOfAnAction(t *testing.T) {
	t.Parallel()
	unclear := func(t *catalog.Tool) { t.Errors = catalog.ErrorsUnclear }
	for name, tc := range map[string]struct {
		tool       func(*catalog.Tool)
		report     verbatim.Report
		state      action.State
		code       verbatim.Code
		evidence   string
		comparison string
	}{
		"it succeeded":                      {nil, verbatim.Report{Ended: verbatim.ReportSucceeded, Verdict: warrant.OK}, action.Succeeded, verbatim.CodeOK, "", "equal"},
		"it succeeded, nobody compared":     {nil, verbatim.Report{Ended: verbatim.ReportSucceeded}, action.Succeeded, verbatim.CodeOK, "", "unchecked"},
		"it failed":                         {nil, verbatim.Report{Ended: verbatim.ReportFailed, Verdict: warrant.OK}, action.Failed, verbatim.CodeToolError, "reported", "equal"},
		"it failed, which proves nothing":   {unclear, verbatim.Report{Ended: verbatim.ReportFailed, Verdict: warrant.OK}, action.Uncertain, verbatim.CodeOutcomeUncertain, "", "equal"},
		"nobody knows":                      {nil, verbatim.Report{Ended: verbatim.ReportUncertain}, action.Uncertain, verbatim.CodeOutcomeUncertain, "", "unchecked"},
		"refused: other arguments":          {nil, verbatim.Report{Ended: verbatim.ReportRefused, Verdict: warrant.ArgumentsChanged}, action.Failed, verbatim.CodeArgumentsChanged, "reported", "arguments_changed"},
		"refused: another executor":         {unclear, verbatim.Report{Ended: verbatim.ReportRefused, Verdict: warrant.WrongAudience}, action.Failed, verbatim.CodeWarrantRefused, "reported", "wrong_audience"},
		"refused: it was used before":       {nil, verbatim.Report{Ended: verbatim.ReportRefused, Verdict: warrant.Replayed}, action.Uncertain, verbatim.CodeOutcomeUncertain, "", "replayed"},
		"refused: it was late":              {nil, verbatim.Report{Ended: verbatim.ReportRefused, Verdict: warrant.Late}, action.Uncertain, verbatim.CodeOutcomeUncertain, "", "expired"},
		"it ran with other arguments":       {nil, verbatim.Report{Ended: verbatim.ReportSucceeded, Verdict: warrant.ArgumentsChanged}, action.Uncertain, verbatim.CodeOutcomeUncertain, "", "arguments_changed"},
		"it failed with other arguments":    {nil, verbatim.Report{Ended: verbatim.ReportFailed, Verdict: warrant.ArgumentsChanged}, action.Uncertain, verbatim.CodeOutcomeUncertain, "", "arguments_changed"},
		"uncertain, though the check is ok": {nil, verbatim.Report{Ended: verbatim.ReportUncertain, Verdict: warrant.OK}, action.Uncertain, verbatim.CodeOutcomeUncertain, "", "equal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := remote(t, parts{tool: tc.tool})
			a := s.given(noted(`{"text":"a"}`))
			tc.report.Warrant = a.Warrant
			o, err := s.report(a, tc.report)
			if err != nil || o.Code != tc.code || o.State != tc.state || o.Evidence != tc.evidence {
				t.Fatalf("%+v, %v", o, err)
			}
			row := s.state(o.ActionID, tc.state)
			rs, err := s.Store.Records(t.Context(), audit.Filter{Tenant: "acme", Action: o.ActionID, Limit: 1})
			if err != nil || row.Result.Comparison != tc.comparison || rs[0].Facts["comparison"] != tc.comparison {
				t.Errorf("compared %q, recorded %q, %v", row.Result.Comparison, rs[0].Facts["comparison"], err)
			}
			again, err := s.report(a, tc.report)
			if err != nil || !again.Replayed || again.State != tc.state {
				t.Errorf("the same again: %+v, %v", again, err)
			}
		})
	}
}

func TestAReportKeepsTheToolsAnswer(t *testing.T) {
	t.Parallel()
	s := remote(t, parts{})
	c := verbatim.Call{Arguments: []byte(`{"text":"a"}`), IdempotencyKey: "k"}
	a := s.given(c)
	if _, err := s.report(a, verbatim.Report{Ended: verbatim.ReportSucceeded, Verdict: warrant.OK, Output: []byte(`{"n":9007199254740993}`)}); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]verbatim.Outcome{"authorize": s.authorize(c).Outcome, "call": s.with(c)} {
		if b.Code != verbatim.CodeOK || !b.Replayed || string(b.Output) != `{"n":9007199254740993}` {
			t.Errorf("%s again: %+v", name, b)
		}
	}
	s.runs(0)
}

func TestAReportThatContradictsIsRefused(t *testing.T) {
	t.Parallel()
	ended := []verbatim.Report{{Ended: verbatim.ReportSucceeded, Verdict: warrant.OK}, {Ended: verbatim.ReportFailed, Verdict: warrant.OK},
		{Ended: verbatim.ReportUncertain}}
	for i, first := range ended {
		for j, second := range ended {
			if i == j {
				continue
			}
			s := remote(t, parts{})
			a := s.given(noted(`{"text":"a"}`))
			if _, err := s.report(a, first); err != nil {
				t.Fatal(err)
			}
			before := s.rows()[0].State
			o, err := s.report(a, second)
			if first.Ended == verbatim.ReportUncertain && second.Ended == verbatim.ReportSucceeded {
				if err != nil || o.State != action.ReconciledSucceeded {
					t.Errorf("a late success: %+v, %v", o, err)
				}
				continue
			}
			if !errors.Is(err, action.ErrState) || o.State != before || s.rows()[0].State != before {
				t.Errorf("%s, then %s: %+v, %v", first.Ended, second.Ended, o, err)
			}
		}
	}
}

func TestAnAttemptThatNobodyReportsBecomesUncertain(t *testing.T) {
	t.Parallel()
	s := remote(t, parts{})
	a := s.given(noted(`{"text":"a"}`))
	s.Clock.Advance(catalog.DefaultTimeout + warrant.MaxLife)
	if n, err := s.Gate.Sweep(t.Context(), false); n != 0 || err != nil {
		t.Errorf("swept while the tool may still answer: %d, %v", n, err)
	}
	s.Clock.Advance(time.Minute)
	if n, err := s.Gate.Sweep(t.Context(), false); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	id := a.Outcome.ActionID
	s.state(id, action.Uncertain)
	want(t, s.call(`{"text":"a"}`), verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	if o, err := s.report(a, verbatim.Report{Ended: verbatim.ReportFailed, Verdict: warrant.OK}); !errors.Is(err, action.ErrState) || o.Code != verbatim.CodeOutcomeUncertain {
		t.Errorf("a late failure: %+v, %v", o, err)
	}
	if o, err := s.report(a, verbatim.Report{Ended: verbatim.ReportSucceeded, Verdict: warrant.OK}); err != nil || o.State != action.ReconciledSucceeded {
		t.Errorf("a late success: %+v, %v", o, err)
	}
	s.runs(0)
}

// The gate neither asks a server about what a caller runs nor sends it again.
func TestWhatACallerRunsIsNeverSentByTheGate(t *testing.T) {
	t.Parallel()
	for _, effect := range []catalog.EffectClass{catalog.Keyed, catalog.Natural, catalog.Queryable, catalog.KeyedCancel} {
		s := remote(t, parts{tool: func(t *catalog.Tool) { t.Effect, t.Retention = effect, time.Hour }})
		a := s.given(noted(`{"text":"a"}`))
		if _, err := s.report(a, verbatim.Report{Ended: verbatim.ReportUncertain}); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Gate.Settle(t.Context(), action.Filter{}); n != 0 || err != nil {
			t.Errorf("%s: settled %d, %v", effect, n, err)
		}
		s.state(a.Outcome.ActionID, action.Uncertain)
		s.runs(0)
	}
}

func TestOnlyWhoAuthorizedReportsAndOnlyWithTheWarrant(t *testing.T) {
	t.Parallel()
	s := remote(t, parts{})
	a, other := s.given(noted(`{"text":"a"}`)), s.given(noted(`{"text":"b"}`))
	done := verbatim.Report{Warrant: a.Warrant, Ended: verbatim.ReportSucceeded, Verdict: warrant.OK}
	bob, foreign := s.Session(), s.Session()
	bob.Principal, bob.Owner = "bob", "bob"
	foreign.Tenant = "other"
	for name, session := range map[string]verbatim.Session{"another principal": bob, "another tenant": foreign} {
		if _, err := s.Gate.Report(t.Context(), session, a.Outcome.ActionID, done); !errors.Is(err, action.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w, _ := s.check(a.Warrant, a.Args)
	fence, audience := w, w
	fence.Fence++
	audience.Audience = "elsewhere"
	for name, text := range map[string][]byte{"none": nil, "of another action": other.Warrant, "no envelope": []byte("{}"),
		"changed": append([]byte(" "), a.Warrant[:len(a.Warrant)-2]...), "of another fence": signed(t, fence), "for another executor": signed(t, audience)} {
		r := done
		r.Warrant = text
		if _, err := s.Gate.Report(t.Context(), s.Session(), a.Outcome.ActionID, r); !errors.Is(err, verbatim.ErrWarrant) {
			t.Errorf("a warrant that is %s: %v", name, err)
		}
	}
	for name, r := range map[string]verbatim.Report{
		"nothing": {}, "a word of its own": {Ended: "done"}, "refused, and agreed": {Ended: verbatim.ReportRefused, Verdict: warrant.OK},
		"refused without a verdict": {Ended: verbatim.ReportRefused}, "a verdict of its own": {Ended: verbatim.ReportSucceeded, Verdict: "fine"},
		"an answer that is no JSON": {Ended: verbatim.ReportSucceeded, Output: []byte("{")}, "an answer of nobody": {Ended: verbatim.ReportUncertain, Output: []byte("1")},
	} {
		r.Warrant = a.Warrant
		if _, err := s.Gate.Report(t.Context(), s.Session(), a.Outcome.ActionID, r); !errors.Is(err, verbatim.ErrReport) {
			t.Errorf("a report of %s: %v", name, err)
		}
	}
	s.state(a.Outcome.ActionID, action.Executing)
}

func signed(t *testing.T, w warrant.Warrant) []byte {
	t.Helper()
	text, err := w.Sign(warrantKey(t))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What the gate runs by itself is no caller's to end, even with a warrant that
// the gate's own key has signed.
func TestWhatTheGateRunsCannotBeReported(t *testing.T) {
	t.Parallel()
	s := remote(t, parts{})
	o := s.call(`{"text":"a"}`)
	a := s.given(noted(`{"text":"b"}`))
	w, _ := s.check(a.Warrant, a.Args)
	row := s.state(o.ActionID, action.Succeeded)
	w.Action, w.Proposal = row.ID, warrant.ProposalHash(row.Agent, row.Tool, row.Payload.Args)
	if _, err := s.Gate.Report(t.Context(), s.Session(), row.ID, verbatim.Report{Warrant: signed(t, w), Ended: verbatim.ReportSucceeded}); !errors.Is(err, verbatim.ErrWarrant) {
		t.Error(err)
	}
}

func TestAReportedFailureKeepsWhatItTookFromLimits(t *testing.T) {
	t.Parallel()
	s := remote(t, parts{spec: spending("pay")})
	a := s.given(noted(pays(700, 1)))
	s.window(700, 0)
	if _, err := s.report(a, verbatim.Report{Ended: verbatim.ReportRefused, Verdict: warrant.ArgumentsChanged}); err != nil {
		t.Fatal(err)
	}
	s.window(0, 700)
}
