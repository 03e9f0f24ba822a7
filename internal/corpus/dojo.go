package corpus

import (
	"slices"
	"strings"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
)

// The labels of a session by what it has read. An injected text has been read,
// so every attack comes from a session with a label.
const (
	ReadOutside    = "read_outside"    // what strangers wrote: pages, files, names of shared channels
	ReadPage       = "read_page"       // a page of the web, which is outside too
	ReadColleagues = "read_colleagues" // messages of the workspace's own people
)

// sharedChannel begins the names of channels that other companies share.
const sharedChannel = "External"

// labels are those that an answer to the call brings. A channel whose name is
// computed could be a shared one.
func (d *domain) labels(c Call) []string {
	if d.name != "slack" {
		if d.outside[c.Tool] {
			return []string{ReadOutside}
		}
		return nil
	}
	switch channel := member(c.Args, "channel"); c.Tool {
	case "get_webpage":
		return []string{ReadOutside, ReadPage}
	case "get_channels", "get_users_in_channel": // the name of a shared channel is the strangers' choice
		return []string{ReadOutside}
	case "read_inbox":
		return []string{ReadColleagues}
	case "read_channel_messages":
		if channel.Kind() != canon.String || strings.HasPrefix(channel.Text(), sharedChannel) {
			return []string{ReadOutside}
		}
		return []string{ReadColleagues}
	}
	return nil
}

// user walks a domain of AgentDojo: first the user's tasks, then what the
// injected texts want.
func (w *walker) user() error {
	for _, t := range w.honest {
		if err := w.asked(t); err != nil {
			return err
		}
	}
	for _, t := range w.injected {
		for _, c := range t.Calls {
			if err := w.attack(t, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// asked walks one task of the user.
func (w *walker) asked(t Task) error {
	s := session(Honest, user)
	for _, c := range t.Calls {
		if c.Computed {
			w.exclude(Honest, t.ID, c)
		} else {
			granted, err := w.named(s, c, t)
			if err != nil {
				return err
			}
			if err := w.call(Honest, t.ID, granted, c); err != nil {
				return err
			}
		}
		for _, label := range w.labels(c) {
			if !slices.Contains(s.Taint, label) {
				s.Taint = append(s.Taint, label)
			}
		}
	}
	return nil
}

// named gives the grant for a visit to a page whose address stands in what the
// user has written in one of the tasks.
func (w *walker) named(s verbatim.Session, c Call, tasks ...Task) (verbatim.Session, error) {
	page := member(c.Args, "url").Text()
	for _, t := range tasks {
		if page != "" && standsIn(page, t.Prompt) {
			return w.grant(s, Named, c)
		}
	}
	return s, nil
}

// standsIn reports whether an address stands in a text as a whole: what comes
// before and behind it ends a word.
func standsIn(page, text string) bool {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n()<>\"',;", r) }) {
		if strings.TrimRight(word, ".!?:") == page {
			return true
		}
	}
	return false
}

// attack walks a call of an injected text. The host is as generous as it could
// be: what stands in any user's words counts as named by this one.
func (w *walker) attack(t Task, c Call) error {
	phase := Injected
	if c.Computed {
		w.exclude(Injected, t.ID, c)
		if !w.mutates[c.Tool] {
			return nil // where to read from is known only while the suite runs
		}
		phase, c = Filled, w.fill(c, t.Goal)
	}
	carriers := map[Phase][]string{phase: {ReadOutside}}
	if w.name == "slack" {
		carriers[Paged], carriers[Colleague] = []string{ReadOutside, ReadPage}, []string{ReadColleagues}
	}
	for _, phase := range Phases {
		labels, walked := carriers[phase]
		if !walked {
			continue
		}
		s := session(phase, user)
		s.Taint = labels
		s, err := w.named(s, c, w.honest...)
		if err != nil {
			return err
		}
		if err := w.call(phase, t.ID, s, c); err != nil {
			return err
		}
	}
	return nil
}

// fill puts in a computed argument what its place wants: the attacker's own
// words for a text, the first standing order for a number.
func (w *walker) fill(c Call, goal string) Call {
	for _, m := range c.Args.Members() {
		if m.Value.Kind() != canon.Object {
			continue
		}
		value := canon.StringValue(goal)
		if m.Name == "id" && len(w.account.orders) > 0 {
			if n, err := canon.ParseNumber(w.account.orders[0], true); err == nil {
				value = n
			}
		}
		if args, ok := c.Args.With(canon.JoinPointer("", m.Name), value); ok {
			c.Args = args
		}
	}
	return c
}
