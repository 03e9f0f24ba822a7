package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/web/display"
)

// Purposes of the forms of operators.
const (
	toStop = "stop"
	toLift = "lift"
)

// maxName bounds the name of an agent or a tool in a form, in characters.
const maxName = 200

// operateView is what operators look after.
type operateView struct {
	base
	Uncertain []itemView
	More      bool // there are more than are listed
	Open      []openView
	Stops     []stopView
	Token     string
	Agent     string
	Tool      string
	Reason    string
	Error     string
	Done      string
	Diffs     bool // the person may see what a candidate policy would change
}

type openView struct {
	State  word
	Number int
	Oldest moment
	Path   string
}

// stopView is one stop with the form that lifts it.
type stopView struct {
	What    []display.Piece
	By      string
	Reason  string
	At      moment
	Tenant  string
	Agent   string
	Tool    string
	Confirm confirmView
}

func (s *site) operate(w http.ResponseWriter, r *http.Request, v visit) {
	page, ok := s.operateView(w, r, v)
	if !ok {
		return
	}
	switch q := r.URL.Query(); q.Get("done") {
	case "stopped":
		n, _ := strconv.Atoi(q.Get("running"))
		page.Done = "Stopped. " + runningWords(max(0, n))
	case "lifted":
		page.Done = "The stop is lifted."
	}
	s.render(w, http.StatusOK, "operate", page)
}

func runningWords(n int) string {
	if n == 0 {
		return "Nothing of it was under way."
	}
	return many(n, "run", "runs") + " of it " + isAre(n) + " under way and " + map[bool]string{true: "is", false: "are"}[n == 1] + " not cut."
}

// operateView reads the page and answers the request itself where it cannot.
func (s *site) operateView(w http.ResponseWriter, r *http.Request, v visit) (operateView, bool) {
	page := operateView{base: s.base(v, "Operations", "operate"), Token: s.formToken(v, toStop)}
	for _, read := range []func(context.Context, visit, *operateView) error{s.readOpen, s.readUncertain, s.readStops} {
		if err := read(r.Context(), v, &page); err != nil {
			s.broken(w, v)
			return page, false
		}
	}
	may, err := s.people.MayManage(r.Context(), v.account)
	if err != nil {
		s.broken(w, v)
		return page, false
	}
	page.Diffs = may && s.diff != nil
	return page, true
}

func (s *site) readOpen(ctx context.Context, v visit, page *operateView) error {
	counts, err := s.gate.Counts(ctx, v.account.Tenant)
	for _, c := range counts {
		page.Open = append(page.Open, openView{stateWord(c.State), c.Number, s.when(c.Oldest), "/actions?" + url.Values{"state": {string(c.State)}}.Encode()})
	}
	return err
}

func (s *site) readUncertain(ctx context.Context, v visit, page *operateView) error {
	rows, err := s.gate.Actions(ctx, action.Filter{Tenant: v.account.Tenant, States: []action.State{action.Uncertain}, Limit: pageSize})
	if err != nil {
		return err
	}
	page.More = len(rows) == pageSize
	for _, a := range rows {
		item, err := s.item(ctx, v, a)
		if err != nil {
			return err
		}
		page.Uncertain = append(page.Uncertain, item)
	}
	return nil
}

func (s *site) readStops(ctx context.Context, v visit, page *operateView) error {
	c, err := s.confirming(ctx, v)
	if err != nil {
		return err
	}
	stops, err := s.gate.Stops(ctx, v.account.Tenant)
	if err != nil {
		return err
	}
	known := names{}
	for i, stop := range stops {
		by, err := s.nameOf(ctx, v, stop.By, known)
		if err != nil {
			return err
		}
		view := stopView{What: stopWords(stop), By: by, Reason: stop.Reason, At: s.when(stop.At), Tenant: stop.Tenant, Agent: stop.Agent, Tool: stop.Tool}
		about := stopName(stop)
		view.Confirm = s.confirm(c, "lift-password-"+strconv.Itoa(i), "Your password, to lift it", func(nonce string) []byte {
			return auth.Challenge(toLift, about, nonce)
		}, toLift, about)
		page.Stops = append(page.Stops, view)
	}
	return nil
}

