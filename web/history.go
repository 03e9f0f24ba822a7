package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/web/display"
)

// How far one page of the history looks back.
const (
	searchPage = 200  // rows that are read at once
	searchMost = 2000 // rows that are looked at
)

// lookingFor is what a person looks for in the history.
type lookingFor struct {
	Text  string
	State string
	Tool  string
	Mine  bool // decided by the person who asks
	Day   string
	start time.Time // of the day, in the reader's zone
	end   time.Time
}

type historyView struct {
	base
	lookingFor
	Days   []dayView
	Shown  int
	States []choice
	Next   string // address of older ones
	Looked int    // rows that were looked at, where that is the limit
	Error  string
	// Today and Yesterday are the addresses of what the person decided then.
	Today, Yesterday string
}

type dayView struct {
	Name  string
	Items []itemView
}

// stateChoices are groups of states that people look for, then each state.
var stateGroups = []struct {
	choice
	states []action.State
}{
	{choice{"open", "still open"}, []action.State{action.PendingApproval, action.Approved, action.Claimed, action.Executing, action.Uncertain}},
	{choice{"ran", "took effect"}, []action.State{action.Succeeded, action.ReconciledSucceeded}},
	{choice{"did_not_run", "did not run"}, []action.State{action.Denied, action.Expired, action.Revoked}},
}

func stateChoices() []choice {
	var out []choice
	for _, g := range stateGroups {
		out = append(out, g.choice)
	}
	for _, state := range action.States() {
		if state != action.Received {
			out = append(out, choice{string(state), stateWord(state).Text})
		}
	}
	return out
}

// statesOf reads the choice; an unknown one is none.
func statesOf(name string) []action.State {
	for _, g := range stateGroups {
		if g.Value == name {
			return g.states
		}
	}
	for _, state := range action.States() {
		if state != action.Received && string(state) == name {
			return []action.State{state}
		}
	}
	return nil
}

func (s *site) lookingFor(q url.Values) (lookingFor, string) {
	f := lookingFor{Text: typed(q.Get("q")), State: typed(q.Get("state")), Tool: typed(q.Get("tool")), Mine: q.Get("by") == "me", Day: typed(q.Get("day"))}
	if f.Day == "" {
		return f, ""
	}
	at := s.reads.reader.Zone
	if at == nil {
		at = time.UTC
	}
	start, err := time.ParseInLocation(time.DateOnly, f.Day, at)
	if err != nil {
		f.Day = ""
		return f, "A day is written like 2026-03-01. All days are shown."
	}
	f.start, f.end = start, start.AddDate(0, 0, 1)
	return f, ""
}

func (s *site) history(w http.ResponseWriter, r *http.Request, v visit) {
	q := r.URL.Query()
	page := historyView{base: s.base(v, "History", "actions"), States: stateChoices()}
	page.lookingFor, page.Error = s.lookingFor(q)
	page.Today, page.Yesterday = s.decidedOn(0), s.decidedOn(-1)
	found, last, err := s.look(r.Context(), v, page.lookingFor, q.Get("before"))
	if err != nil {
		s.broken(w, v)
		return
	}
	for _, item := range found {
		page.add(item, s.dayName(item.At))
	}
	page.Shown = len(found)
	if last != "" {
		page.Next = page.older(last)
		if page.Shown < pageSize {
			page.Looked = searchMost
		}
	}
	s.render(w, http.StatusOK, "history", page)
}

// decidedOn is the address of what the person decided on a day, counted from
// today in their zone.
func (s *site) decidedOn(days int) string {
	at := s.reads.reader.Zone
	if at == nil {
		at = time.UTC
	}
	return "/actions?" + url.Values{"by": {"me"}, "day": {s.now().In(at).AddDate(0, 0, days).Format(time.DateOnly)}}.Encode()
}

func (p *historyView) add(item itemView, day string) {
	item.ByDay = true
	if n := len(p.Days); n == 0 || p.Days[n-1].Name != day {
		p.Days = append(p.Days, dayView{Name: day})
	}
	d := &p.Days[len(p.Days)-1]
	d.Items = append(d.Items, item)
}

