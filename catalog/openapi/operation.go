package openapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Operation is one HTTP operation as a tool.
type Operation struct {
	Name        string // operationId, or method and path
	Description string
	Schema      canon.Value // of the arguments: one object
	Binding     Binding
}

// Binding says where the arguments go.
type Binding struct {
	Method string // in capitals
	Path   string // template below the base address
	Params []Param
	Body   *Body // nil: none
	// KeyHeader is the header for idempotency keys that the document declares;
	// "" if none. It is never an argument.
	KeyHeader string
}

// Param is one parameter.
type Param struct {
	Member   string // of the arguments
	Name     string
	In       string // path, query or header
	Style    string // simple, label, matrix, form, spaceDelimited, pipeDelimited, deepObject; "json" for content
	Explode  bool
	Required bool
}

// Body is the request body: JSON, as it stands in the arguments.
type Body struct {
	Member   string
	Type     string // media type
	Required bool
}

// Left is an operation that was left out, and why.
type Left struct{ Where, Why string }

// MetaKey is where a definition holds the binding.
const MetaKey = "io.github.seed-de4804fb.verbatim/http"

// methods are those that are read, in this order.
var methods = []string{"get", "head", "put", "post", "delete", "patch"}

// Read reads a document. It fails for what is no document; an operation that
// cannot be a tool is left out.
func Read(src []byte) ([]Operation, []Left, error) {
	d, err := parse(src)
	if err != nil {
		return nil, nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	paths, _ := d.root.Get("paths")
	if paths.Kind() != canon.Object {
		return nil, nil, errors.New("OpenAPI document: it has no paths")
	}
	r := &reader{doc: d, all: maxAll, names: map[string]string{}}
	for _, m := range paths.Members() {
		if strings.HasPrefix(m.Name, "x-") {
			continue
		}
		r.path(m.Name, m.Value)
		if len(r.found)+len(r.left) > MaxOperations {
			return nil, nil, fmt.Errorf("OpenAPI document: more than %d operations", MaxOperations)
		}
	}
	return r.found, r.left, nil
}

type reader struct {
	doc   document
	all   int               // schemas that may still be converted
	names map[string]string // folded name: where it was
	found []Operation
	left  []Left
}

// path reads the operations of one path.
func (r *reader) path(path string, v canon.Value) {
	item, err := r.doc.follow(v)
	if err == nil && item.Kind() != canon.Object {
		err = errors.New("a path is no object")
	}
	if err == nil {
		err = checkPath(path)
	}
	if err != nil {
		r.left = append(r.left, Left{path, err.Error()})
		return
	}
	for _, method := range methods {
		op, found := item.Get(method)
		if !found {
			continue
		}
		where := strings.ToUpper(method) + " " + path
		o, err := r.operation(method, path, item, op)
		if err == nil {
			if other, taken := r.names[strings.ToLower(o.Name)]; taken {
				err = fmt.Errorf("its name is that of %s", other)
			}
		}
		if err != nil {
			r.left = append(r.left, Left{where, err.Error()})
			continue
		}
		r.names[strings.ToLower(o.Name)] = where
		r.found = append(r.found, o)
	}
}

func (r *reader) operation(method, path string, item, op canon.Value) (Operation, error) {
	if op.Kind() != canon.Object {
		return Operation{}, errors.New("an operation is no object")
	}
	for _, v := range []canon.Value{item, op} {
		if servers, found := v.Get("servers"); found && servers.Len() > 0 {
			return Operation{}, errors.New("it has servers of its own; all calls go to the one address of the configuration")
		}
	}
	o := Operation{Name: nameOf(method, path, textOf(op, "operationId")), Description: describe(op), Binding: Binding{Method: strings.ToUpper(method), Path: path}}
	if o.Name == "" {
		return Operation{}, errors.New("its operationId makes no name of a tool")
	}
	a := &arguments{converter: newConverter(r.doc, &r.all), binding: &o.Binding, taken: map[string]bool{}}
	if err := a.parameters(item, op); err != nil {
		return Operation{}, err
	}
	if err := a.body(op); err != nil {
		return Operation{}, err
	}
	var err error
	o.Schema, err = a.schema()
	return o, err
}

// describe is summary and description, as far as a model should read them.
func describe(op canon.Value) string {
	text := strings.TrimSpace(textOf(op, "summary"))
	if more := strings.TrimSpace(textOf(op, "description")); more != "" && more != text {
		text = strings.TrimSpace(text + "\n\n" + more)
	}
	if len(text) > maxDescription {
		text = strings.ToValidUTF8(text[:maxDescription], "") + "..."
	}
	return text
}

const (
	maxDescription = 4 << 10
	maxName        = 64
)

// nameOf makes a tool's name: an operationId in other letters is written with
// underscores.
func nameOf(method, path, id string) string {
	if id == "" {
		id = method + path
	}
	var b strings.Builder
	for _, c := range id {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteRune(c)
		default:
			b.WriteByte('_')
		}
	}
	name := strings.Trim(b.String(), "_")
	for strings.Contains(name, "__") {
		name = strings.ReplaceAll(name, "__", "_")
	}
	if len(name) > maxName {
		name = name[:maxName]
	}
	return name
}

