package warrant

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/seed-de4804fb/verbatim/canon"
)

// VerdictHeader is the header of every answer of a [Guard]: the verdict, for
// the caller to report.
const VerdictHeader = "Verbatim-Verdict"

// Call is a request that may run.
type Call struct {
	Warrant  Warrant
	Envelope []byte // as it came, for a report
	Args     []byte // argsCanonicalJson: what was checked, and is to run
}

// Guard stands before the handlers of one executor. It takes the arguments of
// a call from the body alone: a request with a query is refused, and what a
// path or a header says is not covered by any warrant.
type Guard struct {
	Checker *Checker // required
	// MaxBody is the longest body in bytes; 0 means 1 MiB, the most is
	// MaxArguments.
	MaxBody int64
	// Told, if not nil, hears of every check before the handler runs.
	Told func(w Warrant, v Verdict)
}

const defaultBody = 1 << 20

// Handle lets run only what may start now, and hands it the warrant and the
// canonical arguments. tool is the catalog name of the one tool that run is.
func (g *Guard) Handle(tool string, run func(http.ResponseWriter, *http.Request, Call)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, v := g.check(w, r, tool)
		if g.Told != nil {
			g.Told(c.Warrant, v)
		}
		w.Header().Set(VerdictHeader, string(v))
		if v != OK {
			refuse(w, v)
			return
		}
		run(w, r, c)
	})
}

// Wrap is Handle for a handler that reads the arguments from the body: it gets
// their canonical form there, whatever the request's own spelling was, and
// the idempotency key of the attempt in the header Idempotency-Key, whatever
// stood there.
func (g *Guard) Wrap(tool string, next http.Handler) http.Handler {
	return g.Handle(tool, func(w http.ResponseWriter, r *http.Request, c Call) {
		checked := r.Clone(r.Context())
		checked.Body, checked.ContentLength = io.NopCloser(bytes.NewReader(c.Args)), int64(len(c.Args))
		checked.Header.Set("Content-Length", strconv.Itoa(len(c.Args)))
		checked.Header.Set("Content-Type", "application/json")
		checked.Header.Del("Idempotency-Key")
		if c.Warrant.ProviderKey != "" {
			checked.Header.Set("Idempotency-Key", `"`+c.Warrant.ProviderKey+`"`)
		}
		next.ServeHTTP(w, checked)
	})
}

var errBody = errors.New("a body that is too long, or did not arrive")

func (g *Guard) check(w http.ResponseWriter, r *http.Request, tool string) (Call, Verdict) {
	headers := r.Header.Values(Header)
	if len(headers) != 1 || tool == "" || g.Checker == nil {
		return Call{}, Malformed
	}
	envelope, ok := Decode(headers[0])
	if !ok {
		return Call{}, Malformed
	}
	body, err := g.body(w, r)
	if err != nil || r.URL.RawQuery != "" || r.URL.ForceQuery {
		body = nil // no arguments are like that; whose warrant it is can still be said
	}
	warrant, v := g.Checker.Check(r.Context(), envelope, body, Expect{Tool: tool})
	if v != OK {
		return Call{Warrant: warrant}, v
	}
	return Call{Warrant: warrant, Envelope: envelope, Args: canonical(body)}, OK
}

// body reads the whole body; it must say that it is plain JSON.
func (g *Guard) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	most := g.MaxBody
	if most <= 0 {
		most = defaultBody
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || len(r.Header.Values("Content-Type")) != 1 || len(r.Header.Values("Content-Encoding")) > 0 {
		return nil, errBody
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, min(most, MaxArguments)))
	if err != nil {
		return nil, errBody
	}
	return body, nil
}

// canonical is the RFC 8785 form of arguments that were checked.
func canonical(arguments []byte) []byte {
	v, err := canon.Decode(arguments, canon.Options{MaxBytes: MaxArguments, Exact: true})
	if err != nil {
		return nil
	}
	return v.Canonical()
}

// refusal is the problem document of a refused request (RFC 9457).
type refusal struct {
	Type    string  `json:"type"`
	Title   string  `json:"title"`
	Status  int     `json:"status"`
	Code    string  `json:"code"` // arguments_changed or warrant_refused
	Verdict Verdict `json:"verdict"`
}

// refuse answers a request that does not run. It says nothing of the
// arguments.
func refuse(w http.ResponseWriter, v Verdict) {
	p := refusal{Type: "about:blank", Title: "The warrant does not let this run.", Status: http.StatusForbidden, Code: "warrant_refused", Verdict: v}
	switch v {
	case ArgumentsChanged:
		p.Code, p.Title = string(v), "These are not the arguments that were decided on."
	case Malformed:
		p.Status, p.Title = http.StatusUnauthorized, "A request needs one warrant."
	case Replayed:
		p.Status = http.StatusConflict
	case Unavailable:
		p.Status = http.StatusServiceUnavailable
	}
	text, err := json.Marshal(p)
	if err != nil {
		text = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(p.Status)
	_, _ = w.Write(text) // whoever asked may have gone
}
