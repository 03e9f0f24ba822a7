package resolve

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// RuleInstant is what a refusal of [Instant] names when the text is no
// instant. Its other rule is [RuleRange].
const RuleInstant = "instant"

// The precisions of [Instant].
const (
	PrecisionSecond      = "s"
	PrecisionMillisecond = "ms"
	PrecisionMicrosecond = "us"
	PrecisionNanosecond  = "ns"
)

var precisionDigits = map[string]int{PrecisionSecond: 0, PrecisionMillisecond: 3, PrecisionMicrosecond: 6, PrecisionNanosecond: 9}

// InstantRules is the version of the rules of [Instant].
const InstantRules = "instant-1"

// InstantOptions configure an [Instant] resolver. All are optional.
type InstantOptions struct {
	// Precision is the finest part of a second that is accepted; nanoseconds
	// where it is empty. Finer digits are refused, never rounded.
	Precision string
	// NotBefore and NotAfter bound the answers, both included. Zero: the
	// years 1 and 9999.
	NotBefore, NotAfter time.Time
}

// Instant turns an RFC 3339 date and time into the same instant in UTC,
// without trailing zeros in the fraction of a second.
//
// It does not guess: the offset must be there, as Z or in hours and minutes,
// and the fields must stand as RFC 3339 §5.6 writes them, with T between date
// and time. A leap second (:60) is refused, because most clocks have no such
// instant. So are 24:00, names of zones, Unix times and words such as
// "tomorrow". "-00:00" is UTC (RFC 3339 §4.3).
type Instant struct {
	digits    int
	from, to  time.Time
	version   string
	precision string
}

var _ Resolver = (*Instant)(nil)

// NewInstant checks the options.
func NewInstant(opt InstantOptions) (*Instant, error) {
	i := &Instant{from: opt.NotBefore.UTC(), to: opt.NotAfter.UTC(), precision: opt.Precision}
	if i.precision == "" {
		i.precision = PrecisionNanosecond
	}
	digits, ok := precisionDigits[i.precision]
	if !ok {
		return nil, fmt.Errorf("precision %q is none of s, ms, us and ns", opt.Precision)
	}
	i.digits = digits
	first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	if opt.NotBefore.IsZero() {
		i.from = first
	}
	if opt.NotAfter.IsZero() {
		i.to = last
	}
	if i.to.Before(i.from) || i.from.Before(first) || i.to.After(last) {
		return nil, fmt.Errorf("notBefore and notAfter leave no instant in the years 1 to 9999")
	}
	var err error
	i.version, err = configured(InstantRules, textMember("precision", i.precision),
		textMember("notBefore", i.from.Format(time.RFC3339Nano)), textMember("notAfter", i.to.Format(time.RFC3339Nano)))
	return i, err
}

// Roles tells which roles the rule of a catalog may bind.
func (i *Instant) Roles() Roles { return onlyValue() }

const instantExpected = "a date and time with an offset, such as 2026-03-01T12:00:00Z or 2026-03-01T13:00:00+01:00"

// Resolve answers the instant in UTC.
func (i *Instant) Resolve(_ context.Context, in map[string]canon.Value) (Answer, error) {
	text, err := valueText(in, RuleInstant, instantExpected)
	if err != nil {
		return Answer{}, err
	}
	at, digits, ok := parseInstant(text)
	switch {
	case !ok:
		return Answer{}, canon.Refuse("/"+RoleValue, RuleInstant, instantExpected)
	case digits > i.digits:
		return Answer{}, canon.Refuse("/"+RoleValue, RuleInstant, "no finer part of a second than "+i.precision)
	case at.Before(i.from) || at.After(i.to):
		return Answer{}, canon.Refuse("/"+RoleValue, RuleRange, "an instant from "+i.from.Format(time.RFC3339Nano)+" to "+i.to.Format(time.RFC3339Nano))
	}
	return textAnswer(i.version, at.Format(time.RFC3339Nano)), nil
}

// maxInstantBytes bounds the work of one text.
const maxInstantBytes = 64

// instantForm is the fixed part of RFC 3339 date-time: d is a digit.
const instantForm = "dddd-dd-ddTdd:dd:dd"

// parseInstant reads an RFC 3339 date-time and returns it in UTC, with the
// number of digits of its fraction that count.
func parseInstant(s string) (at time.Time, digits int, ok bool) {
	if len(s) > maxInstantBytes || !hasForm(s, instantForm) {
		return time.Time{}, 0, false
	}
	year, month, day := number(s[0:4]), number(s[5:7]), number(s[8:10])
	hour, minute, second := number(s[11:13]), number(s[14:16]), number(s[17:19])
	nanos, digits, rest, ok := fraction(s[19:])
	if !ok || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, 0, false
	}
	offset, ok := offsetOf(rest)
	if !ok {
		return time.Time{}, 0, false
	}
	at = time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC)
	if at.Month() != time.Month(month) || at.Day() != day || at.Year() != year {
		return time.Time{}, 0, false // such as February 30
	}
	return at.Add(-offset), digits, true
}

// hasForm reports whether s begins as the form says: d is a digit, a letter
// may be in either case (RFC 3339 §5.6), all else is itself.
func hasForm(s, form string) bool {
	if len(s) < len(form) {
		return false
	}
	for i := range len(form) {
		switch c := form[i]; {
		case c == 'd':
			if s[i] < '0' || s[i] > '9' {
				return false
			}
		case s[i] != c && !(c == 'T' && s[i] == 't'):
			return false
		}
	}
	return true
}

// number reads digits that were checked.
func number(digits string) int {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}

// fraction reads an optional fraction of a second, up to nanoseconds but for
// zeros.
func fraction(s string) (nanos, digits int, rest string, ok bool) {
	if !strings.HasPrefix(s, ".") {
		return 0, 0, s, true
	}
	end := 1
	for end < len(s) && '0' <= s[end] && s[end] <= '9' {
		end++
	}
	text := strings.TrimRight(s[1:end], "0")
	if end == 1 || len(text) > 9 {
		return 0, 0, "", false
	}
	return number(text + "000000000"[len(text):]), len(text), s[end:], true
}

func offsetOf(s string) (time.Duration, bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || !hasForm(s[1:], "dd:dd") {
		return 0, false
	}
	hours, minutes := number(s[1:3]), number(s[4:6])
	if hours > 23 || minutes > 59 {
		return 0, false
	}
	offset := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true
}
