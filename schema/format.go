package schema

import (
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// formats are the formats that Apply asserts (semantics §2). All others are
// annotations. The functions are pure and linear.
var formats = map[string]struct {
	holds    func(string) bool
	expected string
}{
	"date-time": {isDateTime, "an RFC 3339 date and time with zone"},
	"date":      {isDate, "an RFC 3339 date, YYYY-MM-DD"},
	"time":      {isTime, "an RFC 3339 time with zone, hh:mm:ssZ"},
	"email":     {isEmail, "an email address"},
	"uri":       {isURI, "an absolute URI"},
	"uuid":      {isUUID, "a UUID, 8-4-4-4-12 hex digits"},
	"ipv4":      {isIPv4, "an IPv4 address, a.b.c.d"},
	"ipv6":      {isIPv6, "an IPv6 address"},
}

func isDate(s string) bool {
	if len(s) != len(time.DateOnly) {
		return false
	}
	_, err := time.Parse(time.DateOnly, s)
	return err == nil && digitsAt(s, 0, 1, 2, 3, 5, 6, 8, 9)
}

func isDateTime(s string) bool {
	if len(s) < 20 || (s[10] != 'T' && s[10] != 't') {
		return false
	}
	return isDate(s[:10]) && isTime(s[11:])
}

// isTime reads RFC 3339 full-time. A leap second is one only at 23:59:60 UTC.
func isTime(s string) bool {
	if len(s) < 9 || s[2] != ':' || s[5] != ':' || !digitsAt(s, 0, 1, 3, 4, 6, 7) {
		return false
	}
	hour, minute, second := pair(s, 0), pair(s, 3), pair(s, 6)
	rest := s[8:]
	if rest[0] == '.' {
		n := 1
		for n < len(rest) && '0' <= rest[n] && rest[n] <= '9' {
			n++
		}
		if n == 1 {
			return false
		}
		rest = rest[n:]
	}
	offset, ok := zone(rest)
	if !ok || hour > 23 || minute > 59 || second > 60 {
		return false
	}
	utc := ((hour*60+minute-offset)%1440 + 1440) % 1440
	return second < 60 || utc == 1439
}

// zone returns the offset from UTC in minutes.
func zone(s string) (int, bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != 6 || (s[0] != '+' && s[0] != '-') || s[3] != ':' || !digitsAt(s, 1, 2, 4, 5) {
		return 0, false
	}
	hour, minute := pair(s, 1), pair(s, 4)
	if hour > 23 || minute > 59 {
		return 0, false
	}
	if s[0] == '-' {
		return -(hour*60 + minute), true
	}
	return hour*60 + minute, true
}

func digitsAt(s string, places ...int) bool {
	for _, i := range places {
		if i >= len(s) || s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func pair(s string, i int) int { return int(s[i]-'0')*10 + int(s[i+1]-'0') }

// isEmail reads a Mailbox (RFC 5321 §4.1.2): a dot-atom or a quoted string,
// then a domain or an address literal, all in ASCII.
func isEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 || len(s) > 254 {
		return false
	}
	local, domain := s[:at], s[at+1:]
	if local[0] == '"' {
		return isQuoted(local) && isMailDomain(domain)
	}
	for _, atom := range strings.Split(local, ".") {
		if atom == "" || strings.IndexFunc(atom, notAtomText) >= 0 {
			return false
		}
	}
	return isMailDomain(domain)
}

func notAtomText(r rune) bool {
	return !isAlphanumeric(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
}

func isAlphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

func isQuoted(s string) bool {
	if len(s) < 2 || s[len(s)-1] != '"' {
		return false
	}
	for i := 1; i < len(s)-1; i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == '"' {
			return false
		}
		if i >= len(s)-1 || s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func isMailDomain(s string) bool {
	if literal, ok := strings.CutPrefix(s, "["); ok {
		literal, ok = strings.CutSuffix(literal, "]")
		if v6, tagged := strings.CutPrefix(literal, "IPv6:"); tagged {
			return ok && isIPv6(v6)
		}
		return ok && isIPv4(literal)
	}
	for _, label := range strings.Split(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.IndexFunc(label, func(r rune) bool { return r != '-' && !isAlphanumeric(r) }) >= 0 {
			return false
		}
	}
	return true
}

// isURI reads an absolute URI in ASCII (RFC 3986 §3).
func isURI(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			return false
		}
	}
	u, err := url.Parse(s)
	return err == nil && u.IsAbs() && wholeEscapes(s) && bracketsInHost(s)
}

// bracketsInHost reports whether [ and ] stand in the authority only.
func bracketsInHost(s string) bool {
	_, rest, _ := strings.Cut(s, ":")
	if authority, ok := strings.CutPrefix(rest, "//"); ok {
		end := strings.IndexAny(authority, "/?#")
		if end < 0 {
			return true
		}
		rest = authority[end:]
	}
	return !strings.ContainsAny(rest, "[]")
}

// wholeEscapes refuses a % without two hex digits, also in the query.
func wholeEscapes(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := 0; i < len(s); i++ {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (s[i] == '-') || !dash && !isHex(s[i]) {
			return false
		}
	}
	return true
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}
