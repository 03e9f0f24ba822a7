package main

import (
	"testing"
	"time"
)

func TestSpanIsSoLongAgoOrAnInstant(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 3, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"30d": now.AddDate(0, 0, -30), "0d": now, "90m": now.Add(-90 * time.Minute), "1h30m": now.Add(-90 * time.Minute),
		"2026-05-04T12:00:00Z": time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC),
	} {
		if got, err := ago(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "-1h", "30", "1.5d", "99999999d", "yesterday"} {
		if got, err := ago(text, now); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}
