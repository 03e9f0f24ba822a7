package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// Verify checks the evidence of one action with keys that its caller trusts.
// It fails with action.ErrNotFound, verbatim.ErrNotSigned, or an error that
// says what does not hold.
type Verify func(ctx context.Context, tenant, id string) (audit.Evidence, error)

const toVerify = "verify"

// maxSteps is how many records of an action one page shows.
const maxSteps = 500

// timelineView is what happened to one action, oldest first.
type timelineView struct {
	base
	ID      string
	Tool    string
	Row     bool // there is a page of the action; a read has none
	Steps   []stepView
	More    bool // there are later records than are shown
	Took    string
	Token   string // of the form that verifies; "" where nothing can be
	Checked *checkedView
}

type stepView struct {
	recordItem
	After string // since the step before; "" for the first
	// Said is what the voter wrote, and Unsigned that it is no part of what they
	// signed: a record holds a commitment to it, not the text.
	Said     string
	Unsigned bool
}

// checkedView is what a verification found.
type checkedView struct {
	Holds     bool
	Problem   string
	Log       string
	Size      int64
	Records   int
	ByLog     bool
	Witnesses []string
	Votes     int
	Claim     string
}

func (s *site) timeline(w http.ResponseWriter, r *http.Request, v visit) {
	if page, ok := s.findTimeline(w, r, v); ok {
		s.render(w, http.StatusOK, "timeline", page)
	}
}

// findTimeline reads the records of an action and answers the request itself
// where it cannot. What belongs to another tenant looks like nothing.
func (s *site) findTimeline(w http.ResponseWriter, r *http.Request, v visit) (timelineView, bool) {
	id := r.PathValue("id")
	page := timelineView{base: s.base(v, "Timeline", "records"), ID: id}
	found, err := s.stepsOf(r.Context(), v, id)
	_, errRow := s.gate.Action(r.Context(), v.account.Tenant, id)
	if errors.Is(errRow, action.ErrNotFound) {
		errRow = nil
	} else {
		page.Row = true
	}
	switch {
	case errors.Join(err, errRow) != nil:
		s.broken(w, v)
		return page, false
	case len(found) == 0:
		s.notFound(w, v)
		return page, false
	}
	if page.More = len(found) > maxSteps; page.More {
		found = found[:maxSteps]
	}
	if err := s.steps(r.Context(), v, &page, found); err != nil {
		s.broken(w, v)
		return page, false
	}
	page.Took = elapsed(found[len(found)-1].At.Sub(found[0].At))
	if s.verify != nil {
		page.Token = s.formToken(v, toVerify, id)
	}
	return page, true
}

// steps fills in what the records tell, and beside a vote what its voter wrote.
func (s *site) steps(ctx context.Context, v visit, page *timelineView, found []audit.Record) error {
	known, said := names{}, map[string]action.Vote{}
	if page.Row {
		var err error
		if said, err = s.voters(ctx, v, page.ID); err != nil {
			return err
		}
	}
	for i, record := range found {
		item, err := s.recordItem(ctx, v, record, known)
		if err != nil {
			return err
		}
		step := stepView{recordItem: item}
		if i > 0 {
			step.After = elapsed(record.At.Sub(found[i-1].At))
		}
		if record.Event == audit.VoteApprove || record.Event == audit.VoteReject {
			step.Said, step.Unsigned = said[record.By].Reason, !reasonSigned(said[record.By])
		}
		page.Steps = append(page.Steps, step)
		if page.Tool == "" {
			page.Tool = record.Tool
		}
	}
	return nil
}

// voters are the votes on an action by who gave them; nobody votes twice.
func (s *site) voters(ctx context.Context, v visit, id string) (map[string]action.Vote, error) {
	votes, err := s.gate.Votes(ctx, v.account.Tenant, id)
	out := map[string]action.Vote{}
	for _, vote := range votes {
		out[vote.Voter] = vote
	}
	return out, err
}

// stepsOf reads the records of an action, oldest first, and at most one more
// than a page shows.
func (s *site) stepsOf(ctx context.Context, v visit, id string) ([]audit.Record, error) {
	var out []audit.Record
	if typed(id) != id || id == "" {
		return nil, nil
	}
	for before := int64(0); ; {
		page, err := s.gate.Records(ctx, audit.Filter{Tenant: v.account.Tenant, Action: id, Limit: maxSteps, Before: before})
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			if r.Tenant == v.account.Tenant {
				out = append(out, r)
			}
			before = r.Seq
		}
		if len(page) < maxSteps || len(out) > 10*maxSteps {
			slices.Reverse(out)
			return out, nil
		}
	}
}

// elapsed says a time between two records, which are whole milliseconds.
func elapsed(d time.Duration) string {
	if d < time.Second {
		return many(int(max(d, 0).Milliseconds()), "ms", "ms")
	}
	return span(d)
}

// checkEvidence verifies the bundle of an action. It changes nothing; it is a
// form because it costs more than a page.
func (s *site) checkEvidence(w http.ResponseWriter, r *http.Request, v visit) {
	fields, err := readForm(r, "token")
	id := r.PathValue("id")
	if err != nil || s.verify == nil || !s.ownForm(v, fields["token"], toVerify, id) {
		s.badForm(w, v)
		return
	}
	page, ok := s.findTimeline(w, r, v)
	if !ok {
		return
	}
	e, err := s.verify(r.Context(), v.account.Tenant, id)
	if errors.Is(err, action.ErrNotFound) {
		s.notFound(w, v)
		return
	}
	page.Checked = checked(e, err)
	s.render(w, http.StatusOK, "timeline", page)
}

func checked(e audit.Evidence, err error) *checkedView {
	switch {
	case errors.Is(err, verbatim.ErrNotSigned):
		return &checkedView{Problem: "The log has not signed all of these records yet. It does within a second; verify again."}
	case err != nil:
		return &checkedView{Problem: "The evidence does not hold: " + err.Error()}
	}
	c := &checkedView{Holds: true, Log: e.Log, Size: e.Size, Records: len(e.Steps), ByLog: e.ByLog, Votes: len(e.Votes), Claim: e.Claim}
	for name := range e.Witnesses {
		c.Witnesses = append(c.Witnesses, name)
	}
	slices.Sort(c.Witnesses)
	return c
}
