package action_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/action"
)

func TestWindowsAreFixedInUTC(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 2, 29, 23, 30, 0, 1, time.FixedZone("x", -3600)) // 2024-03-01 00:30 UTC, a Friday
	for w, want := range map[action.Window][2]string{
		action.Hour:  {"2024-03-01T00:00:00Z", "2024-03-01T01:00:00Z"},
		action.Day:   {"2024-03-01T00:00:00Z", "2024-03-02T00:00:00Z"},
		action.Week:  {"2024-02-26T00:00:00Z", "2024-03-04T00:00:00Z"},
		action.Month: {"2024-03-01T00:00:00Z", "2024-04-01T00:00:00Z"},
	} {
		start, end, ok := w.Bounds(at)
		if !ok || start.Format(time.RFC3339) != want[0] || end.Format(time.RFC3339) != want[1] {
			t.Errorf("%s: %s to %s, want %s to %s", w, start, end, want[0], want[1])
		}
	}
	if _, _, ok := action.Window("year").Bounds(at); ok {
		t.Error("an unknown window has bounds")
	}
}

func TestWindowsTileTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		at := time.Unix(rapid.Int64Range(0, 1<<34).Draw(r, "second"), rapid.Int64Range(0, 999_999_999).Draw(r, "ns"))
		w := rapid.SampledFrom([]action.Window{action.Hour, action.Day, action.Week, action.Month}).Draw(r, "window")
		start, end, _ := w.Bounds(at)
		if at.Before(start) || !at.Before(end) {
			r.Fatalf("%s is not in %s to %s", at, start, end)
		}
		if w == action.Week && start.Weekday() != time.Monday {
			r.Fatalf("a week begins on %s", start.Weekday())
		}
		if next, _, _ := w.Bounds(end); !next.Equal(end) {
			r.Fatalf("after %s comes %s", end, next)
		}
		if again, _, _ := w.Bounds(end.Add(-1)); !again.Equal(start) {
			r.Fatalf("the last moment of %s is in %s", start, again)
		}
	})
}

func TestOnlyProofOrAPersonGivesRoomBack(t *testing.T) {
	t.Parallel()
	proved, reported := &action.Result{Evidence: action.EvidenceProved}, &action.Result{Evidence: action.EvidenceReported}
	for _, tc := range []struct {
		to   action.State
		r    *action.Result
		want action.ReservationState
	}{
		{action.Succeeded, nil, action.Posted}, {action.ReconciledSucceeded, reported, action.Posted},
		{action.Failed, proved, action.Void}, {action.Failed, reported, action.Posted}, {action.Failed, nil, action.Posted},
		{action.ReconciledFailed, nil, action.Void}, {action.Uncertain, nil, ""}, {action.Executing, nil, ""},
	} {
		if got := action.SettledReservation(tc.to, tc.r); got != tc.want {
			t.Errorf("%s with %+v: %q, want %q", tc.to, tc.r, got, tc.want)
		}
	}
}

func TestLimitsThatCannotBeKeptAreRefused(t *testing.T) {
	t.Parallel()
	good := action.Limit{Name: "n", Window: action.Day, Amount: 1, Most: action.MaxAmount}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*action.Limit){
		"no name":             func(l *action.Limit) { l.Name = "" },
		"no window":           func(l *action.Limit) { l.Window = "" },
		"a negative amount":   func(l *action.Limit) { l.Amount = -1 },
		"a huge amount":       func(l *action.Limit) { l.Amount = action.MaxAmount + 1 },
		"a negative limit":    func(l *action.Limit) { l.Most = -1 },
		"a limit that is too": func(l *action.Limit) { l.Most = action.MaxAmount + 1 },
	} {
		bad := good
		if change(&bad); bad.Check() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
