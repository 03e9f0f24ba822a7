package rest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog/openapi"
)

// The limits of a request.
const (
	maxTarget = 16 << 10 // bytes of path and query
	maxHeader = 4 << 10  // bytes of one value
)

// request is what an operation and its arguments make: everything that
// arguments decide.
type request struct {
	method string
	target string // path and query, encoded
	header [][2]string
	body   []byte // nil: none
	kind   string // media type of the body
}

// The refusals. None holds a value.
var (
	errValue   = errors.New("a value has a kind that its place cannot hold")
	errSegment = errors.New("a value would change the path")
	errLine    = errors.New("a value cannot stand in a header")
	errSplit   = errors.New("a value holds what separates values")
	errName    = errors.New("a value would be a parameter of its own")
	errLong    = errors.New("the request would be too long")
	errMissing = errors.New("a value that is needed is missing")
)

// build makes a request of frozen arguments.
func build(b openapi.Binding, args canon.Value) (request, error) {
	out := request{method: b.Method}
	path, query := b.Path, []string{}
	own := map[string]bool{}
	for _, p := range b.Params {
		own[p.Name] = own[p.Name] || p.In == "query"
	}
	for _, p := range b.Params {
		v, found := args.Get(p.Member)
		if !found {
			if p.Required {
				return out, fmt.Errorf("%s: %w", p.Name, errMissing)
			}
			continue
		}
		w := writer{param: p, own: own}
		var err error
		switch p.In {
		case "path":
			var text string
			text, err = w.path(v)
			path = strings.Replace(path, "{"+p.Name+"}", text, 1)
		case "query":
			var pairs []string
			pairs, err = w.query(v)
			query = append(query, pairs...)
		default:
			var text string
			if text, err = w.header(v); err == nil {
				out.header = append(out.header, [2]string{p.Name, text})
			}
		}
		if err != nil {
			return out, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if err := sound(path, b.Path); err != nil {
		return out, err
	}
	out.target = path
	if len(query) > 0 {
		out.target += "?" + strings.Join(query, "&")
	}
	if len(out.target) > maxTarget {
		return out, errLong
	}
	return out, out.withBody(b.Body, args)
}

func (r *request) withBody(b *openapi.Body, args canon.Value) error {
	if b == nil {
		return nil
	}
	v, found := args.Get(b.Member)
	if !found {
		if b.Required {
			return errMissing
		}
		return nil
	}
	r.body, r.kind = v.Canonical(), b.Type
	return nil
}

// sound: a path has the segments of its template, none of them empty or made
// of dots.
func sound(path, template string) error {
	got, want := strings.Split(path, "/"), strings.Split(template, "/")
	if len(got) != len(want) {
		return errSegment
	}
	for i, s := range got {
		if strings.Trim(s, ".") == "" && s != want[i] {
			return errSegment
		}
		if strings.ContainsAny(s, "{}") {
			return errSegment
		}
	}
	return nil
}

// writer writes the value of one parameter.
type writer struct {
	param openapi.Param
	own   map[string]bool // names of the operation's query parameters
}

// plain is the text of a value that is no list and no object.
func plain(v canon.Value) (string, error) {
	switch v.Kind() {
	case canon.String:
		return v.Text(), nil
	case canon.Number:
		return v.NumberText(), nil
	case canon.Bool:
		if v.Bool() {
			return "true", nil
		}
		return "false", nil
	default:
		return "", errValue
	}
}

// piece is one part of a value: a name where it is of an object.
type piece struct{ name, text string }

// pieces takes a value apart.
func pieces(v canon.Value) (out []piece, named bool, err error) {
	switch v.Kind() {
	case canon.Array:
		for _, x := range v.Elements() {
			text, err := plain(x)
			if err != nil {
				return nil, false, err
			}
			out = append(out, piece{text: text})
		}
		return out, false, nil
	case canon.Object:
		for _, m := range v.Members() {
			text, err := plain(m.Value)
			if err != nil {
				return nil, false, err
			}
			if m.Name == "" {
				return nil, false, errName
			}
			out = append(out, piece{m.Name, text})
		}
		return out, true, nil
	default:
		text, err := plain(v)
		return []piece{{text: text}}, false, err
	}
}

// flat joins pieces: a,b for lists, and k,v or k=v for objects. What stands
// between pieces may not stand in one: servers decode before they split.
func flat(list []piece, named, explode bool, between, equal string) (string, error) {
	if !named || !explode {
		equal = between
	}
	var out []string
	for _, p := range list {
		if len(list) > 1 || named {
			if strings.Contains(p.text, between) || strings.Contains(p.name, between) || named && (strings.Contains(p.name, equal) || strings.Contains(p.text, equal)) {
				return "", errSplit
			}
		}
		if named {
			out = append(out, escape(p.name)+equal+escape(p.text))
			continue
		}
		out = append(out, escape(p.text))
	}
	return strings.Join(out, between), nil
}

// escape percent-encodes all but the unreserved characters (RFC 3986 §2.3).
func escape(text string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.', c == '_', c == '~':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// path writes a part of a path. What a server or something before it may
// decode into a separator is refused, although it would be encoded.
func (w writer) path(v canon.Value) (string, error) {
	list, named, err := w.parts(v)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", errMissing
	}
	for _, p := range list {
		for _, text := range []string{p.name, p.text} {
			if strings.ContainsAny(text, "/\\%;?#") || strings.ContainsFunc(text, control) {
				return "", errSegment
			}
		}
		if p.text == "" || strings.Trim(p.text, ".") == "" {
			return "", errSegment
		}
	}
	explode := w.param.Explode
	switch w.param.Style {
	case "label":
		between := ","
		if explode {
			between = "."
		}
		text, err := flat(list, named, explode, between, "=")
		return "." + text, err
	case "matrix":
		return w.matrix(list, named)
	default:
		return flat(list, named, explode, ",", "=")
	}
}

// parts are the pieces of a value, or its JSON as one.
func (w writer) parts(v canon.Value) ([]piece, bool, error) {
	if w.param.Style == "json" {
		return []piece{{text: string(v.Canonical())}}, false, nil
	}
	return pieces(v)
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

func (w writer) matrix(list []piece, named bool) (string, error) {
	if !w.param.Explode {
		text, err := flat(list, named, false, ",", ",")
		return ";" + escape(w.param.Name) + "=" + text, err
	}
	var b strings.Builder
	for _, p := range list {
		name := w.param.Name
		if named {
			name = p.name
		}
		b.WriteString(";" + escape(name) + "=" + escape(p.text))
	}
	return b.String(), nil
}

// query writes name=value pairs. An empty list writes none.
func (w writer) query(v canon.Value) ([]string, error) {
	list, named, err := w.parts(v)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	name := escape(w.param.Name)
	var out []string
	switch {
	case w.param.Style == "deepObject":
		if !named {
			return nil, errValue
		}
		for _, p := range list {
			if strings.ContainsAny(p.name, "[]") {
				return nil, errName
			}
			out = append(out, name+escape("["+p.name+"]")+"="+escape(p.text))
		}
		return out, nil
	case w.param.Explode:
		for _, p := range list {
			if named && (w.own[p.name] || p.name == w.param.Name) {
				return nil, errName
			}
			if named {
				name, w.own[p.name] = escape(p.name), true
			}
			out = append(out, name+"="+escape(p.text))
		}
		return out, nil
	}
	between := map[string]string{"spaceDelimited": " ", "pipeDelimited": "|"}[w.param.Style]
	if between == "" {
		between = ","
	}
	text, err := flat(list, named, false, between, between)
	return []string{name + "=" + strings.ReplaceAll(text, between, separator(between))}, err
}

// separator is how what stands between values is written in a query.
func separator(between string) string {
	if between == "," {
		return between
	}
	return escape(between)
}

// header writes the value of a header: printable ASCII, and no space at either
// end.
func (w writer) header(v canon.Value) (string, error) {
	list, named, err := w.parts(v)
	if err != nil {
		return "", err
	}
	var out []string
	for _, p := range list {
		if (len(list) > 1 || named) && strings.ContainsAny(p.name+p.text, ",=") {
			return "", errSplit
		}
		switch {
		case named && w.param.Explode:
			out = append(out, p.name+"="+p.text)
		case named:
			out = append(out, p.name+","+p.text)
		default:
			out = append(out, p.text)
		}
	}
	text := strings.Join(out, ",")
	if text == "" || len(text) > maxHeader || strings.TrimSpace(text) != text || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", errLine
	}
	return text, nil
}
