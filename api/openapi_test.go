package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/api"
	"github.com/seed-de4804fb/verbatim/audit"
)

// schemaOf is the part of a schema that these tests read.
type schemaOf struct {
	Ref        string              `json:"$ref"`
	Type       string              `json:"type"`
	Extra      any                 `json:"additionalProperties"`
	Required   []string            `json:"required"`
	Properties map[string]schemaOf `json:"properties"`
	Items      *schemaOf           `json:"items"`
	Enum       []string            `json:"enum"`
}

type parameterOf struct {
	Name   string   `json:"name"`
	In     string   `json:"in"`
	Schema schemaOf `json:"schema"`
}

type contentOf map[string]struct {
	Schema schemaOf `json:"schema"`
}

type operationOf struct {
	ID          string        `json:"operationId"`
	Parameters  []parameterOf `json:"parameters"`
	RequestBody *struct {
		Content contentOf `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content contentOf `json:"content"`
	} `json:"responses"`
}

type documentOf struct {
	OpenAPI    string                            `json:"openapi"`
	Paths      map[string]map[string]operationOf `json:"paths"`
	Components struct {
		Schemas map[string]schemaOf `json:"schemas"`
	} `json:"components"`
}

func openAPI(t *testing.T) documentOf {
	t.Helper()
	var d documentOf
	if err := json.Unmarshal(api.OpenAPI(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheDocumentHasTheRoutesAndTheirParameters(t *testing.T) {
	t.Parallel()
	d := openAPI(t)
	if d.OpenAPI != "3.1.0" {
		t.Errorf("version %q", d.OpenAPI)
	}
	var said, real []string
	for path, methods := range d.Paths {
		for method, op := range methods {
			line := strings.ToUpper(method) + " " + path
			for _, p := range op.Parameters {
				if p.In == "query" {
					line += " " + p.Name
				}
			}
			said = append(said, line)
			if op.ID == "" || op.Responses["default"].Content["application/problem+json"].Schema.Ref != "#/components/schemas/Problem" {
				t.Errorf("%s has no name, or no problem", line)
			}
		}
	}
	for _, r := range api.Routes() {
		real = append(real, strings.Join(append([]string{r.Method, r.Path}, api.Queries(r)...), " "))
	}
	slices.Sort(said)
	slices.Sort(real)
	if diff := cmp.Diff(real, said); diff != "" {
		t.Errorf("routes (-code +document):\n%s", diff)
	}
}

func TestTheDocumentHasTheCodesAndStates(t *testing.T) {
	t.Parallel()
	s := openAPI(t).Components.Schemas
	var codes, states []string
	if diff := cmp.Diff(audit.Events(), s["Record"].Properties["event"].Enum, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("events (-code +document):\n%s", diff)
	}
	for c := range maps.Keys(verbatim.Codes()) {
		codes = append(codes, string(c))
	}
	slices.Sort(codes)
	for _, x := range action.States() {
		states = append(states, string(x))
	}
	if diff := cmp.Diff(codes, s["Code"].Enum); diff != "" {
		t.Errorf("codes (-code +document):\n%s", diff)
	}
	if diff := cmp.Diff(states, s["Action"].Properties["state"].Enum); diff != "" {
		t.Errorf("states (-code +document):\n%s", diff)
	}
}

// Every schema names exactly the members of the type behind it, and requires
// those that are never left out.
func TestTheDocumentHasTheMembersOfTheCodesTypes(t *testing.T) {
	t.Parallel()
	schemas := openAPI(t).Components.Schemas
	held := map[string]bool{"Code": true, "Stage": true, "Digest": true, "Outcome": true, "OutcomeData": true,
		"Bundle": true, "Proved": true} // bundles are compared where one is read
	compare := func(name string, members, required []string) {
		held[name] = true
		s := schemas[name]
		slices.Sort(members)
		slices.Sort(required)
		if diff := cmp.Diff(members, slices.Sorted(maps.Keys(s.Properties))); diff != "" {
			t.Errorf("members of %s (-code +document):\n%s", name, diff)
		}
		if diff := cmp.Diff(required, slices.Sorted(slices.Values(s.Required))); diff != "" {
			t.Errorf("required members of %s (-code +document):\n%s", name, diff)
		}
		if s.Extra != false {
			t.Errorf("%s takes any member", name)
		}
	}
	for name, of := range api.Answers() {
		var members, required []string
		for i := range of.NumField() {
			tag, rest, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			members = append(members, tag)
			if rest != "omitempty" {
				required = append(required, tag)
			}
		}
		compare(name, members, required)
	}
	for name, of := range api.Bodies() {
		compare(name, of[0], of[1])
	}
	for name := range schemas {
		if !held[name] {
			t.Errorf("%s is compared with nothing", name)
		}
	}
}

// conforms checks an answer against a schema of the document: members, types
// and closed lists.
func (d documentOf) conforms(t *testing.T, at string, s schemaOf, x any) {
	t.Helper()
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		s = d.Components.Schemas[name]
	}
	kinds := map[string]reflect.Kind{"string": reflect.String, "integer": reflect.Float64, "boolean": reflect.Bool, "array": reflect.Slice, "object": reflect.Map}
	if s.Type != "" && reflect.ValueOf(x).Kind() != kinds[s.Type] {
		t.Errorf("%s is %T, not %s", at, x, s.Type)
		return
	}
	if text, ok := x.(string); ok && len(s.Enum) > 0 && !slices.Contains(s.Enum, text) {
		t.Errorf("%s is %q, which the document does not list", at, text)
	}
	if list, ok := x.([]any); ok && s.Items != nil {
		for _, e := range list {
			d.conforms(t, at+"/-", *s.Items, e)
		}
	}
	members, ok := x.(map[string]any)
	if !ok || s.Properties == nil {
		return
	}
	for _, name := range s.Required {
		if _, found := members[name]; !found {
			t.Errorf("%s lacks %s", at, name)
		}
	}
	for name, value := range members {
		sub, known := s.Properties[name]
		if !known {
			t.Errorf("%s has %s, which the document does not", at, name)
			continue
		}
		d.conforms(t, at+"/"+name, sub, value)
	}
}

func TestAnswersAreWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	w, d := newWorld(t), openAPI(t)
	pending := w.call("maria", "up.pay", `{"text":"p"}`).at("/outcome/data/actionId")
	id := w.call("maria", "up.note", `{"text":"q"}`).at("/outcome/data/actionId")
	denied := w.call("maria", "up.secret", `{"text":"q"}`).at("/outcome/data/actionId")
	voted := w.call("maria", "up.pay", `{"text":"r"}`).at("/outcome/data/actionId")
	w.Approve(voted, "ada")
	w.signLog()
	late := w.call("maria", "up.note", `{"text":"s"}`).at("/outcome/data/actionId")
	mine := w.authorize("maria", "up.note", `{"text":"r"}`)
	for _, ask := range []struct{ method, route, path, body string }{
		{"GET", "/v1/openapi.json", "/v1/openapi.json", ""},
		{"POST", "/v1/explain", "/v1/explain", bodyOf("up.pay", `{"text":"a"}`)},
		{"POST", "/v1/explain", "/v1/explain", bodyOf("up.pay", `{"text":1}`)},
		{"POST", "/v1/explain", "/v1/explain", "{}"},
		{"POST", "/v1/call", "/v1/call", bodyOf("up.note", `{"text":"a"}`)},
		{"POST", "/v1/call", "/v1/call", bodyOf("up.read", `{"text":"a"}`)},
		{"POST", "/v1/call", "/v1/call", bodyOf("up.pay", `{"text":"a"}`)},
		{"POST", "/v1/call", "/v1/call", bodyOf("up.secret", `{"text":"a"}`)},
		{"POST", "/v1/call", "/v1/call", bodyOf("up.note", `{"text":1}`)},
		{"POST", "/v1/call", "/v1/call", bodyOf("down.note", `{}`)},
		{"POST", "/v1/authorize", "/v1/authorize", bodyOf("up.note", `{"text":"b"}`)},
		{"POST", "/v1/authorize", "/v1/authorize", bodyOf("up.read", `{"text":"b"}`)},
		{"POST", "/v1/authorize", "/v1/authorize", bodyOf("up.pay", `{"text":"b"}`)},
		{"POST", "/v1/authorize", "/v1/authorize", bodyOf("up.secret", `{"text":"b"}`)},
		{"POST", "/v1/actions/{id}/outcome", "/v1/actions/" + mine.at("/outcome/data/actionId") + "/outcome", `{"ended":"succeeded","warrant":` + quote(mine.at("/warrant")) + `}`},
		{"POST", "/v1/actions/{id}/outcome", "/v1/actions/" + mine.at("/outcome/data/actionId") + "/outcome", `{"ended":"failed","warrant":` + quote(mine.at("/warrant")) + `}`},
		{"POST", "/v1/actions/{id}/outcome", "/v1/actions/none/outcome", `{"ended":"failed","warrant":"x"}`},
		{"GET", "/v1/actions", "/v1/actions?limit=1", ""},
		{"GET", "/v1/actions/{id}", "/v1/actions/" + id, ""},
		{"GET", "/v1/actions/{id}", "/v1/actions/" + pending, ""},
		{"GET", "/v1/actions/{id}", "/v1/actions/none", ""},
		{"GET", "/v1/proposals", "/v1/proposals", ""},
		{"GET", "/v1/tools", "/v1/tools", ""},
		{"GET", "/v1/actions/{id}/result", "/v1/actions/" + id + "/result", ""},
		{"GET", "/v1/actions/{id}/result", "/v1/actions/" + pending + "/result", ""},
		{"GET", "/v1/actions/{id}/result", "/v1/actions/" + denied + "/result", ""},
		{"GET", "/v1/actions/{id}/votes", "/v1/actions/" + voted + "/votes", ""},
		{"GET", "/v1/actions/{id}/records", "/v1/actions/" + voted + "/records", ""},
		{"GET", "/v1/actions/{id}/receipts", "/v1/actions/" + voted + "/receipts", ""},
		{"GET", "/v1/actions/{id}/evidence", "/v1/actions/" + voted + "/evidence", ""},
		{"GET", "/v1/actions/{id}/evidence", "/v1/actions/" + late + "/evidence", ""},
		{"POST", "/v1/actions/{id}/dismiss", "/v1/actions/" + pending + "/dismiss", "{}"},
		{"POST", "/v1/actions/{id}/dismiss", "/v1/actions/" + id + "/dismiss", "{}"},
	} {
		got := w.ask("maria", ask.method, ask.path, ask.body)
		op := d.Paths[ask.route][strings.ToLower(ask.method)]
		status, kind := "default", "application/problem+json"
		if got.status < http.StatusBadRequest {
			status, kind = map[int]string{200: "200", 202: "202"}[got.status], "application/json"
		}
		said, ok := op.Responses[status].Content[kind]
		if !ok || got.header.Get("Content-Type") != kind {
			t.Errorf("%s %s: %d as %s is not in the document", ask.method, ask.path, got.status, got.header.Get("Content-Type"))
			continue
		}
		var x any
		if err := json.Unmarshal([]byte(got.text), &x); err != nil {
			t.Fatal(err)
		}
		d.conforms(t, ask.method+" "+ask.path, said.Schema, x)
	}
}
