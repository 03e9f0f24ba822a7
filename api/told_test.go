package api_test

import (
	"crypto/ed25519"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/keys"
)

// kept are the routes that tell what is kept of an action.
var kept = []string{"/result", "/votes", "/records", "/receipts", "/evidence"}

func (w *world) get(who, path string) reply {
	w.t.Helper()
	return w.ask(who, http.MethodGet, path, "")
}

func TestWhatIsKeptOfAnActionIsForItsPrincipalOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId")
	w.signLog()
	for _, route := range kept {
		if got := w.get("maria", "/v1/actions/"+id+route); got.status > 202 {
			t.Errorf("%s: %d %s", route, got.status, got.text)
		}
		for _, who := range []string{"bob", "foreign", "narrow"} {
			if got := w.get(who, "/v1/actions/"+id+route); got.status != 404 || strings.Contains(got.text, id) {
				t.Errorf("%s sees %s: %d %s", who, route, got.status, got.text)
			}
		}
		if got := w.get("maria", "/v1/actions/none"+route); got.status != 404 {
			t.Errorf("%s of nothing: %d %s", route, got.status, got.text)
		}
		if got := w.get("maria", "/v1/actions/"+id+route+"?payload=true"); got.status != 400 {
			t.Errorf("a parameter of %s: %d %s", route, got.status, got.text)
		}
	}
	for _, who := range []string{"bob", "foreign", "narrow"} {
		if got := w.get(who, "/v1/proposals"); got.at("/proposals") != "[]" {
			t.Errorf("%s sees the proposal: %s", who, got.text)
		}
	}
}

func TestAResultIsWhatTheCallWasAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tt := range []struct {
		name  string
		first reply
	}{
		{"it ran", w.call("maria", "up.note", `{"text":"a"}`, "Idempotency-Key", "k")},
		{"it was denied", w.call("maria", "up.secret", `{"text":"a"}`)},
		{"it waits", w.call("maria", "up.pay", `{"text":"a"}`)},
	} {
		at := ""
		if tt.first.status >= 400 {
			at = "/outcome"
		}
		id := tt.first.at("/outcome/data/actionId")
		got := w.get("maria", "/v1/actions/"+id+"/result")
		if got.status != tt.first.status || got.at("/outcome/data/replayed") != "true" || got.at("/outcome/data/output") != tt.first.at("/outcome/data/output") ||
			got.at("/outcome/code") != tt.first.at("/outcome/code") || got.at("/outcome/publicReason") != tt.first.at(at+"/publicReason") && at != "" {
			t.Errorf("%s: %d %s\nfirst: %s", tt.name, got.status, got.text, tt.first.text)
		}
	}
	if diff := cmp.Diff([]string{`note {"n":3,"text":"a"}`}, w.seen()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestProposalsShowWhatPeopleDecideOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.call("maria", "up.note", `{"text":"no proposal"}`)
	first := w.call("maria", "up.pay", ` {"text":"a"}`).at("/outcome/data/actionId")
	second := w.call("maria", "up.pay", `{"text":"b"}`).at("/outcome/data/actionId")
	w.Approve(second, "ada")
	got := w.get("maria", "/v1/proposals?state=pending_approval")
	p, _ := got.body.Lookup("/proposals")
	if p.Len() != 1 || got.at("/proposals/0/actionId") != first || got.at("/proposals/0/rawArguments") != ` {"text":"a"}` ||
		got.at("/proposals/0/requestedArguments") != `{"text":"a"}` || got.at("/proposals/0/argsCanonicalJson") != `{"n":3,"text":"a"}` ||
		got.at("/proposals/0/requirements/0/anyOf/0/name") != "admin" || len(got.at("/proposals/0/approvalDigest")) != 64 {
		t.Error(got.text)
	}
	all := w.get("maria", "/v1/proposals?limit=1")
	if all.at("/proposals/0/actionId") != second || all.at("/next") != second || all.at("/proposals/0/state") != "approved" {
		t.Error(all.text)
	}
	rest := w.get("maria", "/v1/proposals?limit=1&before="+second)
	if rest.at("/proposals/0/actionId") != first {
		t.Error(rest.text)
	}
	for _, query := range []string{"limit=21", "limit=0", "state=succeeded", "before=none", "tenant=x"} {
		if got := w.get("maria", "/v1/proposals?"+query); got.status != 400 {
			t.Errorf("%s: %d %s", query, got.status, got.text)
		}
	}
}

