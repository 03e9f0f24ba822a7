package client

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Vote is one person's answer.
type Vote struct {
	Voter   string // account id
	Approve bool
	Method  string
	At      time.Time
}

// Record is one entry of the log about an action.
type Record struct {
	Seq         int64
	At          time.Time
	Event       string
	By          string
	From, To    string
	Code        string
	Facts       map[string]string
	Commitments map[string]string
}

// Votes lists the votes on an action, oldest first.
func (c *Client) Votes(ctx context.Context, id string) ([]Vote, error) {
	o, err := c.list(ctx, actionPath(id)+"/votes")
	if err != nil {
		return nil, err
	}
	var out []Vote
	for _, v := range o.objects("votes", true) {
		out = append(out, Vote{v.text("voter", true), v.flag("approve", true), v.text("method", true), v.time("at", true)})
	}
	return out, *o.err
}

// Records lists what the log holds of an action, newest first: at most 100,
// before a record, or the newest where before is 0. next is for the page after
// this one, and 0 on the last.
func (c *Client) Records(ctx context.Context, id string, before int64) (list []Record, next int64, err error) {
	path := actionPath(id) + "/records"
	if before != 0 {
		path += "?before=" + strconv.FormatInt(before, 10)
	}
	o, err := c.list(ctx, path)
	if err != nil {
		return nil, 0, err
	}
	for _, r := range o.objects("records", true) {
		list = append(list, r.record())
	}
	return list, o.number("next", false), *o.err
}

func (o object) record() Record {
	return Record{Seq: o.number("seq", true), At: o.time("at", true), Event: o.text("event", true), By: o.text("by", false), From: o.text("from", false),
		To: o.text("to", false), Code: o.text("code", false), Facts: o.texts("facts"), Commitments: o.texts("commitments")}
}

// Receipts returns a signed receipt, a DSSE envelope, for each of the newest
// records of an action, newest first.
func (c *Client) Receipts(ctx context.Context, id string) ([][]byte, error) {
	o, err := c.list(ctx, actionPath(id)+"/receipts")
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, r := range o.objects("receipts", true) {
		out = append(out, r.v.Canonical())
	}
	return out, *o.err
}

// Evidence returns the bundle of an action, for audit.ParseBundle. A
// [*Problem] with code not_signed asks for another try in a second.
func (c *Client) Evidence(ctx context.Context, id string) ([]byte, error) {
	got, err := c.get(ctx, actionPath(id)+"/evidence", quick)
	if err != nil {
		return nil, err
	}
	if got.status != http.StatusOK {
		_, err = got.read()
		return nil, err
	}
	v, err := canon.Decode(got.text, limits)
	if err != nil || v.Kind() != canon.Object {
		return nil, ErrAnswer
	}
	return got.text, nil
}
