package web

import (
	"context"
	"strings"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/web/display"
)

// earlierView says what took effect before and is like this.
type earlierView struct {
	Count  int
	On     string // "on this target", or what it is like in
	Last   moment
	LastID string
}

// roomView is one limit with what is left of it.
type roomView struct {
	Name  string
	Every string
	Scope []display.Piece
	Takes string
	Left  string
	After string
	Most  string
	Over  bool
	// Of the limit, in percent, for the bar.
	Taken, This int
}

// wordsView is what the agent and its host say about themselves.
type wordsView struct {
	Raw      []display.Piece
	Size     string
	Withheld string
	Model    string
	CallID   string
}

// maxWords bounds how much of the agent's own bytes a page holds.
const maxWords = 64 << 10

// around fills in what stands around a proposal: what came before it, what
// limits leave, what is stopped, and what the agent itself wrote.
func (s *site) around(ctx context.Context, p *proposalView, read reading) error {
	p.Agents = s.words(read)
	a := read.row
	if a.State.Terminal() || a.State == action.Uncertain || a.State == action.Executing {
		return nil
	}
	stops, err := s.gate.Stops(ctx, a.Tenant)
	if err != nil {
		return err
	}
	for _, stop := range stops {
		if stop.Covers(a.Tenant, a.Agent, a.Tool) {
			p.warn("An operator has stopped this kind of action. It does not run until the stop is lifted.")
			break
		}
	}
	if p.Pending && p.Until.Soon { // an approval is never good for long
		p.warn("There is little time left. When it is over, this expires, and the agent must ask again.")
	}
	if err := s.before(ctx, p, a); err != nil {
		return err
	}
	return s.room(ctx, p, read)
}

// warning is what a reader could miss, with where to look.
type warning struct{ Text, Path, Link string }

func (p *proposalView) warn(text string) { p.Warnings = append(p.Warnings, warning{Text: text}) }

// before says what is like it and took effect.
func (s *site) before(ctx context.Context, p *proposalView, a action.Action) error {
	if !a.Mutation || a.Kind == action.KindHandoff {
		return nil
	}
	earlier, err := s.gate.Earlier(ctx, a)
	if err != nil {
		return err
	}
	view := &earlierView{Count: earlier.Like.Succeeded, Last: s.when(earlier.Like.Last), LastID: earlier.Like.LastID}
	switch len(a.Targets) {
	case 0:
		view.On = "with this tool"
	case 1:
		view.On = "with this tool on this target"
	default:
		view.On = "with this tool on exactly these targets"
	}
	p.Earlier = view
	if earlier.Same.Succeeded > 0 {
		p.Warnings = append(p.Warnings, warning{"Exactly this call has succeeded before, " + s.when(earlier.Same.Last).Far + ". If it runs, it happens again.",
			actionPath(earlier.Same.LastID), "See that one"})
	}
	if earlier.Uncertain > 0 {
		p.Warnings = append(p.Warnings, warning{many(earlier.Uncertain, "action", "actions") + " " + view.On + " " + isAre(earlier.Uncertain) +
			" uncertain: nobody knows whether it took effect.", "/actions?state=uncertain", "See what it was before you add to it"})
	}
	return nil
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

var everyWords = map[action.Window]string{action.Hour: "an hour", action.Day: "a day", action.Week: "a week", action.Month: "a month"}

// room says what limits leave. Only the commit point's own look counts.
func (s *site) room(ctx context.Context, p *proposalView, read reading) error {
	if read.tool == nil || len(read.tool.Limits) == 0 {
		return nil
	}
	if read.unreadable || read.changedTool {
		p.warn("What limits leave for this cannot be said.")
		return nil
	}
	found, err := s.gate.Room(ctx, read.tool, read.row)
	if err != nil {
		p.warn("What limits leave for this cannot be said.")
		return nil
	}
	for _, r := range found {
		view := s.roomView(r, read.masks)
		if view.Over {
			p.warn("The limit " + r.Name + " has no room for this now. If it is approved, it does not run.")
		}
		p.Room = append(p.Room, view)
	}
	return nil
}

func (s *site) roomView(r verbatim.Room, masks display.Masks) roomView {
	say := func(n int64) string {
		if text, ok := s.reads.reader.Minor(n, r.Currency); ok && r.Currency != "" {
			return text
		}
		return s.reads.reader.Integer(n)
	}
	v := roomView{Name: r.Name, Every: everyWords[r.Window], Takes: say(r.Amount), Left: say(r.Left()), Most: say(r.Most),
		After: say(max(0, r.Left()-r.Amount)), Over: r.Amount > r.Left(), Taken: percent(r.Taken, r.Most), This: percent(r.Amount, r.Most)}
	v.This = min(v.This, 100-v.Taken)
	if scope, err := canon.Decode([]byte(r.Scope), canon.Options{}); err == nil && scope.Len() > 0 {
		var words []string
		for _, e := range scope.Elements() {
			words = append(words, e.Text())
		}
		v.Scope = display.TextMasked(strings.Join(words, " "), masks)
	}
	return v
}

// percent rounds up, so that something is never nothing.
func percent(n, of int64) int {
	if of <= 0 || n >= of {
		return 100
	}
	return int((float64(n)/float64(of))*100 + 0.999)
}

// words are shown apart, as what they are: nobody has checked them.
func (s *site) words(read reading) *wordsView {
	a := read.row
	view := &wordsView{Model: a.Model, CallID: a.CallID, Size: many(len(a.Payload.Raw), "byte", "bytes")}
	switch {
	case len(a.Payload.Raw) == 0:
		view.Size = ""
	case read.tool == nil || len(read.tool.Secrets) > 0:
		view.Withheld = "Its own text may hold a secret and is not shown."
	case len(a.Payload.Raw) > maxWords:
		view.Withheld = "Its own text is too long to be shown here."
	default:
		view.Raw = display.Text(string(a.Payload.Raw))
	}
	if view.Size == "" && view.Model == "" && view.CallID == "" {
		return nil
	}
	return view
}
