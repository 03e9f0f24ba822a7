package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the machine may have no zones

	"github.com/seed-de4804fb/verbatim/web/display"
)

// numberStyle is one way of writing numbers.
type numberStyle struct {
	Name    string // kept in the cookie
	Example string
	numbers display.Numbers
}

var numberStyles = []numberStyle{
	{"comma", "1,234,567.89", display.Numbers{Group: ",", Decimal: "."}},
	{"point", "1.234.567,89", display.Numbers{Group: ".", Decimal: ",", After: true}},
	{"space", "1 234 567,89", display.Numbers{Group: " ", Decimal: ",", After: true}},
	{"apostrophe", "1’234’567.89", display.Numbers{Group: "’", Decimal: "."}},
	{"lakh", "12,34,567.89", display.Numbers{Group: ",", Decimal: ".", Lakh: true}},
}

// stylesOf says how a language writes numbers; others write as in English
// (CLDR, the common forms). The longest name that fits counts.
var stylesOf = map[string]string{
	"de": "point", "es": "point", "it": "point", "nl": "point", "pt": "point", "id": "point", "tr": "point", "da": "point", "el": "point",
	"ro": "point", "hr": "point", "sl": "point", "sr": "point", "vi": "point", "is": "point", "ca": "point",
	"fr": "space", "cs": "space", "sk": "space", "pl": "space", "ru": "space", "uk": "space", "bg": "space", "fi": "space", "sv": "space",
	"nb": "space", "nn": "space", "no": "space", "hu": "space", "et": "space", "lv": "space", "lt": "space",
	"de-ch": "apostrophe", "it-ch": "apostrophe", "de-li": "apostrophe", "de-at": "point", "es-mx": "comma", "es-us": "comma",
	"en-in": "lakh", "hi": "lakh", "bn": "lakh", "ta": "lakh", "te": "lakh", "mr": "lakh", "gu": "lakh", "pa": "lakh",
}

// numbersOf chooses the numbers of the language that a browser asks for most.
func numbersOf(header string) numberStyle {
	best, weight := "", -1.0
	for i, part := range strings.Split(header, ",") {
		tag, parameter, _ := strings.Cut(part, ";")
		q := 1.0
		if text, has := strings.CutPrefix(strings.TrimSpace(parameter), "q="); has {
			parsed, err := strconv.ParseFloat(text, 64)
			if err != nil || parsed < 0 || parsed > 1 {
				continue
			}
			q = parsed
		}
		if tag = strings.ToLower(strings.TrimSpace(tag)); tag != "" && tag != "*" && q > weight && i < 20 {
			best, weight = tag, q
		}
	}
	for tag := best; tag != ""; {
		if name, found := stylesOf[tag]; found {
			return styleNamed(name)
		}
		cut := strings.LastIndexByte(tag, '-')
		tag = tag[:max(cut, 0)]
	}
	return numberStyles[0]
}

func styleNamed(name string) numberStyle {
	for _, style := range numberStyles {
		if style.Name == name {
			return style
		}
	}
	return numberStyle{}
}

// zone returns a time zone by its IANA name; "Local" and file names are none.
func zone(name string) *time.Location {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '/' || r == '_' || r == '-' || r == '+'
	}
	if name == "" || name == "Local" || len(name) > 64 || strings.HasPrefix(name, "/") || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return nil
	}
	found, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return found
}

// The cookies that say how somebody reads: what the page's script found out,
// and what the person chose. They change how values are spelled out, nothing
// else, so they are not bound to a login.
func (s *site) zoneCookie() string    { return s.cookieName() + "-zone" }
func (s *site) readingCookie() string { return s.cookieName() + "-reading" }

func plainCookie(r *http.Request, name string) string {
	found := r.CookiesNamed(name)
	if len(found) != 1 {
		return ""
	}
	text, err := url.QueryUnescape(found[0].Value)
	if err != nil {
		return ""
	}
	return text
}

// reads is how whoever sent a request reads numbers and times.
type reads struct {
	zone    string // as chosen; "" follows the browser
	numbers string // as chosen; "" follows the browser
	reader  display.Reader
	example string
}

func (s *site) readsOf(r *http.Request) reads {
	var out reads
	chosenZone, chosenNumbers, _ := strings.Cut(plainCookie(r, s.readingCookie()), "|")
	if at := zone(chosenZone); at != nil {
		out.zone, out.reader.Zone = chosenZone, at
	} else {
		out.reader.Zone = zone(plainCookie(r, s.zoneCookie()))
	}
	style := styleNamed(chosenNumbers)
	if style.Name != "" {
		out.numbers = style.Name
	} else {
		style = numbersOf(r.Header.Get("Accept-Language"))
	}
	out.reader.Numbers, out.example = style.numbers, style.Example
	return out
}

// as is the site as one reader sees it.
func (s *site) as(r *http.Request) *site {
	mine := *s
	mine.reads = s.readsOf(r)
	return &mine
}

// readsText says, on every page, how its times and numbers are meant.
func (s *site) readsText() string {
	where := "UTC"
	if at := s.reads.reader.Zone; at != nil && at != time.UTC && at.String() != "UTC" {
		where = at.String() + ", " + s.reads.reader.Offset(s.now())
	}
	example := s.reads.example
	if example == "" {
		example = numberStyles[0].Example
	}
	return "Times in " + where + ". Numbers like " + example + "."
}

type readingView struct {
	base
	Zone    string
	Numbers string
	Styles  []numberStyle
	Token   string
	Error   string
	Done    bool
	Now     moment
}

const toRead = "reading"

func (s *site) readingPage(w http.ResponseWriter, r *http.Request, v visit) {
	s.showReading(w, v, http.StatusOK, "", r.URL.Query().Get("done") == "1")
}

func (s *site) showReading(w http.ResponseWriter, v visit, status int, problem string, done bool) {
	s.render(w, status, "reading", readingView{base: s.base(v, "Times and numbers", "reading"), Zone: s.reads.zone, Numbers: s.reads.numbers,
		Styles: numberStyles, Token: s.formToken(v, toRead), Error: problem, Done: done, Now: s.when(s.now())})
}

// chooseReading keeps in a cookie how a person wants to read.
func (s *site) chooseReading(w http.ResponseWriter, r *http.Request, v visit) {
	fields, err := readForm(r, "token", "zone", "numbers")
	if err != nil || !s.ownForm(v, fields["token"], toRead) {
		s.badForm(w, v)
		return
	}
	name := strings.TrimSpace(fields["zone"])
	known := func(style numberStyle) bool { return style.Name == fields["numbers"] }
	if name != "" && zone(name) == nil || fields["numbers"] != "" && !slices.ContainsFunc(numberStyles, known) {
		s.showReading(w, v, http.StatusUnprocessableEntity, "There is no such time zone. Write one like Europe/Berlin. Nothing was changed.", false)
		return
	}
	c := s.cookie(url.QueryEscape(name + "|" + fields["numbers"]))
	c.Name, c.MaxAge = s.readingCookie(), int((400 * 24 * time.Hour).Seconds())
	if name == "" && fields["numbers"] == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
	http.Redirect(w, r, "/reading?done=1", http.StatusSeeOther)
}