// checkPath: a path that a server reads in one way only.
func checkPath(path string) error {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?#%\\; ") || strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the path does not begin with a slash, or has letters that can be read in several ways")
	}
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		if s == "." || s == ".." || s == "" && i < len(segments)-1 {
			return errors.New("the path has a segment that is empty or made of dots")
		}
	}
	open := strings.Split(path, "{")
	for _, rest := range open[1:] {
		name, after, closed := strings.Cut(rest, "}")
		if !closed || name == "" || strings.ContainsAny(name, "/") || strings.Contains(after, "}") {
			return errors.New("the braces of the path do not match")
		}
	}
	if strings.Contains(open[0], "}") {
		return errors.New("the braces of the path do not match")
	}
	return nil
}

// variables are the names in a path.
func variables(path string) []string {
	var out []string
	for _, rest := range strings.Split(path, "{")[1:] {
		name, _, _ := strings.Cut(rest, "}")
		out = append(out, name)
	}
	return out
}

// Definition is the tool object, as tools/list has it. It says all that the
// operation is.
func (o Operation) Definition() []byte {
	members := []canon.Member{{Name: "name", Value: canon.StringValue(o.Name)}, {Name: "inputSchema", Value: o.Schema},
		{Name: "_meta", Value: canon.ObjectValue(canon.Member{Name: MetaKey, Value: o.Binding.value()})}}
	if o.Description != "" {
		members = append(members, canon.Member{Name: "description", Value: canon.StringValue(o.Description)})
	}
	if slices.Contains([]string{"GET", "HEAD"}, o.Binding.Method) {
		members = append(members, canon.Member{Name: "annotations",
			Value: canon.ObjectValue(canon.Member{Name: "readOnlyHint", Value: canon.BoolValue(true)})})
	}
	return canon.ObjectValue(members...).Canonical()
}

func (b Binding) value() canon.Value {
	params := make([]canon.Value, len(b.Params))
	for i, p := range b.Params {
		params[i] = canon.ObjectValue(canon.Member{Name: "member", Value: canon.StringValue(p.Member)}, canon.Member{Name: "name", Value: canon.StringValue(p.Name)},
			canon.Member{Name: "in", Value: canon.StringValue(p.In)}, canon.Member{Name: "style", Value: canon.StringValue(p.Style)},
			canon.Member{Name: "explode", Value: canon.BoolValue(p.Explode)}, canon.Member{Name: "required", Value: canon.BoolValue(p.Required)})
	}
	members := []canon.Member{{Name: "method", Value: canon.StringValue(b.Method)}, {Name: "path", Value: canon.StringValue(b.Path)},
		{Name: "params", Value: canon.ArrayValue(params...)}}
	if b.Body != nil {
		members = append(members, canon.Member{Name: "body", Value: canon.ObjectValue(canon.Member{Name: "member", Value: canon.StringValue(b.Body.Member)},
			canon.Member{Name: "type", Value: canon.StringValue(b.Body.Type)}, canon.Member{Name: "required", Value: canon.BoolValue(b.Body.Required)})})
	}
	if b.KeyHeader != "" {
		members = append(members, canon.Member{Name: "keyHeader", Value: canon.StringValue(b.KeyHeader)})
	}
	return canon.ObjectValue(members...)
}
