package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/web/display"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets/style.css assets/live.js assets/passkey.js assets/icon.svg
var assetFiles embed.FS

var assetTypes = map[string]string{
	"style.css": "text/css; charset=utf-8",
	"live.js":   "text/javascript; charset=utf-8",
	"icon.svg":  "image/svg+xml",

	"passkey.js": "text/javascript; charset=utf-8",
}

func (s *site) static(w http.ResponseWriter, r *http.Request, v visit) {
	name := r.PathValue("name")
	kind, known := assetTypes[name]
	content, err := assetFiles.ReadFile("assets/" + name)
	if !known || err != nil {
		s.notFound(w, v)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(content)
}

// pageNames are the templates that stand in the layout.
var pageNames = []string{"login", "setup", "message", "inbox", "history", "proposal", "records", "record", "timeline", "account", "reading", "operate", "overview", "policy",
	"batch", "people", "person", "join", "joining", "allow", "grant", "grants"}

// pages are the templates by name. Each is parsed when it is first shown: all of
// them parsed are two thirds of what a daemon holds that nobody looks at.
type pages map[string]func() (*template.Template, error)

func newPages() pages {
	all := pages{}
	for _, name := range pageNames {
		all[name] = sync.OnceValues(func() (*template.Template, error) { return parsePage(name) })
	}
	return all
}

func parsePage(name string) (*template.Template, error) {
	return template.New("layout.html").Funcs(template.FuncMap{"vis": display.Text, "pair": pair}).
		ParseFS(templateFiles, "templates/layout.html", "templates/parts.html", "templates/"+name+".html")
}

// pair hands two values to a part of a page.
func pair(first, second any) map[string]any { return map[string]any{"First": first, "Second": second} }

// base is what every page has.
type base struct {
	Title  string
	Nav    string // which entry of the menu is here
	Name   string // of the account; "" before the login
	Tenant string
	Logout string // form token
	Reads  string // how times and numbers are meant
	Zone   string // name of the cookie for the browser's time zone
	Secure bool   // cookies are for TLS alone
}

func (s *site) base(v visit, title, nav string) base {
	b := base{Title: title, Nav: nav, Name: v.account.Name, Tenant: v.account.Tenant,
		Reads: s.readsText(), Zone: s.zoneCookie(), Secure: s.origin.Secure()}
	if v.account.ID != "" {
		b.Logout = s.formToken(v, "logout")
	}
	return b
}

// render writes a page only when it is whole.
func (s *site) render(w http.ResponseWriter, status int, name string, data any) {
	var page bytes.Buffer
	t, err := s.pages[name]()
	if err == nil {
		err = t.Execute(&page, data)
	}
	if err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes())
}

type messageView struct {
	base
	Text string
}

func (s *site) refuse(w http.ResponseWriter, v visit, status int, title, text string) {
	s.render(w, status, "message", messageView{base: s.base(v, title, ""), Text: text})
}

func (s *site) notFound(w http.ResponseWriter, v visit) {
	s.refuse(w, v, http.StatusNotFound, "Not found", "There is no such page, or it is not for you.")
}

func (s *site) badForm(w http.ResponseWriter, v visit) {
	s.refuse(w, v, http.StatusBadRequest, "Form not accepted",
		"The form is old or incomplete. Nothing was changed. Open the page again and decide there.")
}

func (s *site) broken(w http.ResponseWriter, v visit) {
	s.refuse(w, v, http.StatusInternalServerError, "Something failed",
		"The answer could not be made. Look at the action again before you try again.")
}

// moment is a time as people read it.
type moment struct {
	Machine string // RFC 3339
	Text    string
	Day     string // "Monday, 2 Jan 2026"
	Clock   string // "15:04"
	Far     string // "in 3 min", "2 h ago"
	Left    int    // whole seconds until then, by the server's clock
	Over    bool
	Soon    bool // within ten minutes
	Zero    bool
}

func (s *site) when(t time.Time) moment {
	if t.IsZero() {
		return moment{Zero: true}
	}
	left := t.Sub(s.now())
	reader := s.reads.reader
	m := moment{Machine: t.UTC().Format(time.RFC3339), Text: reader.Time(t), Day: reader.Day(t), Clock: reader.Clock(t),
		Left: max(0, int(left.Seconds())), Over: left <= 0, Soon: left > 0 && left <= soon}
	if m.Over {
		m.Far = span(-left) + " ago"
	} else {
		m.Far = "in " + span(left)
	}
	return m
}

// soon is from when on a deadline is near.
const soon = 10 * time.Minute

// span says a duration in its two largest units.
func span(d time.Duration) string {
	units := []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}}
	var parts []string
	for _, u := range units {
		n := d / u.size
		d -= n * u.size
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
		} else if len(parts) > 0 {
			break // "2 h", not "2 h 0 min"
		}
		if len(parts) == 2 {
			break
		}
	}
	if len(parts) == 0 {
		return "0 s"
	}
	return strings.Join(parts, " ")
}
