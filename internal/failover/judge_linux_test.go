package failover_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

func text(v any) string { return fmt.Sprint(v) }

// verdict is what is wrong after a run.
type verdict struct {
	double []string // proposals that took effect more than once
	lost   []string // answers that did not hold: an end that is another one now, or gone
	untrue []string // states that contradict the provider or the record
	undone int      // rows that were under way, as somebody was told, and then were not there
	rows   map[action.State]int
	calls  int
	happen int // effects
}

// judge lets every lease run out, settles what can be, and compares store,
// provider and what callers were told.
func judge(t *testing.T, c *cluster, d *driver, providers string) verdict {
	t.Helper()
	s, err := openStore(c.dsn(c.primary), func() time.Time { return time.Now().Add(time.Hour) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	gate := newGate(t, place{Dir: filepath.Join(t.TempDir(), "judge"), Provider: providers}, s, nil).Gate
	if _, err := gate.Sweep(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if _, err := gate.Settle(t.Context(), action.Filter{Tenant: tenant}); err != nil {
		t.Fatal(err)
	}
	if _, err := gate.Records(t.Context(), audit.Filter{Limit: 1}); err != nil { // so that all have a number
		t.Fatal(err)
	}
	v := verdict{untrue: d.notTrue, rows: map[action.State]int{}, calls: int(d.calls.Load())}
	rows := everyRow(t, gate.Actions)
	v.effects(t, rows, providers)
	v.answers(rows, d.told)
	v.records(t, c, rows)
	return v
}

func everyRow(t *testing.T, list func(context.Context, action.Filter) ([]action.Action, error)) map[string]action.Action {
	t.Helper()
	f, all := action.Filter{Tenant: tenant, Limit: 500}, map[string]action.Action{}
	for {
		page, err := list(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page {
			all[a.ID] = a
		}
		if len(page) < f.Limit {
			return all
		}
		f.Before = page[len(page)-1].ID
	}
}

// effects holds the rows to the files of the providers.
func (v *verdict) effects(t *testing.T, rows map[string]action.Action, providers string) {
	t.Helper()
	happened := map[string]int{}
	for tool := range tools() {
		effects, err := provider(providers, tool).Effects()
		if err != nil {
			t.Fatal(err)
		}
		for key, n := range effects {
			happened[key] += n
		}
	}
	proposals := map[string]int{} // by idempotency key
	for id, a := range rows {
		key := action.ProviderKey(id, 1)
		n := happened[key]
		delete(happened, key)
		proposals[a.Key] += n
		v.happen += n
		v.rows[a.State]++
		if n < least(a.State) || n > most(a.State) {
			v.untrue = append(v.untrue, fmt.Sprintf("%s is %s and took effect %d times", id, a.State, n))
		}
	}
	for key, n := range proposals {
		if n > 1 {
			v.double = append(v.double, fmt.Sprintf("%s took effect %d times", key, n))
		}
	}
	v.strays(t, happened, providers, proposals)
}

// strays are effects of rows that are gone. The proposal is in the arguments.
func (v *verdict) strays(t *testing.T, happened map[string]int, providers string, proposals map[string]int) {
	t.Helper()
	of := map[string]string{}
	for tool := range tools() {
		b, err := os.ReadFile(filepath.Join(providers, tool))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, line := range lines(b) {
			var l struct{ Key, Args string }
			var args struct{ N int }
			if json.Unmarshal(line, &l) == nil && json.Unmarshal([]byte(l.Args), &args) == nil {
				of[l.Key] = fmt.Sprintf("key-%d", args.N)
			}
		}
	}
	for key, n := range happened {
		v.happen += n
		v.lost = append(v.lost, fmt.Sprintf("an effect of %s without a row, %d times", of[key], n))
		if proposals[of[key]] += n; proposals[of[key]] > 1 {
			v.double = append(v.double, fmt.Sprintf("%s took effect %d times, once without a row", of[key], proposals[of[key]]))
		}
	}
}

// least and most are the effects that a state allows.
func least(s action.State) int {
	if s == action.Succeeded || s == action.ReconciledSucceeded {
		return 1
	}
	return 0
}

func most(s action.State) int {
	switch s {
	case action.Succeeded, action.ReconciledSucceeded, action.Uncertain:
		return 1
	case action.Executing: // by now every lease is over
		return -1
	default:
		return 0
	}
}

// answers holds the rows to what callers were told.
func (v *verdict) answers(rows map[string]action.Action, told map[string][]action.State) {
	for id, states := range told {
		now := rows[id].State
		for _, said := range states {
			if undone(said, now) {
				v.undone++
				break
			}
			if !holds(said, now) {
				v.lost = append(v.lost, fmt.Sprintf("it was told that %s is %s; now it is %q", id, said, now))
				break
			}
		}
	}
}

// undone: a commit that was said to be done and was not can be read by others
// until a failover takes it back. Whoever asked for it was not told so, and it
// was not run; what others can have been told of it is that it is under way.
// A row that came with that commit is gone then, and one that was there is
// approved as before, or has gone on from there without a run.
func undone(said, now action.State) bool {
	return said == action.Executing && !holds(said, now) && (now == "" || holds(action.Approved, now))
}

// holds reports whether a state may follow one that was told. A caller may be
// told that it is not known how a run ended whose end is then known after all.
func holds(said, now action.State) bool {
	if said == now || said == action.Uncertain && (now == action.Succeeded || now == action.Failed) {
		return true
	}
	seen, next := map[action.State]bool{}, []action.State{said}
	for len(next) > 0 {
		s := next[0]
		next = next[1:]
		for _, to := range action.States() {
			if action.CanMove(s, to) && !seen[to] {
				seen[to] = true
				next = append(next, to)
			}
		}
	}
	return seen[now]
}

// records holds the rows to the audit log: the last record of each names its
// state, and the records are numbered without a gap.
func (v *verdict) records(t *testing.T, c *cluster, rows map[string]action.Action) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), c.dsn(c.primary))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.WithoutCancel(t.Context()))
	leaves, err := db.Query(t.Context(), "SELECT leaf FROM leaf ORDER BY seq")
	if err != nil {
		t.Fatal(err)
	}
	defer leaves.Close()
	last, n := map[string]string{}, int64(0)
	for leaves.Next() {
		var b []byte
		if err := leaves.Scan(&b); err != nil {
			t.Fatal(err)
		}
		r, err := audit.ParseLeaf(b)
		if err != nil {
			t.Fatal(err)
		}
		if n++; r.Seq != n {
			v.untrue = append(v.untrue, fmt.Sprintf("record %d has the number %d", n, r.Seq))
		}
		if r.To != "" {
			last[r.Action] = r.To
		}
	}
	if leaves.Err() != nil {
		t.Fatal(leaves.Err())
	}
	for id, a := range rows {
		if last[id] != string(a.State) {
			v.untrue = append(v.untrue, fmt.Sprintf("%s is %s, its last record says %q", id, a.State, last[id]))
		}
	}
}

func lines(b []byte) [][]byte { return bytes.Split(bytes.TrimSpace(b), []byte("\n")) }
