package verbatim

import (
	"bytes"
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// ahead is what is signed for a caller while the commit point of its action is
// on its way to the disk. None of it leaves before the store has said that the
// commit is durable, and then only what is of the very row that was stored.
// What was signed for a commit that failed goes nowhere.
type ahead struct {
	gate    *Gate
	row     action.Action // as it will be, if nothing stands in the way
	warrant func() given
	receipt atomic.Pointer[promised]
}

// given is a signed warrant; without a text it could not be signed.
type given struct {
	text   []byte
	sendBy time.Time
}

// promised is the receipt of a record that is being written.
type promised struct {
	leaf []byte
	text func() []byte
}

// maxAhead is how much older than its commit point a warrant may be. It ends
// that much sooner.
const maxAhead = time.Second

// ahead begins to sign what the caller of a new row will be given. Of that row
// all is known but the moment of its commit point, so the warrant is of the
// moment of the proposal: its deadline is earlier, never later.
func (g *Gate) ahead(ctx context.Context, p *proposal, a action.Action) *ahead {
	h := &ahead{gate: g, row: a}
	if g.hand == nil || a.Fence != 0 {
		return h
	}
	issuer, err := g.origin.get(ctx, g.cfg.Store)
	if err != nil {
		return h // whoever asks next says so
	}
	h.row.Attempt, h.row.Fence = 1, 1
	row, audience, tool, now, signer := h.row, p.audience, p.tool, p.now, g.cfg.Warrants
	h.warrant = beside(func() given {
		w := warrantOf(audience, tool, row, warrant.Mutation, now)
		w.Issuer = issuer
		text, err := w.Sign(signer)
		if err != nil {
			return given{}
		}
		return given{text, w.SendBy}
	})
	return h
}

// warrantFor is the warrant of a row that has passed the commit point: the one
// that was signed ahead, if it is of that row and not too old.
func (h *ahead) warrantFor(ctx context.Context, p *proposal, a action.Action) (given, error) {
	if age := a.UpdatedAt.Sub(p.now); h.warrant != nil && age >= 0 && age <= maxAhead && sameAttempt(h.row, a) {
		if w := h.warrant(); w.text != nil {
			return w, nil
		}
	}
	w := warrantOf(p.audience, p.tool, a, warrant.Mutation, a.UpdatedAt)
	text, err := h.gate.signWarrant(ctx, w)
	return given{text, w.SendBy}, err
}

// sameAttempt compares all that a warrant says of a row, but the moment.
func sameAttempt(a, b action.Action) bool {
	return a.ID == b.ID && a.Attempt == b.Attempt && a.Fence == b.Fence && a.Tenant == b.Tenant && a.Principal == b.Principal &&
		a.Agent == b.Agent && a.Tool == b.Tool && a.Payload.Args == b.Payload.Args
}

// written is told by the store of the row that it is about to commit.
func (h *ahead) written(a action.Action) {
	if h.gate.cfg.Receipts == nil || a.Leaf == nil {
		return
	}
	h.receipt.Store(&promised{a.Leaf, beside(func() []byte {
		return h.gate.sign(context.Background(), a.Leaf, audit.KeptSynced)
	})})
}

// receiptFor is the receipt of a record that is stored: the one that was signed
// ahead, if it is of that record. It is nil where there is none, or where it
// could not be signed: the outcome is true without.
func (h *ahead) receiptFor(leaf []byte) []byte {
	if r := h.receipt.Load(); r != nil && bytes.Equal(r.leaf, leaf) {
		return r.text()
	}
	return nil
}

// beside runs produce on a goroutine of its own. What it returns waits for what
// it has made, and may be called once; that is zero where it panicked.
func beside[T any](produce func() T) func() T {
	made := make(chan T, 1)
	go func() {
		var x T
		defer func() {
			_ = recover()
			made <- x
		}()
		x = produce()
	}()
	return func() T { return <-made }
}
