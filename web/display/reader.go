package display

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Reader is how one person reads numbers and times. The zero Reader reads
// them as in English, in UTC. A Reader changes how a value is spelled out
// beside it, never the value.
type Reader struct {
	Numbers Numbers
	Zone    *time.Location // nil means UTC
}

// Numbers is how digits are grouped. The zero Numbers is 1,234.56.
type Numbers struct {
	Group   string // between thousands
	Decimal string // before the fraction
	Lakh    bool   // groups of two above the thousands
	After   bool   // the currency stands after the amount
}

func (n Numbers) marks() (group, decimal string) {
	if n.Decimal == "" {
		return ",", "."
	}
	return n.Group, n.Decimal
}

// Integer groups the digits of a whole number.
func (r Reader) Integer(n int64) string {
	digits := fmt.Sprint(n)
	if sign, rest, negative := strings.Cut(digits, "-"); negative {
		return sign + "-" + r.group(rest)
	}
	return r.group(digits)
}

// group puts the reader's mark between thousands.
func (r Reader) group(digits string) string {
	mark, _ := r.Numbers.marks()
	var b strings.Builder
	for i, d := range digits {
		left := len(digits) - i
		every := left%3 == 0
		if r.Numbers.Lakh && left > 3 {
			every = (left-3)%2 == 0
		}
		if i > 0 && every {
			b.WriteString(mark)
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Time spells out a moment in the reader's zone, with the offset that it has
// there: "2 Jan 2026, 15:04:05 UTC+1".
func (r Reader) Time(t time.Time) string {
	t = r.in(t)
	return t.Format("2 Jan 2006, 15:04:05 ") + offset(t)
}

// Day names the day of a moment: "Monday, 2 Jan 2026".
func (r Reader) Day(t time.Time) string { return r.in(t).Format("Monday, 2 Jan 2006") }

// Clock is the time of a moment within its day: "15:04".
func (r Reader) Clock(t time.Time) string { return r.in(t).Format("15:04") }

func (r Reader) in(t time.Time) time.Time {
	if r.Zone == nil {
		return t.UTC()
	}
	return t.In(r.Zone)
}

func offset(t time.Time) string {
	_, seconds := t.Zone()
	if seconds == 0 {
		return "UTC"
	}
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	text := fmt.Sprintf("UTC%s%d", sign, seconds/3600)
	if minutes := seconds / 60 % 60; minutes > 0 {
		text += fmt.Sprintf(":%02d", minutes)
	}
	return text
}

// Offset is how far the reader's clock is from UTC at a moment.
func (r Reader) Offset(t time.Time) string { return offset(r.in(t)) }

// Instant spells out a value that is a moment (RFC 3339). It reports false
// for every other value.
func (r Reader) Instant(v canon.Value) (string, bool) {
	if v.Kind() != canon.String || len(v.Text()) < len("2006-01-02T15:04:05Z") {
		return "", false
	}
	t, err := time.Parse(time.RFC3339Nano, v.Text())
	if err != nil {
		return "", false
	}
	return r.Time(t), true
}
