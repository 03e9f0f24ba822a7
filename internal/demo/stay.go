package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/config"
)

const visitorArgs = `{"vendor":"Vendor B","amount":"12 thousand USD"}`

// stay leaves one payment waiting for the visitor, and the page open, until
// ctx ends.
func (s *stage) stay(ctx context.Context) error {
	p := s.cfg.Out
	p.title("Your turn: one payment waits for you")
	shown, err := s.pending(ctx, visitorArgs, "")
	if err != nil {
		return err
	}
	p.verdict(yellow, "approval required: nothing has run")
	fmt.Fprintln(p.Out)
	p.note("Open      " + p.paint(bold, s.daemon.State.Page+"/"))
	p.note("Name      " + s.name)
	p.note("Password  " + s.password)
	fmt.Fprintln(p.Out)
	p.note("Approve or reject it there, or in another terminal:")
	p.note("  " + s.terminalCommand("approve", shown.ID))
	p.note("One payment of the story is uncertain. Settle it there, under Operations.")
	p.note("Ctrl-C ends the demo and removes everything.")
	if err := s.follow(ctx, shown.ID); err != nil && ctx.Err() == nil {
		return err
	}
	<-ctx.Done()
	fmt.Fprintln(p.Out)
	return nil
}

// terminalCommand is what decides on an action of this demo's home.
func (s *stage) terminalCommand(verb, id string) string {
	return config.HomeVariable + "=" + string(s.home) + " " + s.cfg.Self + " approvals " + verb + " " + id
}

// follow waits for the visitor's decision and lets the agent try once more.
func (s *stage) follow(ctx context.Context, id string) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(500 * time.Millisecond):
		}
		found, err := s.daemon.Action(ctx, id)
		if err != nil {
			return err
		}
		if found.State != string(action.PendingApproval) {
			break
		}
	}
	fmt.Fprintln(s.cfg.Out.Out)
	s.cfg.Out.says("agent", "transfer %s  under that approval", visitorArgs)
	r, err := s.agent.call(ctx, proposal{tool: "transfer", args: visitorArgs, approval: id})
	if err != nil {
		return err
	}
	if r.status == "ok" {
		s.cfg.Out.verdict(green, "runs: it is the action that you approved")
		s.cfg.Out.says("bank", "%s", r.text)
		return nil
	}
	s.cfg.Out.verdict(red, "%s, %s: %s", r.status, r.code, r.text)
	return nil
}
