package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/web/display"
)

// How many rows a list has.
const (
	inboxSize = 200
	pageSize  = 50
	// excerptSize is how much of the arguments a list shows, in characters.
	excerptSize = 240
)

// itemView is one action in a list.
type itemView struct {
	ID       string
	Headline []display.Piece
	Tool     string
	Agent    string
	For      string
	State    word
	Impact   word
	At       moment
	Until    moment
	High     bool
	Why      string   // a code, where it did not run
	By       []string // who decided and how
	ByDay    bool     // the list says the day; the item says the time
	Mine     bool     // this person can decide on it now
	Voted    bool
	Marks    int
	Targets  []display.Piece
	Excerpt  []display.Piece // of the arguments where there is no sentence
}

type inboxView struct {
	base
	Items    []itemView
	Mine     int
	Others   int
	High     int
	More     bool // there are more than are counted
	Filter   string
	Tool     string
	Tools    []toolCount
	HighOnly bool
	Tabs     []tab
	Ordinary int // of those for this person, without high impact
	Hidden   int // waiting, and not shown because of the filters
}

type toolCount struct {
	Name  string
	Count int
}

// tab is a filter that is one touch away.
type tab struct {
	Path, Text string
	Count      int
	Here       bool
}

// tabs lead to whose turn it is; they keep the other filters.
func (p *inboxView) tabs() {
	for _, t := range []tab{{Path: "", Text: "waiting", Count: p.Mine + p.Others}, {Path: "me", Text: "for you", Count: p.Mine}, {Path: "others", Text: "for others", Count: p.Others}} {
		q := url.Values{}
		for name, value := range map[string]string{"for": t.Path, "tool": p.Tool, "impact": map[bool]string{true: "high"}[p.HighOnly]} {
			if value != "" {
				q.Set(name, value)
			}
		}
		t.Here, t.Path = t.Path == p.Filter, "/"
		if len(q) > 0 {
			t.Path += "?" + q.Encode()
		}
		p.Tabs = append(p.Tabs, t)
	}
}

func (s *site) inbox(w http.ResponseWriter, r *http.Request, v visit) {
	rows, err := s.gate.Actions(r.Context(), action.Filter{Tenant: v.account.Tenant,
		States: []action.State{action.PendingApproval}, Limit: inboxSize})
	if err != nil {
		s.broken(w, v)
		return
	}
	q := r.URL.Query()
	page := inboxView{base: s.base(v, "Inbox", "inbox"), Filter: whose(q.Get("for")), Tool: typed(q.Get("tool")),
		HighOnly: q.Get("impact") == "high", More: len(rows) == inboxSize}
	slices.Reverse(rows) // the longest waiting first
	for _, a := range rows {
		item, err := s.item(r.Context(), v, a)
		if err != nil {
			s.broken(w, v)
			return
		}
		page.add(a, item)
	}
	slices.SortFunc(page.Tools, func(a, b toolCount) int { return strings.Compare(a.Name, b.Name) })
	page.Hidden = page.Mine + page.Others - len(page.Items)
	page.tabs()
	page.Title = fmt.Sprintf("Inbox (%d for you)", page.Mine)
	s.render(w, http.StatusOK, "inbox", page)
}

// whose knows the filters of people; everything else is none.
func whose(text string) string {
	if text == "me" || text == "others" {
		return text
	}
	return ""
}

// typed is what a person typed into a filter. A field shows it again as it
// is, so text with characters that are not seen is dropped.
func typed(text string) string {
	text = strings.TrimSpace(text)
	if display.Plain(display.Text(text)) != text {
		return ""
	}
	return text
}

// add counts an action and keeps it if the filters let it through.
func (p *inboxView) add(a action.Action, item itemView) {
	if item.Mine {
		p.Mine++
		if !a.HighImpact {
			p.Ordinary++
		}
	} else {
		p.Others++
	}
	if a.HighImpact {
		p.High++
	}
	p.count(a.Tool)
	hidden := p.Filter == "me" && !item.Mine || p.Filter == "others" && item.Mine ||
		p.Tool != "" && p.Tool != a.Tool || p.HighOnly && !a.HighImpact
	if !hidden {
		p.Items = append(p.Items, item)
	}
}

// count adds one to a tool. One whose name a field could not show has no
// filter.
func (p *inboxView) count(tool string) {
	if tool != typed(tool) {
		return
	}
	i := slices.IndexFunc(p.Tools, func(t toolCount) bool { return t.Name == tool })
	if i < 0 {
		i, p.Tools = len(p.Tools), append(p.Tools, toolCount{Name: tool})
	}
	p.Tools[i].Count++
}

func (s *site) item(ctx context.Context, v visit, a action.Action) (itemView, error) {
	read := s.glance(a)
	item := itemView{ID: a.ID, Headline: read.headline(), Tool: a.Tool, Agent: a.Agent, For: a.Principal,
		State: rowWord(a), Impact: impactWord(a, read.tool), High: a.HighImpact, At: s.when(a.CreatedAt)}
	if !read.unread && !read.unreadable {
		literal := display.Literal(read.args, "", read.masks.PointersOnly())
		item.Marks = display.CountAlarming(literal)
		if len(read.sentence) == 0 {
			item.Excerpt = display.Excerpt(literal, excerptSize)
		}
	}
	for i, t := range a.Targets {
		if i > 0 {
			item.Targets = append(item.Targets, display.Piece{Text: ", "})
		}
		item.Targets = append(item.Targets, read.target(t)...)
		item.Targets = append(item.Targets, display.Text(" "+t.Type)...)
	}
	if a.State != action.PendingApproval || a.Terms == nil {
		return item, nil
	}
	item.Until = s.when(a.Deadline)
	votes, err := s.gate.Votes(ctx, v.account.Tenant, a.ID)
	if err != nil {
		return itemView{}, err
	}
	item.Voted = votedAlready(votes, v.account.ID)
	may := approval.Eligible(*a.Terms, approval.ProposerOf(a), v.person()) == nil
	item.Mine = may && !item.Voted && !item.Until.Over
	return item, nil
}

type choice struct{ Value, Text string }