func (p *historyView) older(before string) string {
	q := url.Values{"before": {before}}
	for name, value := range map[string]string{"q": p.Text, "state": p.State, "tool": p.Tool, "day": p.Day} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if p.Mine {
		q.Set("by", "me")
	}
	return "/actions?" + q.Encode()
}

// dayName says how people name a day that is near.
func (s *site) dayName(m moment) string {
	now := s.now()
	switch m.Day {
	case s.reads.reader.Day(now):
		return "Today, " + m.Day
	case s.reads.reader.Day(now.AddDate(0, 0, -1)):
		return "Yesterday, " + m.Day
	default:
		return m.Day
	}
}

// look goes back through the actions of the tenant. last is the row after
// which an older page goes on, "" where there is nothing older.
func (s *site) look(ctx context.Context, v visit, f lookingFor, before string) (found []itemView, last string, err error) {
	filter := action.Filter{Tenant: v.account.Tenant, Tool: f.Tool, States: statesOf(f.State), From: f.start, Until: f.end, Before: before, Limit: searchPage}
	if f.Mine {
		filter.Voter = v.account.ID
	}
	known := names{}
	for looked := 0; looked < searchMost; {
		rows, err := s.gate.Actions(ctx, filter)
		if err != nil {
			return nil, "", err
		}
		for _, a := range rows {
			filter.Before = a.ID
			item, fits, err := s.fits(ctx, v, a, f, known)
			if err != nil {
				return nil, "", err
			}
			if fits {
				found = append(found, item)
			}
			if len(found) == pageSize {
				return found, a.ID, nil
			}
		}
		if looked += len(rows); len(rows) < searchPage {
			return found, "", nil
		}
	}
	return found, filter.Before, nil
}

// fits reports whether an action is looked for, and makes its item.
func (s *site) fits(ctx context.Context, v visit, a action.Action, f lookingFor, known names) (itemView, bool, error) {
	if f.Day != "" && (a.CreatedAt.Before(f.start) || !a.CreatedAt.Before(f.end)) {
		return itemView{}, false, nil
	}
	item, err := s.item(ctx, v, a)
	if err != nil {
		return itemView{}, false, err
	}
	votes, err := s.decided(ctx, v, a, &item, known)
	if err != nil || f.Mine && !votedAlready(votes, v.account.ID) {
		return itemView{}, false, err
	}
	return item, f.Text == "" || item.says(f.Text), nil
}

// decided adds who decided on an action, and why it did not run.
func (s *site) decided(ctx context.Context, v visit, a action.Action, item *itemView, known names) ([]action.Vote, error) {
	switch {
	case a.Result != nil && a.State != action.Succeeded:
		item.Why = a.Result.Code
	case a.State == action.Denied:
		item.Why = a.Decision.Code
	}
	if a.Terms == nil {
		return nil, nil
	}
	votes, err := s.gate.Votes(ctx, v.account.Tenant, a.ID)
	for _, vote := range votes {
		name, err := s.nameOf(ctx, v, vote.Voter, known)
		if err != nil {
			return nil, err
		}
		by := "rejected by " + name
		if vote.Approve {
			by = "approved by " + name
		}
		switch {
		case !vote.Approve:
			item.Why = vote.Reason
		case vote.Reason != "":
			by += " (" + vote.Reason + ")"
		}
		item.By = append(item.By, by)
	}
	return votes, err
}

// says reports whether a text stands in what a person sees of an item. What
// is masked cannot be looked for.
func (i itemView) says(text string) bool {
	seen := []string{i.ID, display.Plain(i.Headline), i.Tool, i.Agent, i.For, display.Plain(i.Targets), display.Plain(i.Excerpt), i.Why}
	return strings.Contains(strings.ToLower(strings.Join(append(seen, i.By...), "\n")), strings.ToLower(text))
}
