package api_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/api"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/warrant"
)

const executor = "up.example"

// authorize posts a call that its caller wants to run.
func (w *world) authorize(who, tool, arguments string, more ...string) reply {
	w.t.Helper()
	return w.ask(who, http.MethodPost, "/v1/authorize", bodyOf(tool, arguments), more...)
}

// checked is what an executor says of an answer and of the arguments that it
// received.
func (w *world) checked(got reply, arguments string) (warrant.Warrant, warrant.Verdict) {
	w.t.Helper()
	c, err := warrant.New(warrant.Config{Audience: executor, Keys: signer(w.t, keys.Warrants).Public(), Now: w.Clock.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	text, _ := warrant.Decode(got.at("/warrant"))
	return c.Check(w.t.Context(), text, []byte(arguments), warrant.Expect{})
}

// report says how the action of an authorization ended; members come in pairs.
func (w *world) report(who string, got reply, members ...string) reply {
	w.t.Helper()
	body := `{"warrant":` + quote(got.at("/warrant"))
	for i := 0; i+1 < len(members); i += 2 {
		body += `,"` + members[i] + `":` + quote(members[i+1])
	}
	return w.ask(who, http.MethodPost, "/v1/actions/"+got.at("/outcome/data/actionId")+"/outcome", body+"}")
}

func TestAnAuthorizedCallIsRunByItsCallerAndReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.authorize("maria", "up.note", ` { "text" : "h\u00e9", "n":1.0e1 }`, "Idempotency-Key", "k")
	if got.status != 200 || got.at("/outcome/code") != "authorized" || got.at("/argsCanonicalJson") != `{"n":10,"text":"hé"}` || got.at("/sendDeadline") == "" {
		t.Fatalf("%d %s", got.status, got.text)
	}
	if x, v := w.checked(got, got.at("/argsCanonicalJson")); v != warrant.OK || x.Tool != "up.note" || x.Principal != "maria" {
		t.Errorf("%s %+v", v, x)
	}
	if _, v := w.checked(got, `{"n":11,"text":"hé"}`); v != warrant.ArgumentsChanged {
		t.Error(v)
	}
	if again := w.authorize("maria", "up.note", `{"text":"hé","n":10}`, "Idempotency-Key", "k"); again.status != 409 || again.at("/code") != "in_progress" || again.at("/warrant") != "" {
		t.Errorf("again: %d %s", again.status, again.text)
	}
	for _, who := range []string{"bob", "foreign", "narrow"} {
		if no := w.report(who, got, "ended", "succeeded", "verdict", "ok"); no.status != 404 {
			t.Errorf("%s: %d %s", who, no.status, no.text)
		}
	}
	done := w.report("maria", got, "ended", "succeeded", "verdict", "ok", "output", `{"n":9007199254740993}`)
	if done.status != 200 || done.at("/outcome/data/state") != "succeeded" {
		t.Fatalf("%d %s", done.status, done.text)
	}
	if again := w.report("maria", got, "ended", "succeeded", "verdict", "ok"); again.status != 200 || again.at("/outcome/data/replayed") != "true" {
		t.Errorf("the same again: %d %s", again.status, again.text)
	}
	if no := w.report("maria", got, "ended", "failed", "verdict", "ok"); no.status != 409 || no.at("/code") != "too_late" {
		t.Errorf("the contrary: %d %s", no.status, no.text)
	}
	if replay := w.call("maria", "up.note", `{"text":"hé","n":10}`, "Idempotency-Key", "k"); replay.status != 200 || !strings.Contains(replay.text, "9007199254740993") {
		t.Errorf("a call with its key: %d %s", replay.status, replay.text)
	}
	if len(w.seen()) > 0 {
		t.Errorf("the gateway ran %v", w.seen())
	}
}

func TestReportsThatSayNothingAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got, other := w.authorize("maria", "up.note", `{"text":"a"}`), w.authorize("maria", "up.note", `{"text":"b"}`)
	path := "/v1/actions/" + got.at("/outcome/data/actionId") + "/outcome"
	own := `"warrant":` + quote(got.at("/warrant"))
	for body, want := range map[string]int{
		`{}`:                              400,
		`{` + own + `}`:                   400,
		`{` + own + `,"ended":"done"}`:    400,
		`{` + own + `,"ended":"refused"}`: 400,
		`{` + own + `,"ended":"succeeded","verdict":"fine"}`:                  400,
		`{` + own + `,"ended":"succeeded","output":"{"}`:                      400,
		`{` + own + `,"ended":"succeeded","by":"ada"}`:                        400,
		`{"warrant":"","ended":"succeeded"}`:                                  403,
		`{"warrant":"e30","ended":"succeeded"}`:                               403,
		`{"warrant":` + quote(other.at("/warrant")) + `,"ended":"succeeded"}`: 403,
	} {
		if no := w.ask("maria", http.MethodPost, path, body); no.status != want || want == 403 && no.at("/code") != "warrant_unknown" {
			t.Errorf("%.80s: %d %s", body, no.status, no.text)
		}
	}
	if a := w.ask("maria", http.MethodGet, strings.TrimSuffix(path, "/outcome"), ""); a.at("/state") != "executing" {
		t.Errorf("after them it is %s", a.text)
	}
}

func TestAnExecutorsRefusalStandsInTheRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.authorize("maria", "up.note", `{"text":"a"}`)
	done := w.report("maria", got, "ended", "refused", "verdict", "arguments_changed")
	if done.status != 200 || done.at("/outcome/status") != "failed" || done.at("/outcome/code") != "arguments_changed" || done.at("/outcome/data/evidence") != "reported" {
		t.Fatalf("%d %s", done.status, done.text)
	}
	records := w.ask("maria", http.MethodGet, "/v1/actions/"+got.at("/outcome/data/actionId")+"/records", "")
	if !strings.Contains(records.text, `"comparison":"arguments_changed"`) || !strings.Contains(records.text, `"executor":"`+executor+`"`) {
		t.Error(records.text)
	}
}

func TestAHighImpactCallIsAuthorizedOnceItIsApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := w.authorize("maria", "up.pay", `{"text":"a"}`, "Idempotency-Key", "k1")
	id := asked.at("/outcome/data/actionId")
	if asked.status != 202 || asked.at("/warrant") != "" || asked.header.Get("Location") != "/v1/actions/"+id {
		t.Fatalf("%d %s", asked.status, asked.text)
	}
	w.Approve(id, "ada")
	got := w.authorize("maria", "up.pay", `{"text":"a"}`, "Idempotency-Key", "k1")
	if got.status != 200 || got.at("/outcome/data/actionId") != id || got.at("/warrant") == "" {
		t.Fatalf("%d %s", got.status, got.text)
	}
	if again := w.authorize("maria", "up.pay", `{"text":"a"}`, "Idempotency-Key", "k1"); again.status != 409 || again.at("/warrant") != "" {
		t.Errorf("again: %d %s", again.status, again.text)
	}
	if failed := w.report("maria", got, "ended", "failed", "verdict", "ok"); failed.status != 200 || failed.at("/outcome/code") != "outcome_uncertain" {
		t.Errorf("a failure that proves nothing: %d %s", failed.status, failed.text)
	}
	if late := w.report("maria", got, "ended", "succeeded", "verdict", "ok"); late.status != 200 || late.at("/outcome/data/state") != "reconciled_succeeded" {
		t.Errorf("late: %d %s", late.status, late.text)
	}
}

// The answer is written by hand, but it is the document that its type says.
func TestTheAnswerToAuthorizeIsThatOfItsType(t *testing.T) {
	t.Parallel()
	object := rapid.Custom(func(t *rapid.T) []byte {
		text, err := json.Marshal(map[string]string{rapid.String().Draw(t, "name"): rapid.String().Draw(t, "value")})
		if err != nil {
			t.Fatal(err)
		}
		return text
	})
	rapid.Check(t, func(t *rapid.T) {
		var receipt []byte
		if rapid.Bool().Draw(t, "receipt") {
			receipt = object.Draw(t, "its text")
		}
		text, plain, err := api.Authorized(object.Draw(t, "outcome"), receipt, rapid.SliceOf(rapid.Byte()).Draw(t, "warrant"),
			rapid.String().Draw(t, "arguments"), rapid.Int64Range(0, 1<<62).Draw(t, "deadline"))
		if err != nil {
			t.Fatal(err)
		}
		var got, want any
		if err := errors.Join(json.Unmarshal(text, &got), json.Unmarshal(plain, &want)); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-type +written):\n%s", diff)
		}
	})
}

// An answer says how long it is, however long.
func TestAnswersComeInOnePiece(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.authorize("maria", "up.note", `{"text":"a","n":1}`)
	if got.header.Get("Content-Length") != strconv.Itoa(len(got.text)) || len(got.text) < 2048 {
		t.Errorf("%q for %d bytes", got.header.Get("Content-Length"), len(got.text))
	}
}
