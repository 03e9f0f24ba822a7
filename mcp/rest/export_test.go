package rest

import (
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog/openapi"
)

// Build makes the request of an operation: target, headers and body.
func Build(b openapi.Binding, args string) (target string, header [][2]string, body string, err error) {
	v, err := canon.Decode([]byte(args), canon.Options{})
	if err != nil {
		return "", nil, "", err
	}
	r, err := build(b, v)
	return r.target, r.header, string(r.body), err
}
