package api_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wellFormed checks what the type of these tests does not say: references that
// lead somewhere, unique operation ids, and path parameters that are those of
// the path.
func TestTheDocumentIsWhole(t *testing.T) {
	t.Parallel()
	d := openAPI(t)
	ids := map[string]bool{}
	var follow func(at string, s schemaOf)
	follow = func(at string, s schemaOf) {
		if s.Ref != "" {
			name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/")
			if _, found := d.Components.Schemas[name]; !ok || !found {
				t.Errorf("%s refers to %s, which is not there", at, s.Ref)
			}
		}
		for _, name := range s.Required {
			if _, found := s.Properties[name]; !found {
				t.Errorf("%s requires %s, which it does not have", at, name)
			}
		}
		for name, p := range s.Properties {
			follow(at+"/"+name, p)
		}
		if s.Items != nil {
			follow(at+"/-", *s.Items)
		}
	}
	for name, s := range d.Components.Schemas {
		follow(name, s)
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			if ids[op.ID] {
				t.Errorf("two operations are %s", op.ID)
			}
			ids[op.ID] = true
			var variables []string
			for _, p := range op.Parameters {
				follow(op.ID+" "+p.Name, p.Schema)
				if p.In == "path" {
					variables = append(variables, "{"+p.Name+"}")
				}
			}
			if strings.Contains(path, "{") != (len(variables) > 0) || strings.Count(path, "{") != len(variables) {
				t.Errorf("%s %s has the path parameters %v", method, path, variables)
			}
			for status, r := range op.Responses {
				for kind, c := range r.Content {
					follow(op.ID+" "+status+" "+kind, c.Schema)
				}
			}
		}
	}
}

// sample makes a value of a schema: with all members, or with the required
// ones. Words that mean something in the world come from given, by name.
func (d documentOf) sample(t *testing.T, name string, s schemaOf, all bool, given map[string]any) any {
	t.Helper()
	if x, found := given[name]; found {
		return x
	}
	if ref, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		s = d.Components.Schemas[ref]
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == "object":
		out := map[string]any{}
		for member, sub := range s.Properties {
			if all || slices.Contains(s.Required, member) {
				if x := d.sample(t, member, sub, all, given); x != nil {
					out[member] = x
				}
			}
		}
		return out
	case s.Type == "integer":
		return 1
	case s.Type == "boolean":
		return true
	case s.Type == "string":
		return "sample"
	default:
		t.Fatalf("nobody knows a sample of %s", name)
		return nil
	}
}

// A request made from nothing but the document is taken by every operation, with
// the required parts and with all of them, and its answer is what the document
// says.
func TestAGeneratedRequestOfEveryOperationWorks(t *testing.T) {
	t.Parallel()
	d := openAPI(t)
	var tried []string
	for path, methods := range d.Paths {
		for method, op := range methods {
			tried = append(tried, strings.ToUpper(method)+" "+path)
			for _, all := range []bool{false, true} {
				w := newWorld(t)
				given := w.given(op.ID)
				query, headers, at := url.Values{}, []string{}, path
				for _, p := range op.Parameters {
					x := d.sample(t, p.Name, p.Schema, all, given)
					text, err := json.Marshal(x)
					if err != nil {
						t.Fatal(err)
					}
					value := strings.Trim(string(text), `"`)
					switch {
					case p.In == "path":
						at = strings.Replace(at, "{"+p.Name+"}", value, 1)
					case x == nil || !all:
					case p.In == "query":
						query.Set(p.Name, value)
					default:
						headers = append(headers, p.Name, value)
					}
				}
				if len(query) > 0 {
					at += "?" + query.Encode()
				}
				body := ""
				if op.RequestBody != nil {
					text, err := json.Marshal(d.sample(t, "body", op.RequestBody.Content["application/json"].Schema, all, given))
					if err != nil {
						t.Fatal(err)
					}
					body = string(text)
				}
				got := w.fire("maria", strings.ToUpper(method), at, body, headers...)
				if got.status >= 300 {
					t.Errorf("%s %s %s: %d %.300s", method, at, body, got.status, got.text)
				}
			}
		}
	}
	real := apiRoutes()
	slices.Sort(tried)
	slices.Sort(real)
	if diff := cmp.Diff(real, tried); diff != "" {
		t.Errorf("operations (-code +tried):\n%s", diff)
	}
}

// given are the words of the world that an operation needs; nil leaves a member
// out.
func (w *world) given(operation string) map[string]any {
	w.t.Helper()
	pending := w.call("maria", "up.pay", `{"text":"p"}`).at("/outcome/data/actionId")
	done := w.call("maria", "up.note", `{"text":"q"}`).at("/outcome/data/actionId")
	out := map[string]any{"toolName": "up.note", "arguments": `{"text":"a"}`, "approval": nil, "supersedes": nil, "tool": "up.note",
		"before": done, "id": done, "state": "succeeded", "wait": 1, "waitSeconds": 1, "Last-Event-ID": 1, "Idempotency-Key": "k"}
	w.signLog()
	switch operation {
	case "dismissAction":
		out["id"] = pending
	case "listRecords":
		out["before"] = 1000
	case "listProposals":
		out["state"] = "pending_approval"
	case "reportOutcome":
		got := w.authorize("maria", "up.note", `{"text":"r"}`)
		out["id"], out["warrant"] = got.at("/outcome/data/actionId"), got.at("/warrant")
		out["ended"], out["verdict"], out["output"] = "succeeded", "ok", `{"n":1}`
	}
	return out
}
