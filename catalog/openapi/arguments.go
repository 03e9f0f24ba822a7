package openapi

import (
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// arguments gathers what one call of an operation takes.
type arguments struct {
	*converter
	binding    *Binding
	taken      map[string]bool // folded names of members
	properties []canon.Member
	required   []canon.Value
}

// add gives a parameter or body a member, named after it.
func (a *arguments) add(name, instead string, schema canon.Value, required bool) (member string, err error) {
	member = name
	if a.taken[strings.ToLower(member)] {
		member = instead
	}
	if a.taken[strings.ToLower(member)] {
		return "", fmt.Errorf("two parameters would be the member %s", instead)
	}
	a.taken[strings.ToLower(member)] = true
	x, err := a.converter.schema(schema, 0)
	if err != nil {
		return "", err
	}
	a.properties = append(a.properties, canon.Member{Name: member, Value: x})
	if required {
		a.required = append(a.required, canon.StringValue(member))
	}
	return member, nil
}

// parameters reads those of the path, and those of the operation, which come
// before them.
func (a *arguments) parameters(item, op canon.Value) error {
	type place struct{ in, name string }
	var all []canon.Value
	at := map[place]int{}
	for _, v := range []canon.Value{item, op} {
		list, _ := v.Get("parameters")
		for _, x := range list.Elements() {
			p, err := a.doc.follow(x)
			if err != nil {
				return err
			}
			key := place{textOf(p, "in"), textOf(p, "name")}
			if i, again := at[key]; again {
				all[i] = p
				continue
			}
			at[key] = len(all)
			all = append(all, p)
		}
	}
	for _, p := range all {
		if err := a.parameter(p); err != nil {
			return fmt.Errorf("parameter %s: %w", textOf(p, "name"), err)
		}
	}
	return a.complete()
}

// complete: each variable of the path is a parameter, once, and no other is
// one of the path.
func (a *arguments) complete() error {
	var given []string
	for _, p := range a.binding.Params {
		if p.In == "path" {
			given = append(given, p.Name)
		}
	}
	wanted := variables(a.binding.Path)
	slices.Sort(given)
	slices.Sort(wanted)
	if !slices.Equal(given, wanted) {
		return errors.New("the variables of the path are not its path parameters")
	}
	return nil
}

var styles = map[string][]string{"path": {"simple", "label", "matrix"}, "header": {"simple"},
	"query": {"form", "spaceDelimited", "pipeDelimited", "deepObject"}}

func (a *arguments) parameter(p canon.Value) error {
	name, in := textOf(p, "name"), textOf(p, "in")
	required, err := flagOf(p, "required", false)
	if err != nil {
		return err
	}
	if name == "" || styles[in] == nil && in != "cookie" {
		return errors.New("it has no name, or is in no place that is known")
	}
	if gone, err := a.withheld(name, in, required); gone || err != nil {
		return err
	}
	if in == "path" && !required {
		return errors.New("a path parameter must be required")
	}
	reserved, err := flagOf(p, "allowReserved", false)
	if err != nil || reserved {
		return errors.New("allowReserved lets a value change the address")
	}
	out := Param{Name: name, In: in, Required: required}
	schema, err := a.shape(p, &out)
	if err != nil {
		return err
	}
	if out.Member, err = a.add(name, in+"_"+name, schema, required); err != nil {
		return err
	}
	a.binding.Params = append(a.binding.Params, out)
	return nil
}

// shape reads how a parameter is written, and its schema.
func (a *arguments) shape(p canon.Value, out *Param) (canon.Value, error) {
	if content, found := p.Get("content"); found {
		if content.Len() != 1 {
			return canon.Value{}, errors.New("it has several contents")
		}
		kind, media := content.Member(0)
		if !isJSON(kind) {
			return canon.Value{}, errors.New("its content is not JSON")
		}
		out.Style = "json"
		return schemaOf(media)
	}
	preset := map[string]string{"path": "simple", "header": "simple", "query": "form"}[out.In]
	if out.Style = textOf(p, "style"); out.Style == "" {
		out.Style = preset
	}
	if !slices.Contains(styles[out.In], out.Style) {
		return canon.Value{}, errors.New("its style does not fit its place")
	}
	var err error
	if out.Explode, err = flagOf(p, "explode", out.Style == "form"); err != nil {
		return canon.Value{}, err
	}
	return schemaOf(p)
}

func schemaOf(v canon.Value) (canon.Value, error) {
	schema, found := v.Get("schema")
	if !found {
		return canon.Value{}, errors.New("it has no schema")
	}
	return schema, nil
}

// keyHeaders are headers for idempotency keys. The gateway writes them.
var keyHeaders = []string{"idempotency-key", "x-idempotency-key"}

// ignored are headers that a parameter never stands for (OpenAPI 3.1.0,
// Parameter Object).
var ignored = []string{"accept", "content-type", "authorization"}

// ownHeaders are for HTTP and for those between; no argument writes them.
var ownHeaders = []string{"host", "connection", "content-length", "content-encoding", "transfer-encoding", "te", "trailer", "upgrade", "expect",
	"cookie", "forwarded", "via", "keep-alive", "user-agent", "date", "origin", "referer", "range", "max-forwards"}

// Reserved reports whether a header is not an argument's to write.
func Reserved(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(ignored, name) || slices.Contains(keyHeaders, name) || slices.Contains(ownHeaders, name) ||
		strings.HasPrefix(name, "proxy-") || strings.HasPrefix(name, "sec-") || strings.HasPrefix(name, "x-forwarded-") ||
		strings.HasPrefix(name, "x-http-method") || name == "x-method-override" || name == "x-real-ip" || !isToken(name)
}

func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// withheld: a parameter that is no argument. One that is needed leaves the
// operation out.
func (a *arguments) withheld(name, in string, required bool) (gone bool, err error) {
	lower := strings.ToLower(name)
	switch {
	case in == "header" && slices.Contains(keyHeaders, lower):
		a.binding.KeyHeader = name
		return true, nil
	case in == "header" && slices.Contains(ignored, lower):
		return true, nil
	case in == "cookie", in == "header" && Reserved(name):
		if required {
			return true, errors.New("no argument may write it, and it is needed")
		}
		return true, nil
	default:
		return false, nil
	}
}

// body reads the request body.
func (a *arguments) body(op canon.Value) error {
	v, found := op.Get("requestBody")
	if !found {
		return nil
	}
	v, err := a.doc.follow(v)
	if err != nil {
		return err
	}
	required, err := flagOf(v, "required", false)
	if err != nil {
		return err
	}
	content, _ := v.Get("content")
	for _, m := range content.Members() {
		if !isJSON(m.Name) {
			continue
		}
		if a.binding.Method == "GET" || a.binding.Method == "HEAD" {
			return errors.New("a request of this method has no body")
		}
		schema, err := schemaOf(m.Value)
		if err != nil {
			return fmt.Errorf("body: %w", err)
		}
		out := &Body{Type: mediaType(m.Name), Required: required}
		if out.Member, err = a.add("body", "request_body", schema, required); err != nil {
			return fmt.Errorf("body: %w", err)
		}
		a.binding.Body = out
		return nil
	}
	if required || content.Len() > 0 {
		return errors.New("its body is not JSON")
	}
	return nil
}

// mediaType is a media type without parameters; "" for a range or none.
func mediaType(text string) string {
	kind, _, err := mime.ParseMediaType(text)
	if err != nil || strings.Contains(kind, "*") {
		return ""
	}
	return kind
}

func isJSON(text string) bool {
	kind := mediaType(text)
	return kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")
}

// schema is that of the arguments.
func (a *arguments) schema() (canon.Value, error) {
	defs, err := a.finish()
	if err != nil {
		return canon.Value{}, err
	}
	members := []canon.Member{{Name: "type", Value: canon.StringValue("object")}, {Name: "properties", Value: canon.ObjectValue(a.properties...)},
		{Name: "additionalProperties", Value: canon.BoolValue(false)}}
	if len(a.required) > 0 {
		members = append(members, canon.Member{Name: "required", Value: canon.ArrayValue(a.required...)})
	}
	if len(defs) > 0 {
		members = append(members, canon.Member{Name: "$defs", Value: canon.ObjectValue(defs...)})
	}
	return canon.ObjectValue(members...), nil
}
