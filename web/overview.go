package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// How far the overview looks back.
const (
	overviewDays  = 14
	overviewPage  = 1000
	overviewMost  = 20_000 // records
	overviewTools = 10
)

// overviewView is how decisions, waits and uncertain actions have gone.
type overviewView struct {
	base
	Open      []openView
	Decisions chart
	Waits     chart
	Uncertain chart
	Tools     []toolTally
	Looked    int // records that were looked at, where that is the limit
}

// toolTally is what was decided on one tool.
type toolTally struct {
	Tool                             string
	Allowed, Asked, Denied, Rejected int
}

func (t toolTally) all() int { return t.Allowed + t.Asked + t.Denied + t.Rejected }

// The series of the charts, and how they are drawn.
var (
	decisionSeries = []series{{"allowed", "good"}, {"asked people", "wait"}, {"denied", "bad"}, {"arguments refused", "flat"}}
	waitSeries     = []series{{"answered", "good"}, {"ran out or withdrawn", "bad"}}
	ageSeries      = []series{{"uncertain", "alarm"}}
)

// bucket is a span of time, up to but without its end; 0 has no end.
type bucket struct {
	name string
	end  time.Duration
}

var (
	waitBuckets = []bucket{{"< 1 min", time.Minute}, {"1–5 min", 5 * time.Minute}, {"5–15 min", 15 * time.Minute}, {"15–60 min", time.Hour},
		{"1–4 h", 4 * time.Hour}, {"from 4 h", 0}}
	ageBuckets = []bucket{{"< 1 h", time.Hour}, {"1–24 h", 24 * time.Hour}, {"1–7 d", 7 * 24 * time.Hour}, {"from 7 d", 0}}
)

func bucketOf(list []bucket, d time.Duration) int {
	for i, b := range list {
		if b.end == 0 || d < b.end {
			return i
		}
	}
	return len(list) - 1
}

func bucketNames(list []bucket) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = b.name
	}
	return out
}

func (s *site) overview(w http.ResponseWriter, r *http.Request, v visit) {
	page := overviewView{base: s.base(v, "Overview", "operate")}
	var open operateView
	t, looked, err := s.counted(r.Context(), v)
	if err == nil {
		err = s.readOpen(r.Context(), v, &open)
	}
	var ages [][]int
	if err == nil {
		ages, err = s.uncertainAges(r.Context(), v)
	}
	if err != nil {
		s.broken(w, v)
		return
	}
	page.Open, page.Looked, page.Tools = open.Open, looked, t.topTools()
	page.Decisions = newChart("decisions", "Decisions by day", "Day", t.days, decisionSeries, t.decisions)
	page.Decisions.Newest = true
	page.Waits = newChart("waits", "How long calls waited for people", "Waited", bucketNames(waitBuckets), waitSeries, t.waits)
	page.Uncertain = newChart("uncertain", "How long calls have been uncertain", "Age", bucketNames(ageBuckets), ageSeries, ages)
	s.render(w, http.StatusOK, "overview", page)
}

// counts are what the records of some days say.
type counts struct {
	days      []string // names, oldest first
	starts    []time.Time
	decisions [][]int // by day, by series
	waits     [][]int // by bucket, by series
	tools     map[string]*toolTally
	ended     map[string]wait // of calls that have waited, by action
}

type wait struct {
	at       time.Time
	answered bool
}

func (s *site) newCounts() *counts {
	at := s.reads.reader.Zone
	if at == nil {
		at = time.UTC
	}
	year, month, day := s.now().In(at).Date()
	c := &counts{tools: map[string]*toolTally{}, ended: map[string]wait{}, waits: grid(len(waitBuckets), len(waitSeries)),
		decisions: grid(overviewDays, len(decisionSeries))}
	for i := range overviewDays {
		start := time.Date(year, month, day-overviewDays+1+i, 0, 0, 0, 0, at)
		c.starts, c.days = append(c.starts, start), append(c.days, start.Format("2 Jan"))
	}
	return c
}

func grid(rows, columns int) [][]int {
	out := make([][]int, rows)
	for i := range out {
		out[i] = make([]int, columns)
	}
	return out
}

// counted reads the records of the days. looked is how many were looked at
// where that is the limit, else 0.
func (s *site) counted(ctx context.Context, v visit) (c *counts, looked int, err error) {
	c = s.newCounts()
	for before := int64(0); looked < overviewMost; {
		page, err := s.gate.Records(ctx, audit.Filter{Tenant: v.account.Tenant, Limit: overviewPage, Before: before})
		if err != nil {
			return c, 0, err
		}
		for _, r := range page {
			looked++
			before = r.Seq
			if r.At.Before(c.starts[0]) {
				return c, 0, nil
			}
			if r.Tenant == v.account.Tenant { // what was done to everybody is no decision
				c.add(r)
			}
		}
		if len(page) < overviewPage {
			return c, 0, nil
		}
	}
	return c, looked, nil
}

// add counts one record. They come newest first, so the end of a wait comes
// before its beginning.
func (c *counts) add(r audit.Record) {
	fresh := r.From == string(action.Received)
	switch {
	case r.Event == audit.ReadAllowed, r.Event == audit.HandoffAllowed, r.Event == audit.ActionStarted && fresh:
		c.decided(r, 0)
	case r.Event == audit.ActionSuspended:
		c.decided(r, 1)
		if end, known := c.ended[r.Action]; known {
			c.waits[bucketOf(waitBuckets, end.at.Sub(r.At))][map[bool]int{true: 0, false: 1}[end.answered]]++
		}
	case r.Event == audit.ActionDenied && fresh:
		c.decided(r, 2)
	case r.Event == audit.InputRejected:
		c.decided(r, 3)
	case r.From == string(action.PendingApproval) && r.To != string(action.PendingApproval) && r.To != "":
		c.ended[r.Action] = wait{r.At, r.Event == audit.ActionApproved || r.Event == audit.ActionDenied}
	}
}

func (c *counts) decided(r audit.Record, what int) {
	day := 0
	for day+1 < len(c.starts) && !r.At.Before(c.starts[day+1]) {
		day++
	}
	c.decisions[day][what]++
	t := c.tools[r.Tool]
	if t == nil {
		t = &toolTally{Tool: r.Tool}
		c.tools[r.Tool] = t
	}
	for i, n := range []*int{&t.Allowed, &t.Asked, &t.Denied, &t.Rejected} {
		if i == what {
			*n++
		}
	}
}

// topTools are the tools that most was decided on.
func (c *counts) topTools() []toolTally {
	var out []toolTally
	for _, t := range c.tools {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b toolTally) int { return cmp.Or(cmp.Compare(b.all(), a.all()), cmp.Compare(a.Tool, b.Tool)) })
	return out[:min(len(out), overviewTools)]
}

// uncertainAges says how long what is uncertain has been so.
func (s *site) uncertainAges(ctx context.Context, v visit) ([][]int, error) {
	ages := grid(len(ageBuckets), 1)
	rows, err := s.gate.Actions(ctx, action.Filter{Tenant: v.account.Tenant, States: []action.State{action.Uncertain}, Limit: overviewPage})
	for _, a := range rows {
		at := a.UpdatedAt
		if a.Result != nil && !a.Result.At.IsZero() {
			at = a.Result.At
		}
		ages[bucketOf(ageBuckets, s.now().Sub(at))][0]++
	}
	return ages, err
}
