package sqlite

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// VersionTable lets tests make stores of earlier versions.
const VersionTable = versionTable

// Statements are the texts of all statements that the connections at rest
// have prepared.
func (s *Store) Statements() (out []string) {
	add := func(c *conn) {
		if c == nil {
			return
		}
		for sql := range c.stmts {
			out = append(out, sql)
		}
	}
	_ = s.write(context.Background(), syncNormal, func(t *tx) error { add(t.conn); return nil })
	for range cap(s.readers) {
		c := <-s.readers
		add(c)
		s.readers <- c
	}
	return out
}

// Roomless has the journal find no room for its files; it has none yet.
func (s *Store) Roomless() { s.journal.room = func(*os.File) []byte { return nil } }

// MapRoom is how much of a file of the journal is written as memory.
const MapRoom = mapRoom

// Gathered is a WAL above a file, and the switch that says whether its writes
// are held back.
func Gathered(f vfs.File) (_ vfs.File, hold *bool) {
	g := &gathering{}
	return &gathered{File: f, system: g}, &g.hold
}

// Steps are the steps of SQLite's machine that a listing takes (sqlite.org/c3ref/c_stmtstatus_counter.html).
func (s *Store) Steps(f action.Filter) (rows, steps int, err error) {
	err = s.read(context.Background(), func(c *conn) error {
		count := func() (n int) {
			for _, stmt := range c.stmts {
				n += stmt.Status(sqlite3.STMTSTATUS_VM_STEP, true)
			}
			return n
		}
		count()
		found, err := s.filtered(c, f)
		rows, steps = len(found), count()
		return err
	})
	return rows, steps, err
}

// ListEvery has the lists of records written after so many.
func (o Options) ListEvery(n int) Options {
	o.step = n
	return o
}

// Enlist brings the lists of records up to date.
func (s *Store) Enlist() error {
	return s.write(context.Background(), syncFull, (*tx).enlist)
}

// KeepsView reports whether the writing connection keeps its view.
func (s *Store) KeepsView() (kept bool) {
	_ = s.write(context.Background(), syncNormal, func(*tx) error { kept = s.view.kept != nil; return action.ErrState })
	return kept
}

// SpoiltBatch runs verbs in one batch that write a record each. The one in the
// middle, of another tenant, fails after that; its error is lost, kept is that of
// any other.
func (s *Store) SpoiltBatch(verbs int) (kept, lost error) {
	batch := make([]*job, verbs)
	for i := range batch {
		code, tenant := "whole", "acme"
		if i == verbs/2 {
			code, tenant = "spoilt", "elsewhere"
		}
		batch[i] = &job{ctx: context.Background(), level: syncFull, done: make(chan struct{}), run: func(t *tx) error {
			if err := t.record(audit.Record{Event: audit.InputRejected, Tenant: tenant, Code: code}, nil, nil); err != nil || code == "whole" {
				return err
			}
			return action.ErrState
		}}
	}
	// A verb that waits for these to be in the line has all of them follow it at once.
	_ = s.write(context.Background(), syncNormal, func(*tx) error {
		for _, j := range batch {
			s.line.join(j)
		}
		return nil
	})
	for i, j := range batch {
		<-j.done
		if i == verbs/2 {
			lost = j.outcome
		} else if kept == nil {
			kept = j.outcome
		}
	}
	return kept, lost
}

// RecordTogether writes records in one transaction.
func (s *Store) RecordTogether(all []audit.Record) error {
	return s.write(context.Background(), syncFull, func(t *tx) error {
		for _, r := range all {
			if err := t.record(r, r.Facts, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// Split is how a reader takes the leaves of a row apart.
func Split(leaves []byte) (out [][]byte, ok bool) {
	places, ok := split(leaves, nil)
	for _, p := range places {
		out = append(out, leaves[p[0]:p[1]])
	}
	return out, ok
}

// Spans joins names of actions, given as the actions of each pack, and returns
// action, first and last of each row of their list.
func Spans(packs [][]string) (out []string) {
	var n names
	for i, actions := range packs {
		for _, a := range actions {
			n.add(int64(10*i+1), a, "t"+strconv.Itoa(len(a)))
		}
	}
	for _, s := range n.spans() {
		out = append(out, fmt.Sprint(s.id, " ", s.first/10, " ", s.last/10))
	}
	return out
}

// Remembered is how many rows the process remembers as in flight, and how many
// as begun.
func (s *Store) Remembered() (flights, runs int) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	for _, f := range s.memory.flights {
		flights += len(f)
	}
	return flights, len(s.memory.runs)
}

// TogetherAfterOthers calls verbs that come into the line one after the other,
// so that they share one batch, behind a commit of somebody else.
func (s *Store) TogetherAfterOthers(verbs ...func() error) []error {
	out := make([]error, len(verbs))
	var all sync.WaitGroup
	_ = s.write(context.Background(), syncNormal, func(*tx) error {
		for i, verb := range verbs {
			all.Go(func() { out[i] = verb() })
			for joined := 0; joined <= i; time.Sleep(time.Millisecond) {
				s.line.mu.Lock()
				joined = len(s.line.waiting)
				s.line.mu.Unlock()
			}
		}
		s.written, s.remembered = written{}, 0
		return action.ErrState
	})
	all.Wait()
	return out
}
