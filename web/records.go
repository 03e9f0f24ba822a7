package web

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
)

type recordsView struct {
	base
	Records []recordItem
	Text    string
	Day     string
	Action  string
	Event   string
	Events  []choice
	Next    string
	Looked  int // records that were looked at, where that is the limit
	Error   string
}

type recordItem struct {
	audit.Record
	When moment
	Says string // what the event means
	Who  string // the name of the person, or By as it is
}

// names remembers the names of people while one page is made.
type names map[string]string

// recordItem adds to a record what people want to read. A record names a person by
// an id that never changes; a name is for reading only.
func (s *site) recordItem(ctx context.Context, v visit, r audit.Record, known names) (recordItem, error) {
	who, err := s.nameOf(ctx, v, r.By, known)
	return recordItem{Record: r, When: s.when(r.At), Says: eventWords[r.Event], Who: who}, err
}

// nameOf names a person of the tenant; whoever else stays an id.
func (s *site) nameOf(ctx context.Context, v visit, id string, known names) (string, error) {
	if name, found := known[id]; found {
		return name, nil
	}
	known[id] = id
	account, err := s.people.ByID(ctx, id)
	switch {
	case errors.Is(err, auth.ErrNoAccount): // a principal, or the machine itself
	case err != nil:
		return id, err
	case account.Tenant == v.account.Tenant:
		known[id] = account.Name
	}
	return known[id], nil
}

func (s *site) records(w http.ResponseWriter, r *http.Request, v visit) {
	q := r.URL.Query()
	page := recordsView{base: s.base(v, "Records", "records"), Action: typed(q.Get("action")), Event: typed(q.Get("event")), Events: eventChoices()}
	var f lookingFor
	f, page.Error = s.lookingFor(url.Values{"q": q["q"], "day": q["day"]})
	page.Text, page.Day = f.Text, f.Day
	before, err := strconv.ParseInt(q.Get("before"), 10, 64)
	if err != nil || before < 0 {
		before = 0
	}
	found, last, looked, err := s.findRecords(r.Context(), v, f, audit.Filter{Action: page.Action, Event: page.Event, Before: before})
	if err != nil {
		s.broken(w, v)
		return
	}
	page.Records = found
	if last > 0 {
		page.Next = page.older(last)
		if len(found) < pageSize {
			page.Looked = looked
		}
	}
	s.render(w, http.StatusOK, "records", page)
}

// eventChoices are the events that people can choose, by name.
func eventChoices() []choice { return sorted(eventWords) }

type recordView struct {
	base
	recordItem
	Facts       []choice
	Commitments []choice
}

// record shows one record. A number that belongs to another tenant looks
// like one that was never given.
func (s *site) record(w http.ResponseWriter, r *http.Request, v visit) {
	seq, err := strconv.ParseInt(r.PathValue("seq"), 10, 64)
	if err != nil || seq < 1 || strconv.FormatInt(seq, 10) != r.PathValue("seq") || seq+1 < seq {
		s.notFound(w, v)
		return
	}
	found, err := s.gate.Records(r.Context(), audit.Filter{Tenant: v.account.Tenant, Limit: 1, Before: seq + 1})
	if err != nil {
		s.broken(w, v)
		return
	}
	if len(found) != 1 || found[0].Seq != seq || found[0].Tenant != v.account.Tenant {
		s.notFound(w, v)
		return
	}
	item, err := s.recordItem(r.Context(), v, found[0], names{})
	if err != nil {
		s.broken(w, v)
		return
	}
	s.render(w, http.StatusOK, "record", recordView{base: s.base(v, "Record "+strconv.FormatInt(seq, 10), "records"),
		recordItem:  item,
		Facts:       sorted(found[0].Facts),
		Commitments: sorted(found[0].Commitments)})
}

func sorted(m map[string]string) []choice {
	var out []choice
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, choice{name, m[name]})
	}
	return out
}
