package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// story is what happened to one action, with something of another one and of
// another tenant between.
func story() []audit.Record {
	at := func(seq int64, after time.Duration, event string, change ...func(*audit.Record)) audit.Record {
		r := audit.Record{Seq: seq, ID: fmt.Sprintf("rec_%d", seq), At: start.Add(after), Tenant: tenant, Event: event, Action: "act_1", Tool: "bank.pay", Agent: "Agent 7"}
		for _, f := range change {
			f(&r)
		}
		return r
	}
	to := func(state action.State, by string) func(*audit.Record) {
		return func(r *audit.Record) { r.To, r.By = string(state), by }
	}
	return []audit.Record{
		at(1, 0, audit.ActionSuspended, to(action.PendingApproval, "bob@acme")),
		at(2, time.Second, audit.ReadAllowed, func(r *audit.Record) { r.Action, r.Tool = "act_read", "bank.balance" }),
		at(3, 90*time.Second, audit.VoteApprove, to(action.PendingApproval, "person_alice")),
		at(4, 90*time.Second, audit.ActionApproved, to(action.Approved, "person_alice")),
		at(5, 95*time.Second, audit.ActionStarted, to(action.Executing, "bob@acme")),
		at(6, 95*time.Second+40*time.Millisecond, audit.ActionSucceeded, to(action.Succeeded, "bob@acme")),
		at(7, 2*time.Minute, audit.ActionSuspended, func(r *audit.Record) { r.Tenant, r.Action = "other", "act_theirs" }),
	}
}

// plainText is a page without its markup.
func plainText(page string) string {
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " ")
}

// inOrder reports the first text that does not follow the ones before it.
func inOrder(page string, texts ...string) string {
	for _, text := range texts {
		_, after, found := strings.Cut(page, text)
		if !found {
			return text
		}
		page = after
	}
	return ""
}

func TestTimelineTellsAnActionFromFirstToLast(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	b.gate.records = story()
	page := plainText(b.get("/actions/act_1/timeline").Body.String())
	if missing := inOrder(page, "act_1", "bank.pay", "the action", "action_suspended", "a call waits for people", "by bob@acme", "record 1",
		"vote_approve", "1 min 30 s later", "by Alice", "action_approved", "0 ms later", "action_started", "5 s later", "action_succeeded", "40 ms later",
		"1 min 35 s from the first record to the last"); missing != "" {
		t.Errorf("%q is missing or out of order in %s", missing, page)
	}
	if strings.Contains(page, "bank.balance") {
		t.Error("it shows records of another action")
	}
}

func TestTimelineOfAReadSaysThatThereIsNoMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.gate.records = story()
	page := plainText(b.get("/actions/act_read/timeline").Body.String())
	if !strings.Contains(page, "there is no more than its records") || !strings.Contains(page, "read_allowed") {
		t.Error(page)
	}
}

func TestTimelineOfNobodysActionIsNotFound(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	b.gate.records = story()
	for _, id := range []string{"act_theirs", "act_none", url.PathEscape("a\u202eb")} {
		if w := b.get("/actions/" + id + "/timeline"); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", id, w.Code)
		}
		if w := b.post("/actions/"+id+"/verify", url.Values{"token": {"x"}}); w.Code == http.StatusOK {
			t.Errorf("%s is verified: %d", id, w.Code)
		}
	}
	b.gate.fail = errors.New("disk")
	if w := b.get("/actions/act_1/timeline"); w.Code != http.StatusInternalServerError {
		t.Errorf("a broken store: %d", w.Code)
	}
}

var tokenField = regexp.MustCompile(`name="token" value="([^"]+)"><button>Verify`)

// verified presses the button of a timeline.
func (b *bench) verified(t *testing.T, id string) string {
	t.Helper()
	found := tokenField.FindStringSubmatch(b.get("/actions/" + id + "/timeline").Body.String())
	if found == nil {
		t.Fatal("there is no button")
	}
	return plainText(b.post("/actions/"+id+"/verify", url.Values{"token": {found[1]}}).Body.String())
}

