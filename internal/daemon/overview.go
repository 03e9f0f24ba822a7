package daemon

import (
	"net/http"
	"runtime"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// Count is how many open actions are in a state.
type Count struct {
	State  string `json:"state"`
	Number int    `json:"number"`
	Oldest string `json:"oldest"`     // since when the oldest is in it; RFC 3339
	Age    int64  `json:"ageSeconds"` // of the oldest, by the store's clock
}

// Window is one window of a limit that is not over.
type Window struct {
	Limit    string `json:"limit"`
	Window   string `json:"window"`
	Scope    string `json:"scope"` // what it is for, a JSON array
	Currency string `json:"currency,omitempty"`
	Most     int64  `json:"most"`
	Reserved int64  `json:"reserved"` // of runs whose outcome is not known yet
	Posted   int64  `json:"posted"`
	Ends     string `json:"ends"` // RFC 3339
}

// Overview is what an operator looks at: what is open and for how long, what
// is frozen, what limits have left.
type Overview struct {
	Page    string   `json:"page"`
	Counts  []Count  `json:"counts"`
	Stops   []Stop   `json:"stops"`
	Windows []Window `json:"windows"`
	Orphans []Orphan `json:"orphans"` // passkeys of no use at the page's origin
	// Sinks is how far the sinks of events are behind.
	Sinks []SinkLag `json:"sinks,omitempty"`
	// StoreBytes is what the home's own store takes on the disk.
	StoreBytes int64 `json:"storeBytes,omitempty"`
	// Mistakes say which changed files are not in use, and why: no values.
	Mistakes []string `json:"mistakes,omitempty"`
	// What the process itself takes, for a program that watches.
	Goroutines int    `json:"goroutines"`
	HeapBytes  uint64 `json:"heapBytes"` // in use
}

// maxWindows bounds the windows of an overview; those that end last come
// first.
const maxWindows = 200

func (d *Daemon) overview(r *http.Request) (any, error) {
	gate, ctx := d.cfg.Gate, r.Context()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	out := Overview{Goroutines: runtime.NumGoroutine(), HeapBytes: memory.HeapInuse, Page: d.state.Page, StoreBytes: d.storeBytes(), Counts: []Count{}, Stops: []Stop{}, Windows: []Window{}}
	if d.cfg.Mistakes != nil {
		out.Mistakes = d.cfg.Mistakes()
	}
	now, err := gate.Now(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := gate.Counts(ctx, d.cfg.Tenant)
	if err != nil {
		return nil, err
	}
	for _, c := range counts {
		out.Counts = append(out.Counts, Count{State: string(c.State), Number: c.Number, Oldest: stamp(c.Oldest),
			Age: int64(max(0, now.Sub(c.Oldest)) / time.Second)})
	}
	if out.Stops, err = d.standing(r); err != nil {
		return nil, err
	}
	if out.Orphans, err = d.orphans(ctx); err != nil {
		return nil, err
	}
	if out.Sinks, err = d.lags(ctx); err != nil {
		return nil, err
	}
	windows, err := gate.Budgets(ctx, action.BudgetFilter{Tenant: d.cfg.Tenant, Limit: maxWindows})
	if err != nil {
		return nil, err
	}
	for _, w := range windows {
		out.Windows = append(out.Windows, Window{Limit: w.Name, Window: string(w.Window), Scope: w.Scope, Currency: w.Currency,
			Most: w.Most, Reserved: w.Reserved, Posted: w.Posted, Ends: stamp(w.End)})
	}
	return out, nil
}

// forgetEvery is how often keys past their retention are looked for.
const forgetEvery = time.Hour

// forget lets go of idempotency keys that nobody can repeat any more.
func (d *Daemon) forget() {
	keep := action.MinKeyRetention
	if d.cfg.KeepKeys != nil {
		keep = max(keep, d.cfg.KeepKeys())
	}
	n, err := d.cfg.Gate.ForgetKeys(d.serving, keep)
	switch {
	case err != nil && d.serving.Err() == nil:
		d.log.Error("idempotency keys could not be forgotten", "error", err)
	case n > 0:
		d.log.Info("idempotency keys were forgotten", "number", n, "retention", keep)
	}
}

// forgetPayloads lets go of payloads that are past their time, beside
// everything else: where nobody has for long, there may be many.
func (d *Daemon) forgetPayloads() {
	if len(d.cfg.Retention) == 0 || !d.forgets.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer d.forgets.Store(false)
		f, err := d.cfg.Gate.ForgetPayloads(d.serving, d.cfg.Retention)
		switch {
		case err != nil && d.serving.Err() == nil:
			d.log.Error("payloads past their time could not be forgotten", "error", err)
		case f.Actions+f.Records > 0:
			d.log.Info("payloads past their time were forgotten", "actions", f.Actions, "records", f.Records, "held", len(f.Held)-1)
		}
	}()
}