func stopWords(stop action.Stop) []display.Piece {
	text := func(s string) []display.Piece { return []display.Piece{{Text: s}} }
	switch {
	case stop.Agent != "" && stop.Tool != "":
		return append(append(append(text("the tool "), display.Text(stop.Tool)...), display.Piece{Text: " for the agent "}), display.Text(stop.Agent)...)
	case stop.Agent != "":
		return append(text("the agent "), display.Text(stop.Agent)...)
	case stop.Tool != "":
		return append(text("the tool "), display.Text(stop.Tool)...)
	case stop.Tenant != "":
		return append(text("everything in "), display.Text(stop.Tenant)...)
	default:
		return text("everything, of every tenant")
	}
}

// stopName is one text for what a stop covers.
func stopName(stop action.Stop) string {
	return string(canon.ArrayValue(canon.StringValue(stop.Tenant), canon.StringValue(stop.Agent), canon.StringValue(stop.Tool)).Canonical())
}

// stop freezes what a person names. It is safe and must be easy, so it asks
// for no proof beyond the login.
func (s *site) stop(w http.ResponseWriter, r *http.Request, v visit) {
	fields, err := readForm(r, "token", "agent", "tool", "reason")
	if err != nil || !s.ownForm(v, fields["token"], toStop) {
		s.badForm(w, v)
		return
	}
	agent, tool := strings.TrimSpace(fields["agent"]), strings.TrimSpace(fields["tool"])
	reason, ok := cleanReason(fields["reason"])
	problem := ""
	_, known := s.tools(tool)
	switch {
	case !ok:
		problem = "Say why, in at most 500 plain characters."
	case typed(agent) != agent || typed(tool) != tool || utf8.RuneCountInString(agent) > maxName:
		problem = "The names have characters that cannot be seen, or are too long."
	case tool != "" && !known:
		problem = "There is no such tool in the catalog."
	}
	if problem != "" {
		s.operateProblem(w, r, v, http.StatusUnprocessableEntity, problem+" Nothing was stopped.")
		return
	}
	running, err := s.gate.Freeze(r.Context(), action.Stop{Tenant: v.account.Tenant, Agent: agent, Tool: tool, By: v.account.ID, Reason: reason})
	if err != nil {
		s.broken(w, v)
		return
	}
	http.Redirect(w, r, "/operate?"+url.Values{"done": {"stopped"}, "running": {strconv.Itoa(running)}}.Encode(), http.StatusSeeOther)
}

func (s *site) operateProblem(w http.ResponseWriter, r *http.Request, v visit, status int, text string) {
	page, ok := s.operateView(w, r, v)
	if !ok {
		return
	}
	page.Error = text
	page.Agent, page.Tool = typed(r.PostFormValue("agent")), typed(r.PostFormValue("tool"))
	s.render(w, status, "operate", page)
}

// lift takes a stop away, after the proof that the account needs.
func (s *site) lift(w http.ResponseWriter, r *http.Request, v visit) {
	c, err := s.readConfirmed(r, v, "tenant", "agent", "tool", "reason")
	if err != nil {
		s.badForm(w, v)
		return
	}
	stop := action.Stop{Tenant: c.fields["tenant"], Agent: c.fields["agent"], Tool: c.fields["tool"], By: v.account.ID}
	if stop.Tenant != "" && stop.Tenant != v.account.Tenant || !s.own(c, toLift, stopName(stop)) {
		s.badForm(w, v)
		return
	}
	var ok bool
	if stop.Reason, ok = cleanReason(c.fields["reason"]); !ok {
		s.operateProblem(w, r, v, http.StatusUnprocessableEntity, "Say why you lift it, in at most 500 plain characters. Nothing was changed.")
		return
	}
	err = s.prove(r.Context(), c, toLift, stopName(stop))
	if status, text := unproved(w, err); status != 0 {
		s.operateProblem(w, r, v, status, text)
		return
	}
	if err == nil {
		err = s.gate.Unfreeze(r.Context(), stop)
	}
	s.lifted(w, r, v, err)
}

func (s *site) lifted(w http.ResponseWriter, r *http.Request, v visit, err error) {
	switch {
	case err == nil:
		http.Redirect(w, r, "/operate?done=lifted", http.StatusSeeOther)
	case errors.Is(err, action.ErrNotFound):
		s.operateProblem(w, r, v, http.StatusConflict, "That stop is lifted already.")
	case errors.Is(err, action.ErrIneligible):
		s.operateProblem(w, r, v, http.StatusForbidden, "You may not lift this: it takes an operator, or whoever stopped it. Nothing was changed.")
	default:
		s.broken(w, v)
	}
}
