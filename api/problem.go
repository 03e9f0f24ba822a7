package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
)

// problem is a problem document (RFC 9457 §3) with our extensions.
type problem struct {
	Type       string           `json:"type"`
	Title      string           `json:"title"`
	Status     int              `json:"status"`
	Detail     string           `json:"detail,omitempty"`
	Instance   string           `json:"instance,omitempty"`
	Code       verbatim.Code    `json:"code,omitempty"`
	Violations canon.Violations `json:"violations,omitempty"` // of the request itself
	Outcome    json.RawMessage  `json:"outcome,omitempty"`    // the envelope of docs/codes.md
	Receipt    json.RawMessage  `json:"receipt,omitempty"`
}

// typeOf is the problem type of a code: it names where the code is described.
func typeOf(c verbatim.Code) string {
	return "https://github.com/seed-de4804fb/verbatim/blob/main/docs/codes.md#" + string(c)
}

func coded(status int, c verbatim.Code, detail string) problem {
	return problem{Type: typeOf(c), Title: c.Text(), Status: status, Detail: detail, Code: c}
}

// badRequest answers a request that was refused before anything was decided.
func (a *API) badRequest(w http.ResponseWriter, status int, err error) {
	p := coded(status, verbatim.CodeInvalidRequest, err.Error())
	if errors.As(err, &p.Violations) {
		p.Detail = ""
	}
	writeProblem(w, p)
}

// refuseBody answers a body that could not be read.
func (a *API) refuseBody(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errMediaType):
		a.badRequest(w, http.StatusUnsupportedMediaType, err)
	case errors.Is(err, errTooLarge):
		a.badRequest(w, http.StatusRequestEntityTooLarge, err)
	case errors.Is(err, errGone):
		a.badRequest(w, http.StatusRequestTimeout, err)
	default:
		a.badRequest(w, http.StatusBadRequest, err)
	}
}

func writeProblem(w http.ResponseWriter, p problem) {
	writeJSON(w, p.Status, "application/problem+json", p)
}

// writeJSON writes a fixed structure.
func writeJSON(w http.ResponseWriter, status int, kind string, x any) {
	text, err := json.Marshal(x)
	if err != nil {
		status, kind, text = http.StatusInternalServerError, "application/problem+json",
			[]byte(`{"type":"about:blank","title":"Internal Server Error","status":500}`)
	}
	write(w, status, kind, text)
}

func write(w http.ResponseWriter, status int, kind string, text []byte) {
	values := []string{"no-store", kind, "nosniff", strconv.Itoa(len(text))} // which share their memory
	h := w.Header()
	h["Cache-Control"], h["Content-Type"] = values[0:1:1], values[1:2:2]
	h["X-Content-Type-Options"] = values[2:3:3]
	h["Content-Length"] = values[3:4:4] // else what is long comes in chunks
	w.WriteHeader(status)
	_, _ = w.Write(text) // whoever asked may have gone
}
