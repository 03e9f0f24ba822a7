package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/seed-de4804fb/verbatim/auth"
)

// Route is one entry point. Open routes answer without a login.
type Route struct {
	Method string
	Path   string // as in [http.ServeMux]
	Open   bool
}

// Routes lists every entry point.
func Routes() []Route {
	var out []Route
	for _, e := range entries() {
		out = append(out, e.Route)
	}
	return out
}

// visit is who asks. It travels as a parameter, never in a context.
type visit struct {
	login   auth.Login
	account auth.Account
	// standsFor are the accounts in whose place the person may vote now.
	standsFor []auth.Account
	cookie    string
}

type entry struct {
	Route
	serve func(s *site, w http.ResponseWriter, r *http.Request, v visit)
}

func entries() []entry {
	get := func(path string, serve func(*site, http.ResponseWriter, *http.Request, visit)) entry {
		return entry{Route{Method: http.MethodGet, Path: path}, serve}
	}
	post := func(path string, serve func(*site, http.ResponseWriter, *http.Request, visit)) entry {
		return entry{Route{Method: http.MethodPost, Path: path}, serve}
	}
	open := func(e entry) entry { e.Open = true; return e }
	return []entry{
		open(get(healthPath, (*site).health)),
		open(get("/static/{name}", (*site).static)),
		open(get("/login", (*site).loginPage)),
		open(post("/login", (*site).logIn)),
		open(post("/login/passkey", (*site).logInWithPasskey)),
		open(get("/login/oidc", (*site).toProvider)),
		open(get(CallbackPath, (*site).fromProvider)),
		open(get("/join", (*site).joinPage)),
		open(post("/join", (*site).join)),
		open(post("/join/passkey", (*site).joinWithPasskey)),
		open(post("/join/password", (*site).joinWithPassword)),
		post("/logout", (*site).logOut),
		get("/{$}", (*site).inbox),
		get("/batch", (*site).batch),
		post("/batch", (*site).decideBatch),
		get("/actions", (*site).history),
		get("/actions/{id}", (*site).proposal),
		get("/actions/{id}/timeline", (*site).timeline),
		post("/actions/{id}/verify", (*site).checkEvidence),
		post("/actions/{id}/approve", (*site).approve),
		post("/actions/{id}/reject", (*site).reject),
		post("/actions/{id}/revoke", (*site).revoke),
		post("/actions/{id}/reconcile", (*site).reconcile),
		get("/actions/{id}/allow", (*site).allowPage),
		post("/actions/{id}/allow/review", (*site).review),
		post("/actions/{id}/allow", (*site).keepGrant),
		get("/grants", (*site).grants),
		get("/grants/{id}", (*site).grant),
		post("/grants/{id}/sign", (*site).signGrant),
		post("/grants/{id}/revoke", (*site).revokeGrant),
		get("/operate", (*site).operate),
		get("/overview", (*site).overview),
		get("/policy", (*site).policyDiff),
		post("/operate/stop", (*site).stop),
		post("/operate/lift", (*site).lift),
		get("/reading", (*site).readingPage),
		post("/reading", (*site).chooseReading),
		get("/account", (*site).account),
		post("/account/passkeys/add", (*site).addPasskey),
		post("/account/passkeys/remove", (*site).removePasskey),
		post("/account/password", (*site).changePassword),
		post("/account/delegate", (*site).delegate),
		post("/account/delegations/end", (*site).endDelegation),
		get("/people", (*site).persons),
		get("/people/{id}", (*site).onePerson),
		post("/people/invite", (*site).invite),
		post("/people/withdraw", (*site).withdraw),
		post("/people/{id}/groups", (*site).changeGroups),
		post("/people/{id}/disable", (*site).shutOut),
		post("/people/{id}/enable", (*site).letIn),
		get("/records", (*site).records),
		get("/records/{seq}", (*site).record),
	}
}

// handler puts the guard before the routes.
func (s *site) handler() (http.Handler, error) {
	mux := http.NewServeMux()
	for _, e := range entries() {
		mux.Handle(e.Method+" "+e.Path, s.enter(e))
	}
	mux.Handle("/", s.enter(entry{serve: (*site).nothingHere}))
	return s.guard(mux)
}

// enter finds out who asks. Without a login every path that is not open
// answers alike, whether it exists or not.
func (s *site) enter(e entry) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := s.as(r)
		v, err := s.whoAsks(r)
		switch {
		case err == nil || e.Open && errors.Is(err, auth.ErrNoLogin):
			e.serve(s, w, r, v)
		case !errors.Is(err, auth.ErrNoLogin):
			s.broken(w, visit{})
		default:
			s.askForLogin(w, r)
		}
	})
}

func (s *site) whoAsks(r *http.Request) (visit, error) {
	if strings.HasPrefix(r.URL.Path, "/static/") || r.URL.Path == healthPath {
		return visit{}, auth.ErrNoLogin
	}
	cookies := r.CookiesNamed(s.cookieName())
	if len(cookies) != 1 {
		return visit{}, auth.ErrNoLogin
	}
	login, account, err := s.people.Session(r.Context(), cookies[0].Value)
	if err != nil {
		return visit{}, err
	}
	others, err := s.people.StandsFor(r.Context(), account)
	return visit{login: login, account: account, standsFor: others, cookie: cookies[0].Value}, err
}

func (s *site) askForLogin(w http.ResponseWriter, r *http.Request) {
	if s.noAccounts(w, r) {
		return
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		http.Redirect(w, r, loginPath(r.URL), http.StatusSeeOther)
		return
	}
	s.refuse(w, visit{}, http.StatusForbidden, "Sign in first", "Your sign-in is over or was never there. Nothing was changed.")
}

func (s *site) nothingHere(w http.ResponseWriter, _ *http.Request, v visit) { s.notFound(w, v) }

func (s *site) health(w http.ResponseWriter, _ *http.Request, _ visit) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
}
