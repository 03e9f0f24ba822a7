package postgres_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/store/postgres"
)

func TestPackedRowsArriveAsTheyWere(t *testing.T) {
	t.Parallel()
	s := openAt(t, pgtest.Start(t).Schema(t), nil)
	if got, err := s.Unpack(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("no rows became %v: %v", got, err)
	}
	rapid.Check(t, func(r *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) postgres.Packed {
			p := postgres.Packed{Text: rapid.String().Draw(r, "text"), Int: rapid.Int64().Draw(r, "int"), Bool: rapid.Bool().Draw(r, "bool"),
				Blob: rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(r, "blob")}
			if rapid.Bool().Draw(r, "null") {
				p.Blob = nil
			}
			if ns := rapid.Int64Range(0, 1<<60).Draw(r, "time"); ns > 0 {
				p.Time = time.Unix(0, ns).UTC()
			}
			return p
		}), 1, 70).Draw(r, "rows")
		got, err := s.Unpack(t.Context(), rows)
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(rows, got); diff != "" {
			r.Error(diff)
		}
	})
}
