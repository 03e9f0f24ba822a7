package resolve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Source gives the rows of a table that lives elsewhere: a service, a
// database. The version names this very state of the rows; where it is empty,
// the digest of the rows is the version. Errors are for the operator and are
// never shown to a model.
type Source interface {
	Rows(ctx context.Context) (rows []Row, version string, err error)
}

// MaxRefresh is the longest time for which rows of a source are believed.
const MaxRefresh = 5 * time.Minute

var errSource = errors.New("a table without source, or a refresh that is not 0 to 5m")

// tableSource remembers the rows of a source for a while.
type tableSource struct {
	source  Source
	refresh time.Duration
	turn    chan struct{} // held by the one who asks; others wait with their own deadlines
	readAt  time.Time     // zero: ask again
	now     index
}

// NewSourceTable builds a table that asks a source. Its rows are believed for
// the time of refresh; 0 asks for every call. An older answer is never used:
// while the source fails, calls are refused. A move of an alias is seen, also
// between approval and run, once refresh is over. The source is not asked
// here, so that one that is down does not keep a gateway down.
func NewSourceTable(s Source, refresh time.Duration, opt TableOptions) (*Table, error) {
	if s == nil || refresh < 0 || refresh > MaxRefresh {
		return nil, errSource
	}
	opt, err := opt.compiled()
	if err != nil {
		return nil, err
	}
	return &Table{opt: opt, source: &tableSource{source: s, refresh: refresh, turn: make(chan struct{}, 1)}}, nil
}

// rows returns the rows, asked for now or lately enough.
func (s *tableSource) rows(ctx context.Context, opt TableOptions) (index, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return index{}, ctx.Err()
	}
	asked := time.Now() // before the question, so that a slow answer is not younger than it is
	if !s.readAt.IsZero() && asked.Sub(s.readAt) < s.refresh {
		return s.now, nil
	}
	s.readAt, s.now = time.Time{}, index{} // whatever happens, the old rows are over
	ix, err := s.ask(ctx, opt)
	if err != nil {
		return index{}, err
	}
	s.readAt, s.now = asked, ix
	return ix, nil
}

func (s *tableSource) ask(ctx context.Context, opt TableOptions) (index, error) {
	rows, version, err := s.source.Rows(ctx)
	if err != nil {
		return index{}, fmt.Errorf("ask for the rows: %v", err) // not wrapped: violations in it are none in the arguments
	}
	ix, err := newIndex(rows, opt)
	if err != nil {
		return index{}, fmt.Errorf("rows of a source: %w", err)
	}
	if ix.version = version; version == "" {
		ix.version = "rows:" + short(canon.Sum(rowsValue(rows).Canonical()))
	}
	return ix, nil
}