func TestVerifyButtonSaysWhatIsProvedAndWhatIsNot(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	b.gate.records = story()
	asked := ""
	b.verify = func(_ context.Context, of, id string) (audit.Evidence, error) {
		asked = of + " " + id
		return audit.Evidence{Action: id, Log: "log.example/abc", Size: 77, ByLog: true, Witnesses: map[string]time.Time{"witness.example": start},
			Steps: make([]audit.Step, 5), Votes: make([]audit.SignedVote, 1), Claim: audit.BundleClaim}, nil
	}
	page := b.verified(t, "act_1")
	if missing := inOrder(page, "The evidence holds", "5, each in the log", "log.example/abc", "up to record 77", "the log's key", "witness.example",
		"1, each the recorded one", "does not prove", "neither that the effect happened", "This very machine has checked it", "Not without the witness",
		"verbatim audit bundle act_1"); missing != "" {
		t.Errorf("%q is missing in %s", missing, page)
	}
	if asked != tenant+" act_1" {
		t.Errorf("verified %q", asked)
	}
}

func TestEvidenceThatDoesNotHoldIsNeverCalledVerified(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		says string
	}{
		"a broken bundle": {audit.ErrBundle, "does not hold"},
		"not signed yet":  {verbatim.ErrNotSigned, "verify again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, payment("act_1"))
			b.gate.records = story()
			b.verify = func(context.Context, string, string) (audit.Evidence, error) { return audit.Evidence{}, tt.err }
			page := b.verified(t, "act_1")
			if !strings.Contains(page, "Not verified") || !strings.Contains(page, tt.says) || strings.Contains(page, "The evidence holds") {
				t.Error(page)
			}
		})
	}
}

func TestVerifyingTakesAFormOfThatAction(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"), payment("act_2"))
	b.gate.records = story()
	b.verify = func(context.Context, string, string) (audit.Evidence, error) {
		t.Error("it was verified")
		return audit.Evidence{}, nil
	}
	found := tokenField.FindStringSubmatch(b.get("/actions/act_1/timeline").Body.String())
	for id, token := range map[string]string{"act_1": "", "act_2": found[1]} {
		if w := b.post("/actions/"+id+"/verify", url.Values{"token": {token}}); w.Code != http.StatusBadRequest {
			t.Errorf("%s with %q: %d", id, token, w.Code)
		}
	}
}

func TestRecordsAreSearchedByWordsAndDay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.gate.records = append(story(),
		audit.Record{Seq: 8, At: start.Add(26 * time.Hour), Tenant: tenant, Event: audit.Stopped, By: "person_alice", Facts: map[string]string{"stops": "tool"}})
	for query, want := range map[string][]string{
		"q=alice":                        {"8", "4", "3"},
		"q=BALANCE":                      {"2"},
		"q=succeeded":                    {"6"},
		"q=stops":                        {"8"},
		"q=nothing+like+it":              nil,
		"day=2026-03-02":                 {"8"},
		"day=2026-03-01&q=agent+7":       {"6", "5", "4", "3", "2", "1"},
		"day=2026-02-01":                 nil,
		"event=read_allowed":             {"2"},
		"action=act_1&q=alice&day=":      {"4", "3"},
		"q=act_theirs":                   nil,
		"event=read_allowed&q=suspended": nil,
	} {
		var got []string
		for _, m := range regexp.MustCompile(`<td data-label="Nr"><a href="/records/(\d+)">`).FindAllStringSubmatch(b.get("/records?"+query).Body.String(), -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	if page := b.get("/records?day=yesterday").Body.String(); !strings.Contains(page, "A day is written like") {
		t.Error("a day that is none is not said to be")
	}
}

func TestSearchInTheRecordsSaysHowFarItLooked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for seq := int64(1); seq <= 6000; seq++ {
		r := audit.Record{Seq: seq, At: start, Tenant: tenant, Event: audit.ReadAllowed, Tool: "bank.balance", Action: fmt.Sprint("act_", seq)}
		if seq == 5 {
			r.Tool = "bank.needle"
		}
		b.gate.records = append(b.gate.records, r)
	}
	page := b.get("/records?q=needle").Body.String()
	next := regexp.MustCompile(`<a href="(/records\?[^"]*)">Look further back`).FindStringSubmatch(page)
	if next == nil || !strings.Contains(page, "5000 records were looked at") {
		t.Fatal(plainText(page))
	}
	page = b.get(strings.ReplaceAll(next[1], "&amp;", "&")).Body.String()
	if !strings.Contains(page, "bank.needle") || strings.Contains(page, "Look further back") {
		t.Error(plainText(page))
	}
}
