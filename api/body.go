package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
)

// maxText is the longest name, id or key, in bytes.
const maxText = 255

// slowest is how long a body may take to arrive.
const slowest = 30 * time.Second

// likely is the length up to which a body's own word is taken for the room that
// it needs.
const likely = 64 << 10

// member is one member that a body may have.
type member struct {
	name     string
	required bool
	text     *string        // for a name or an id
	exact    *[]byte        // for arguments: the text, whatever it is
	wait     *time.Duration // for whole seconds
}

var (
	errMediaType = errors.New("the content type must be application/json, without an encoding")
	errTooLarge  = fmt.Errorf("the body is larger than %d bytes", MaxBody)
	errGone      = errors.New("the body did not arrive")
)

// read takes a body into the members that an operation knows.
func read(w http.ResponseWriter, r *http.Request, members []member) error {
	if kinds := r.Header.Values("Content-Type"); len(kinds) != 1 || !endpoint.IsJSON(kinds[0]) || len(r.Header.Values("Content-Encoding")) > 0 {
		return errMediaType
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(slowest)) // a recorder has none
	body, err := whole(http.MaxBytesReader(w, r.Body, MaxBody), r.ContentLength)
	_ = control.SetReadDeadline(time.Time{})
	if err != nil {
		if large := new(http.MaxBytesError); errors.As(err, &large) {
			return errTooLarge
		}
		return errGone
	}
	return parse(body, members)
}

// whole reads a body, into no more room than it says that it needs if that is
// little.
func whole(from io.Reader, length int64) ([]byte, error) {
	if length <= 0 || length > likely {
		return io.ReadAll(from)
	}
	body := make([]byte, length+1) // one byte for seeing its end
	n, err := io.ReadFull(from, body)
	switch {
	case err == nil: // it is longer than it says
		rest, err := io.ReadAll(from)
		return append(body, rest...), err
	case errors.Is(err, io.ErrUnexpectedEOF) && int64(n) == length:
		return body[:n], nil
	default:
		return nil, err
	}
}

// parse reads strict JSON: one object with these members and no other.
func parse(body []byte, members []member) error {
	v, err := canon.Decode(body, canon.Options{MaxBytes: MaxBody, Exact: true, FoldTwins: true, MaxDepth: 8, Known: func(pointer string) bool {
		return slices.ContainsFunc(members, func(m member) bool { return pointer == "/"+m.name })
	}})
	if err != nil {
		return err
	}
	if v.Kind() != canon.Object {
		return canon.Refuse("", "type", "an object")
	}
	var wrong canon.Violations
	for _, m := range members {
		x, found := v.Get(m.name)
		switch {
		case found:
			wrong = append(wrong, m.take(x)...)
		case m.required:
			wrong = append(wrong, canon.Refuse("/"+m.name, "required", "this member")...)
		}
	}
	for i := range v.Len() {
		name, _ := v.Member(i)
		if !slices.ContainsFunc(members, func(m member) bool { return m.name == name }) && len(wrong) < canon.MaxViolations {
			wrong = append(wrong, canon.Refuse("/"+canon.UnknownName, "unknown_member", "only members of this operation")...)
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

func (m member) take(x canon.Value) canon.Violations {
	at := "/" + m.name
	if m.wait != nil {
		seconds, ok := x.Int64()
		if x.Kind() != canon.Number || !ok || seconds < 0 || seconds > int64(MaxWait/time.Second) {
			return canon.Refuse(at, "range", fmt.Sprintf("an integer, 0 to %d", MaxWait/time.Second))
		}
		*m.wait = time.Duration(seconds) * time.Second
		return nil
	}
	if x.Kind() != canon.String {
		return canon.Refuse(at, "type", "a string")
	}
	if m.exact != nil {
		*m.exact = []byte(x.Text())
		return nil
	}
	if !plain(x.Text()) {
		return canon.Refuse(at, "text", fmt.Sprintf("1 to %d bytes without control characters", maxText))
	}
	*m.text = x.Text()
	return nil
}

// plain: text that may be a name or an id.
func plain(text string) bool {
	return text != "" && len(text) <= maxText && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// parameters reads a query: each of the known ones once, and no other.
func parameters(r *http.Request, known []string) (map[string]string, error) {
	all, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, canon.Refuse("", "query", "name=value pairs, percent-encoded")
	}
	out := map[string]string{}
	for name, values := range all {
		if !slices.Contains(known, name) {
			return nil, canon.Refuse("", "unknown_parameter", "only parameters of this operation")
		}
		if len(values) != 1 || !plain(values[0]) {
			return nil, canon.Refuse("/"+name, "text", "one value without control characters")
		}
		out[name] = values[0]
	}
	return out, nil
}
