package client

import (
	"fmt"
	"net/http"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
)

// Problem is a refusal that is no outcome: nothing was decided (RFC 9457).
type Problem struct {
	Status     int
	Code       verbatim.Code // of the closed list; "" where there is none
	Title      string
	Detail     string
	Violations canon.Violations // of the request itself
}

// Error says the status, the code and what is wrong; it holds no argument.
func (p *Problem) Error() string {
	text := fmt.Sprintf("the gateway answered %d", p.Status)
	if p.Code != "" {
		text += " " + string(p.Code)
	}
	switch {
	case len(p.Violations) > 0:
		text += ": " + p.Violations.Error()
	case p.Detail != "":
		text += ": " + p.Detail
	}
	return text
}

// NotFound reports that there is no such thing for this caller.
func (p *Problem) NotFound() bool { return p.Status == http.StatusNotFound }

// read parses an answer that must be a document of the API: success, or a
// problem, which it returns as the error.
func (a answer) read() (object, error) {
	if a.status == http.StatusOK || a.status == http.StatusAccepted {
		if a.kind != "application/json" {
			return object{}, fmt.Errorf("%w: status %d without JSON", ErrAnswer, a.status)
		}
		return parse(a.text)
	}
	o, err := a.problem()
	if err != nil {
		return object{}, err
	}
	return object{}, problemOf(a.status, o)
}

// problem parses a problem document.
func (a answer) problem() (object, error) {
	if a.kind != "application/problem+json" || a.status < http.StatusBadRequest {
		return object{}, fmt.Errorf("%w: status %d without a problem document", ErrAnswer, a.status)
	}
	return parse(a.text)
}

func problemOf(status int, o object) error {
	p := &Problem{Status: status, Code: verbatim.Code(o.text("code", false)), Title: o.text("title", true),
		Detail: o.text("detail", false), Violations: o.violations("violations")}
	if *o.err != nil {
		return *o.err
	}
	return p
}
