package web

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/seed-de4804fb/verbatim/audit"
)

// How far one search in the records looks back.
const (
	recordsAtOnce = 500
	recordsMost   = 5000
)

// findRecords goes back through the log of the tenant. last is the number
// after which an older page goes on, 0 where there is nothing older. looked is
// how many were looked at.
func (s *site) findRecords(ctx context.Context, v visit, f lookingFor, filter audit.Filter) (found []recordItem, last int64, looked int, err error) {
	known := names{}
	filter.Tenant, filter.Limit = v.account.Tenant, recordsAtOnce
	if f.Text == "" && f.Day == "" {
		filter.Limit = pageSize
	}
	for looked < recordsMost {
		page, err := s.gate.Records(ctx, filter)
		if err != nil {
			return nil, 0, looked, err
		}
		for _, r := range page {
			looked++
			filter.Before = r.Seq
			if f.Day != "" && r.At.Before(f.start) {
				return found, 0, looked, nil // the log's time never goes back
			}
			item, err := s.recordItem(ctx, v, r, known)
			if err != nil {
				return nil, 0, looked, err
			}
			if (f.Day == "" || r.At.Before(f.end)) && item.says(f.Text) {
				found = append(found, item)
			}
			if len(found) == pageSize {
				return found, r.Seq, looked, nil
			}
		}
		if len(page) < filter.Limit {
			return found, 0, looked, nil
		}
	}
	return found, filter.Before, looked, nil
}

// says reports whether a text stands in what a person sees of a record.
func (i recordItem) says(text string) bool {
	if text == "" {
		return true
	}
	seen := []string{strconv.FormatInt(i.Seq, 10), i.ID, i.Event, i.Says, i.Tool, i.Agent, i.Who, i.By, i.From, i.To, i.Code, i.Action}
	for name, value := range i.Facts {
		seen = append(seen, name, value)
	}
	return strings.Contains(strings.ToLower(strings.Join(seen, "\n")), strings.ToLower(text))
}

// older is the address of the page that goes on.
func (p recordsView) older(before int64) string {
	q := url.Values{"before": {strconv.FormatInt(before, 10)}}
	for name, value := range map[string]string{"q": p.Text, "day": p.Day, "action": p.Action, "event": p.Event} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return "/records?" + q.Encode()
}