func TestAPageOfLargeProposalsEndsEarly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	large := strings.Repeat("x", 900_000)
	for _, last := range []string{"a", "b", "c", "d", "e"} { // three texts of each, so three fit
		w.call("maria", "up.pay", `{"text":"`+large+last+`"}`)
	}
	found, next := 0, ""
	for pages := 0; pages < 4; pages++ {
		got := w.get("maria", "/v1/proposals?state=pending_approval"+next)
		list, _ := got.body.Get("proposals")
		if found += list.Len(); list.Len() > 3 || len(got.text) > 9<<20 {
			t.Errorf("a page of %d proposals and %d bytes", list.Len(), len(got.text))
		}
		if got.at("/next") == "" {
			break
		}
		next = "&before=" + got.at("/next")
	}
	if found != 5 {
		t.Errorf("%d proposals on all pages, want 5", found)
	}
}

func TestVotesAndRecordsTellWhoMovedIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId")
	w.Approve(id, "ada")
	w.call("maria", "up.pay", `{"text":"a"}`)
	got := w.get("maria", "/v1/actions/"+id+"/votes")
	if got.at("/votes/0/voter") != "ada" || got.at("/votes/0/approve") != "true" {
		t.Error(got.text)
	}
	var events []string
	next := ""
	for range 20 {
		page := w.get("maria", "/v1/actions/"+id+"/records?limit=2"+next)
		list, _ := page.body.Get("records")
		for i := range list.Len() {
			event, _ := list.At(i).Get("event")
			events = append(events, event.Text())
		}
		if page.at("/next") == "" {
			break
		}
		next = "&before=" + page.at("/next")
	}
	if diff := cmp.Diff([]string{"action_succeeded", "action_started", "action_claimed", "action_approved", "vote_approve", "caller_left", "action_suspended"}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, query := range []string{"limit=101", "before=0", "before=x", "before=-1"} {
		if got := w.get("maria", "/v1/actions/"+id+"/records?"+query); got.status != 400 {
			t.Errorf("%s: %d %s", query, got.status, got.text)
		}
	}
}

func TestReceiptsAndEvidenceVerifyWithoutTheGateway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call("maria", "up.note", `{"text":"a"}`).at("/outcome/data/actionId")
	path := "/v1/actions/" + id
	if got := w.get("maria", path+"/evidence"); got.status != 409 || got.at("/code") != "not_signed" || got.header.Get("Retry-After") != "1" {
		t.Errorf("before the log has signed: %d %s", got.status, got.text)
	}
	w.signLog()
	trust := w.trust()
	got := w.get("maria", path+"/evidence")
	bundle, err := audit.ParseBundle([]byte(got.text))
	if err == nil {
		_, err = audit.VerifyBundle(bundle, trust)
	}
	if err != nil || len(bundle.Records) != 2 || bundle.Records[0].Opened != nil {
		t.Errorf("the bundle: %v\n%s", err, got.text)
	}
	list := w.get("maria", path+"/receipts")
	promises, _ := list.body.Get("receipts")
	for i := range promises.Len() {
		if _, err := trust.OpenReceipt(promises.At(i).Canonical()); err != nil {
			t.Errorf("receipt %d: %v", i, err)
		}
	}
	if promises.Len() != 2 {
		t.Errorf("%d receipts: %s", promises.Len(), list.text)
	}
}

// trust is whom an auditor of the world trusts.
func (w *world) trust() audit.Trust {
	w.t.Helper()
	origin, err := w.Store.Origin(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var lines []string
	for name, key := range map[string]ed25519.PublicKey{origin: signer(w.t, keys.Checkpoints).Public()[0],
		audit.ReceiptName(origin): signer(w.t, keys.Receipts).Public()[0]} {
		line, err := audit.LogKey(name, key)
		if err != nil {
			w.t.Fatal(err)
		}
		lines = append(lines, line)
	}
	trust, err := audit.NewTrust(lines...)
	if err != nil {
		w.t.Fatal(err)
	}
	return trust
}

// An allowed call is authorized in one commit, and whoever asks again joins it:
// its first caller counts as gone from the start.
func TestAnAuthorizationIsOneRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.authorize("maria", "up.note", `{"text":"a"}`)
	id := got.at("/outcome/data/actionId")
	list := w.get("maria", "/v1/actions/"+id+"/records")
	all, _ := list.body.Get("records")
	a, err := w.Gate.Action(t.Context(), "acme", id)
	if err != nil || all.Len() != 1 || list.at("/records/0/event") != "action_started" || !a.CallerGone {
		t.Errorf("%s, %v, %v", list.text, a.CallerGone, err)
	}
	if again := w.authorize("maria", "up.note", `{"text":"a"}`); again.at("/outcome/data/actionId") != id || again.at("/warrant") != "" {
		t.Errorf("again: %d %s", again.status, again.text)
	}
	ran := w.call("maria", "up.note", `{"text":"b"}`).at("/outcome/data/actionId")
	if a, err := w.Gate.Action(t.Context(), "acme", ran); err != nil || a.CallerGone {
		t.Errorf("a caller that waited for its tool is gone: %v", err)
	}
}
