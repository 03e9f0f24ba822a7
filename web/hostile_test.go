package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// class is one way in which a text attacks a page, with its cores.
type class struct {
	name  string
	cores []string
}

func classes() []class {
	return []class{
		{"script elements", []string{`<script>alert(1)</script>`, `<ScRiPt/x>alert(1)</sCrIpT>`}},
		{"event attributes", []string{`"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `" autofocus onfocus="alert(1)`, `<details open ontoggle=alert(1)>`}},
		{"addresses that run", []string{`javascript:alert(1)`, `<iframe src="javascript:alert(1)">`, `data:text/html,<script>alert(1)</script>`}},
		{"ways out of elements", []string{`</title><script>alert(1)</script>`, `</textarea><script>alert(1)</script>`, `</script><script>alert(1)</script>`, `</bdi></code></td></table><h1>approved</h1>`}},
		{"comments and sections", []string{`<!--`, `-->`, `]]>`, `<![CDATA[`, `<?xml`}},
		{"other languages in the page", []string{`<svg onload=alert(1)>`, `<math><mtext></p><script>alert(1)</script>`}},
		{"elements that rule the page", []string{`<base href=//evil.example>`, `<meta http-equiv=refresh content=0>`, `<style>*{display:none}</style>`, `<link rel=stylesheet href=//evil.example>`, `<form action=//evil.example><button>Approve</button>`}},
		{"templates", []string{`{{.Account}}`, `{{template "x"}}`, `${7*7}`, `{{constructor.constructor('alert(1)')()}}`}},
		{"entities", []string{`&lt;script&gt;`, `&#x202e;`, `&amp;lt;`}},
		{"directions", []string{"\u202eevil\u202c", "\u2066evil\u2069", "\u061cevil"}},
		{"nothing to see", []string{"\u200bevil", "\u200devil", "\ufeffevil", "ev\u00adil", "\u034fevil", "\u3164evil", "\u2800evil"}},
		{"controls", []string{"\x00evil", "\x1b[2Jevil", "\x7fevil", "\u0085evil", "\rhidden", "a\tb"}},
		{"line ends", []string{"\u2028evil", "\u2029evil", "evil\n\n\n\n\n\nhidden below"}},
		{"variations and tags", []string{"evil\ufe0f", "evil\U000e0061", "\ue000evil"}},
		{"look-alikes", []string{"\u0430dmin", "g\u03bfogle", "\uff41dmin", "\u2044etc\u2044passwd"}},
		{"heaps of accents", []string{"e\u0301\u0302\u0303\u0304\u0305\u0306vil"}},
		{"runs of spaces", []string{strings.Repeat(" ", 300) + "tail", "a\u00a0\u2003b"}},
		{"no place to break", []string{strings.Repeat("A", 900), strings.Repeat("https://evil.example/", 40)}},
	}
}

// payloads are texts that break out of, hide in or reorder a page: each
// carrier around each core.
func payloads() []string {
	carriers := []string{"%s", "a%sb", "\"%s\"", "%[1]s%[1]s", "x %s y", "\u05d0%s\u05d0", "\\%s", "'%s", "`%s`", "</b>%s", "%s\n", "\n%s"}
	var out []string
	for _, c := range classes() {
		for _, core := range c.cores {
			for _, carrier := range carriers {
				out = append(out, fmt.Sprintf(carrier, core))
			}
		}
	}
	return out
}

// hostile puts a text wherever a page shows something from outside.
func hostile(id, text string) (action.Action, audit.Record) {
	a := payment(id)
	args := canon.ObjectValue(
		canon.Member{Name: "amountMinor", Value: canon.IntValue(5)}, canon.Member{Name: "currency", Value: canon.StringValue("USD")},
		canon.Member{Name: "list", Value: canon.ArrayValue(canon.StringValue(text))}, canon.Member{Name: "vendorId", Value: canon.StringValue(text)},
		canon.Member{Name: "z" + text, Value: canon.StringValue("name")})
	a.Payload = action.Payload{Args: string(args.Canonical()), Requested: string(changed(args, "/vendorId", "<i>"+text).Canonical()),
		Preview: string(canon.ObjectValue(canon.Member{Name: text, Value: canon.StringValue(text)}).Canonical())}
	a.Agent, a.Principal, a.Owner, a.Task, a.GrantID, a.Model, a.Key, a.Supersedes = text, text, text, text, text, text, text, text
	a.Targets = []snapshot.Target{{Type: text, ID: text}}
	a.Evidence = []snapshot.Evidence{{Pointer: "/" + text, Resolver: text, Version: text}}
	a.Changes = []canon.Change{{Pointer: "/vendorId", Kind: canon.ChangeResolved, By: text}}
	a.Decision = action.Decision{Effect: text, Code: text, Reason: text, PublicReason: text, PolicyVersion: text, Rules: []string{text}}
	terms := *a.Terms
	terms.Requirements = []action.Requirement{{AnyOf: []action.Group{{Name: "finance", Votes: 1}, {Name: text, Votes: 1}}}}
	terms.Preview = canon.Sum([]byte(a.Payload.Preview))
	a.Terms = &terms
	a.Result = &action.Result{Output: []byte(text), Code: text, Evidence: text, Detail: text, Comparison: text}
	r := audit.Record{Seq: 1, ID: text, At: start, Tenant: tenant, Event: text, Action: text, Tool: text, Agent: text, By: text, From: text, To: text, Code: text,
		Facts: map[string]string{text: text}, Commitments: map[string]string{text: text}}
	return sealed(a), r
}

// ofAction is a record with the same texts on the timeline of the action.
func ofAction(r audit.Record) audit.Record {
	r.Seq, r.Action, r.Event = 2, "act_1", audit.ReadAllowed // one that counts as a decision on a tool
	return r
}

// hidden returns a character of a page that a reader would not see.
func hidden(page string) (rune, bool) {
	for _, r := range page {
		switch {
		case r == '\n':
		case !unicode.IsGraphic(r), r != ' ' && unicode.Is(unicode.Zs, r),
			unicode.In(r, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf):
			return r, true
		}
	}
	return 0, false
}

// shape keeps the markup of a page and drops its text and attribute values.
func tags(page string) map[string]int {
	count := map[string]int{}
	for _, part := range strings.Split(page, "<")[1:] {
		name := strings.FieldsFunc(part, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '/' && r != '!' })
		if len(name) > 0 {
			count[name[0]]++
		}
	}
	return count
}

// allowed are the only elements that pages have.
var allowed = strings.Fields("!DOCTYPE html head meta title link script body a header img nav form span small input button main section fieldset legend p h1 h2 h3 ul ol li footer meter " +
	"code bdi b br details summary table thead tbody tr th td dl dt dd div label select option textarea aside time q pre svg line rect text")

func TestHostileTextsNeverBecomeMarkupOrStayUnseen(t *testing.T) {
	t.Parallel()
	all := payloads()
	if len(all) < 500 || len(classes()) < 12 {
		t.Fatalf("only %d payloads of %d classes", len(all), len(classes()))
	}
	b := newBench(t, payment("act_1"))
	known := map[string]bool{}
	for _, name := range allowed {
		known[name], known["/"+name] = true, true
	}
	plainA, plainR := hostile("act_1", "evil")
	b.gate.actions, b.gate.records = []action.Action{plainA}, []audit.Record{plainR, ofAction(plainR)}
	paths := []string{"/actions/act_1?show=all", "/", "/actions", "/records", "/records/1", "/actions/act_1/timeline", "/overview", "/policy"}
	scripts, plots := map[string]int{}, map[string]int{}
	for _, path := range paths {
		plain := tags(b.get(path).Body.String())
		scripts[path], plots[path] = plain["script"], plain["svg"]
	}
	for _, text := range tried(all) {
		a, r := hostile("act_1", text)
		b.gate.mu.Lock()
		b.gate.actions, b.gate.records = []action.Action{a}, []audit.Record{r, ofAction(r)}
		b.gate.votes = []action.Vote{{ActionID: "act_1", Voter: text, Reason: text, Method: text}}
		b.diff = someDiff(text)
		b.gate.mu.Unlock()
		for _, path := range paths {
			w := b.get(path)
			page := w.Body.String()
			if w.Code != 200 {
				t.Fatalf("%+q on %s: status %d", text, path, w.Code)
			}
			if r, found := hidden(page); found {
				t.Errorf("%+q on %s: %U stands in the page", text, path, r)
			}
			got := tags(page)
			if got["script"] != scripts[path] {
				t.Errorf("%+q on %s: %d script elements; want %d", text, path, got["script"], scripts[path])
			}
			if got["svg"] != plots[path] {
				t.Errorf("%+q on %s: %d plots; want %d", text, path, got["svg"], plots[path])
			}
			for name := range got {
				if !known[name] {
					t.Errorf("%+q on %s: element <%s>", text, path, name)
				}
			}
		}
	}
}

// What a log, a witness or an error is called stands on the page as well.
func TestHostileTextsInAVerificationNeverBecomeMarkup(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	b.gate.records = story()
	token := url.Values{"token": {tokenField.FindStringSubmatch(b.get("/actions/act_1/timeline").Body.String())[1]}}
	for _, text := range tried(payloads()) {
		for _, fails := range []bool{false, true} {
			b.verify = func(context.Context, string, string) (audit.Evidence, error) {
				if fails {
					return audit.Evidence{}, errors.New(text)
				}
				return audit.Evidence{Log: text, Witnesses: map[string]time.Time{text: start}, Claim: audit.BundleClaim}, nil
			}
			page := b.post("/actions/act_1/verify", token).Body.String()
			if r, found := hidden(page); found || tags(page)["script"] > ownScripts || tags(page)["img"] > 1 {
				t.Errorf("%+q: %U or markup stands in the page", text, r)
			}
		}
	}
}

func TestHostileInputOfFormsAndAddressesIsNeverMarkup(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	for i, text := range tried(payloads()) {
		q := url.QueryEscape(text)
		for _, path := range []string{"/?for=" + q + "&tool=" + q, "/actions?state=" + q + "&tool=" + q + "&before=" + q, "/records?action=" + q + "&event=" + q + "&before=" + q, "/records?q=" + q + "&day=" + q, "/policy?days=" + q, "/actions/" + url.PathEscape(text) + "/timeline", "/" + url.PathEscape(text)} {
			page := b.get(path).Body.String()
			if n := tags(page)["script"]; n > ownScripts {
				t.Errorf("%+q in an address: %d script elements", text, n)
			}
			if r, found := hidden(page); found {
				t.Errorf("%+q in an address: %U stands in the page", text, r)
			}
		}
		if i%37 != 0 {
			continue // a login costs a slow hash
		}
		login := b.request(http.MethodPost, "/login", url.Values{"name": {text}, "password": {""}, "next": {text}})
		login.Header.Del("Cookie")
		page := b.send(login).Body.String()
		if r, found := hidden(page); found || tags(page)["script"] > ownScripts {
			t.Errorf("%+q as a name: %U or a script stands in the page", text, r)
		}
		b.clock.Move(2 * time.Second)
	}
}

// tried returns the payloads that a run tries: all, and in the short form,
// which looks for races and not for payloads, every fifth.
func tried(all []string) []string {
	if !testing.Short() {
		return all
	}
	var few []string
	for i := 0; i < len(all); i += 5 {
		few = append(few, all[i])
	}
	return few
}

// ownScripts are the elements that load the pages' own scripts.
const ownScripts = 2

func changed(v canon.Value, pointer, text string) canon.Value {
	out, _ := v.With(pointer, canon.StringValue(text))
	return out
}
