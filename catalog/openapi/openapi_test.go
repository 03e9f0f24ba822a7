package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/openapi"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
)

const billing = `openapi: 3.0.3
info: {title: Billing, version: 1.0}
servers: [{url: https://evil.test}]
paths:
  /accounts/{account}/payments:
    parameters:
      - $ref: '#/components/parameters/Account'
    get:
      summary: List payments.
      operationId: listPayments
      parameters:
        - {name: limit, in: query, schema: {type: integer, minimum: 0, exclusiveMinimum: true, maximum: 100}}
        - {name: state, in: query, explode: false, schema: {type: array, items: {type: string}}}
        - {name: Accept, in: header, required: true, schema: {type: string}}
        - {name: session, in: cookie, schema: {type: string}}
      responses: {200: {description: ok}}
    post:
      summary: Pay somebody.
      description: Money leaves.
      operationId: pay
      parameters:
        - {name: Idempotency-Key, in: header, required: true, schema: {type: string}}
        - {name: X-Trace, in: header, schema: {type: string}}
        - {name: account, in: query, schema: {type: string}}
      requestBody:
        required: true
        content:
          application/json; charset=utf-8:
            schema: {$ref: '#/components/schemas/Payment'}
      responses: {201: {description: ok}}
components:
  parameters:
    Account: {name: account, in: path, required: true, schema: {type: string, minLength: 1}}
  schemas:
    Payment:
      type: object
      required: [id, amount, payee]
      properties:
        id: {type: string, readOnly: true}
        amount: {type: integer, minimum: 1, example: 5}
        note: {type: string, nullable: true, enum: [a, b]}
        payee: {$ref: '#/components/schemas/Payee'}
    Payee:
      type: object
      properties: {name: {type: string}, parent: {$ref: '#/components/schemas/Payee'}}
`

func read(t *testing.T, text string) ([]openapi.Operation, []openapi.Left) {
	t.Helper()
	found, left, err := openapi.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return found, left
}

func TestOperationsBecomeToolsWithOneSchemaAndABinding(t *testing.T) {
	t.Parallel()
	found, left := read(t, billing)
	if len(found) != 2 || len(left) != 0 {
		t.Fatalf("%d operations, left out %v", len(found), left)
	}
	list, pay := found[0], found[1]
	wantList := openapi.Binding{Method: "GET", Path: "/accounts/{account}/payments", Params: []openapi.Param{
		{Member: "account", Name: "account", In: "path", Style: "simple", Required: true},
		{Member: "limit", Name: "limit", In: "query", Style: "form", Explode: true},
		{Member: "state", Name: "state", In: "query", Style: "form"}}}
	if diff := cmp.Diff(wantList, list.Binding); diff != "" {
		t.Errorf("binding (-want +got):\n%s", diff)
	}
	wantPay := openapi.Binding{Method: "POST", Path: "/accounts/{account}/payments", KeyHeader: "Idempotency-Key",
		Body: &openapi.Body{Member: "body", Type: "application/json", Required: true}, Params: []openapi.Param{
			{Member: "account", Name: "account", In: "path", Style: "simple", Required: true},
			{Member: "X-Trace", Name: "X-Trace", In: "header", Style: "simple"},
			{Member: "query_account", Name: "account", In: "query", Style: "form", Explode: true}}}
	if diff := cmp.Diff(wantPay, pay.Binding); diff != "" {
		t.Errorf("binding (-want +got):\n%s", diff)
	}
	const wantSchema = `{"$defs":{"s1":{"properties":{"amount":{"minimum":1,"type":"integer"},"note":{"enum":["a","b",null],"type":["string","null"]},"payee":{"$ref":"#/$defs/s2"}},` +
		`"required":["amount","payee"],"type":"object"},"s2":{"properties":{"name":{"type":"string"},"parent":{"$ref":"#/$defs/s2"}},"type":"object"}},` +
		`"additionalProperties":false,"properties":{"X-Trace":{"type":"string"},"account":{"minLength":1,"type":"string"},"body":{"$ref":"#/$defs/s1"},"query_account":{"type":"string"}},` +
		`"required":["account","body"],"type":"object"}`
	if diff := cmp.Diff(wantSchema, string(pay.Schema.Canonical())); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	limit, _ := list.Schema.Lookup("/properties/limit")
	if got := string(limit.Canonical()); got != `{"exclusiveMinimum":0,"maximum":100,"type":"integer"}` {
		t.Errorf("a bound of 3.0: %s", got)
	}
	if pay.Description != "Pay somebody.\n\nMoney leaves." {
		t.Errorf("%q", pay.Description)
	}
}

// A definition names everything that decides where a call goes, so that its
// digest changes with any of it.
func TestADefinitionPinsWhereCallsGo(t *testing.T) {
	t.Parallel()
	found, _ := read(t, billing)
	pinned := catalog.DefinitionDigest(found[1].Definition())
	for name, change := range map[string][2]string{"the path": {"/payments:", "/payouts:"}, "the method": {"    post:", "    put:"},
		"a style":  {"{name: account, in: query, schema", "{name: account, in: query, explode: false, schema"},
		"a header": {"X-Trace", "X-Other"}, "the key": {"Idempotency-Key", "X-Idempotency-Key"}, "a schema below": {"minimum: 1,", "minimum: 2,"},
		"what is required": {"        required: true\n        content", "        required: false\n        content"}} {
		text := strings.Replace(billing, change[0], change[1], 1)
		other, _ := read(t, text)
		if text == billing || catalog.DefinitionDigest(other[len(other)-1].Definition()) == pinned {
			t.Errorf("%s moves nothing", name)
		}
	}
	again, _ := read(t, strings.ReplaceAll(billing, "https://evil.test", "https://other.test"))
	if catalog.DefinitionDigest(again[1].Definition()) != pinned {
		t.Error("the servers of a document count for something")
	}
}

func TestWhatWasReadIsATool(t *testing.T) {
	t.Parallel()
	found, _ := read(t, billing)
	var raw [][]byte
	for _, o := range found {
		if _, err := catalog.Uncataloged("billing", o.Name, o.Definition()); err != nil {
			t.Errorf("%s: %v", o.Name, err)
		}
		raw = append(raw, o.Definition())
	}
	text, err := yamlfile.Import("billing", raw, yamlfile.ImportOptions{})
	if err != nil || strings.Contains(string(text), "refused") || !strings.Contains(string(text), "impact: irreversible") || strings.Contains(string(text), "\n    effect:") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestJSONAndYAMLAreOneDocument(t *testing.T) {
	t.Parallel()
	const inYAML = "openapi: 3.1.0\npaths:\n  /a/{b}:\n    get:\n      operationId: one\n      parameters:\n        - {name: b, in: path, required: true, schema: {type: [string, 'null'], examples: [x]}}\n      responses: {'200': {}}\n"
	const inJSON = ` {"openapi":"3.1.0","paths":{"/a/{b}":{"get":{"operationId":"one","parameters":[{"name":"b","in":"path","required":true,"schema":{"type":["string","null"]}}]}}}}`
	one, _ := read(t, inYAML)
	two, _ := read(t, inJSON)
	if diff := cmp.Diff(string(one[0].Definition()), string(two[0].Definition())); diff != "" {
		t.Error(diff)
	}
}

// doc is a document with one operation at /a.
func doc(operation string) string {
	return `{"openapi":"3.1.0","paths":{"/a":{"post":` + operation + `}},"components":{"schemas":{"Loop":{"$ref":"#/components/schemas/Pool"},"Pool":{"$ref":"#/components/schemas/Loop"},
"Deep":{"allOf":[{"$ref":"#/components/schemas/Deep"}]},"Own":{"$id":"https://x.test"}},"parameters":{"P":{"$ref":"#/components/parameters/P"}}}}`
}

func param(text string) string { return doc(`{"operationId":"x","parameters":[` + text + `]}`) }

func body(schema string) string {
	return doc(`{"operationId":"x","requestBody":{"content":{"application/json":{"schema":` + schema + `}}}}`)
}

func TestHostileOperationsAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a reference out":           body(`{"$ref":"https://evil.test/a.json"}`),
		"a reference to a file":     body(`{"$ref":"../secret.yaml#/a"}`),
		"a reference to nowhere":    body(`{"$ref":"#/components/schemas/None"}`),
		"a circle":                  body(`{"$ref":"#/components/schemas/Loop"}`),
		"a circle of parameters":    param(`{"$ref":"#/components/parameters/P"}`),
		"an id":                     body(`{"$ref":"#/components/schemas/Own"}`),
		"an own base":               body(`{"$dynamicRef":"#x"}`),
		"a schema that is a number": body(`5`),
		"a form":                    doc(`{"operationId":"x","requestBody":{"required":true,"content":{"multipart/form-data":{"schema":{}}}}}`),
		"servers of its own":        doc(`{"operationId":"x","servers":[{"url":"https://evil.test"}]}`),
		"allowReserved":             param(`{"name":"q","in":"query","allowReserved":true,"schema":{}}`),
		"a cookie that is needed":   param(`{"name":"q","in":"cookie","required":true,"schema":{}}`),
		"a host":                    param(`{"name":"Host","in":"header","required":true,"schema":{}}`),
		"a proxy header":            param(`{"name":"X-Forwarded-For","in":"header","required":true,"schema":{}}`),
		"a method override":         param(`{"name":"X-HTTP-Method-Override","in":"header","required":true,"schema":{}}`),
		"a header with a line":      param(`{"name":"A\r\nB","in":"header","required":true,"schema":{}}`),
		"a path parameter nowhere":  param(`{"name":"q","in":"path","required":true,"schema":{}}`),
		"no schema":                 param(`{"name":"q","in":"query"}`),
		"no name":                   param(`{"in":"query","schema":{}}`),
		"another place":             param(`{"name":"q","in":"fragment","schema":{}}`),
		"a style of another place":  param(`{"name":"q","in":"query","style":"matrix","schema":{}}`),
		"an odd flag":               param(`{"name":"q","in":"query","explode":"yes","schema":{}}`),
		"members that fold":         param(`{"name":"q","in":"query","schema":{}},{"name":"query_q","in":"query","schema":{}},{"name":"Q","in":"query","schema":{}}`),
		"XML in a query":            param(`{"name":"q","in":"query","content":{"text/xml":{"schema":{}}}}`),
		"no object":                 doc(`5`),
	} {
		found, left := read(t, text)
		if len(found) != 0 || len(left) != 1 {
			t.Errorf("%s: %d operations, left out %v", name, len(found), left)
		}
	}
	// What refers to itself only is left to the compiler of schemas.
	found, _ := read(t, body(`{"$ref":"#/components/schemas/Deep"}`))
	if _, err := catalog.Uncataloged("s", "x", found[0].Definition()); err == nil {
		t.Error("a schema that is nothing but itself became a tool")
	}
}

func TestHostilePathsAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"a", "/../a", "/a/./b", "/a//b", "/a?x=1", "/a#b", "/a%2fb", "/{a", "/a}", "/{a}{", "/{}", "/{a/b}", "/a b", "/a\\\\b", "/é", "/a;b", "//evil.test/a", "/a\\n"} {
		found, left := read(t, `{"openapi":"3.1.0","paths":{"`+path+`":{"get":{"operationId":"x"}}}}`)
		if len(found) != 0 || len(left) != 1 {
			t.Errorf("%s: %d operations, left out %v", path, len(found), left)
		}
	}
	found, left := read(t, `{"openapi":"3.1.0","paths":{"/a":{"get":{"operationId":"do it"}},"/b":{"get":{"operationId":"Do-It"}},"/c":{"get":{"operationId":"do_it"}},"/d":{"get":{"operationId":"…"}},"/e/":{"get":{}}}}`)
	if len(found) != 3 || found[0].Name != "do_it" || found[2].Name != "get_e" || len(left) != 2 {
		t.Errorf("%+v, left out %v", found, left)
	}
}

func TestWhatIsNoDocumentIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "no object": "[]", "no version": "{}", "Swagger": `{"swagger":"2.0","paths":{}}`, "4.0": `{"openapi":"4.0.0","paths":{}}`,
		"no paths": `{"openapi":"3.1.0"}`, "a key twice": `{"openapi":"3.1.0","paths":{},"paths":{}}`, "a key twice in YAML": "openapi: 3.1.0\npaths: {}\npaths: {}\n",
		"an anchor": "openapi: 3.1.0\npaths: &a {}\nx-b: *a\n", "a merge": "openapi: 3.1.0\npaths: {<<: {}}\n", "a tag": "openapi: !!str 3.1.0\npaths: {}\n",
		"two documents": "openapi: 3.1.0\npaths: {}\n---\n{}\n", "bad UTF-8": "openapi: 3.1.0\npaths: {}\nx: \xff\n", "cut": `{"openapi":"3.1.0","paths":{`,
		"deep JSON": `{"openapi":"3.1.0","paths":` + strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat("}", 201),
		"deep YAML": "openapi: 3.1.0\npaths: " + strings.Repeat("[", 200) + strings.Repeat("]", 200),
		"long":      `{"openapi":"3.1.0","paths":{}}` + strings.Repeat(" ", openapi.MaxBytes),
	} {
		if found, _, err := openapi.Read([]byte(text)); err == nil {
			t.Errorf("%s was read: %v", name, found)
		}
	}
}

// A document that refers to one large part from everywhere costs no more than
// its limit.
func TestLargeDocumentsEndInTime(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"openapi":"3.1.0","components":{"schemas":{"Big":{"properties":{`)
	for i := range 15_000 {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`"p` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + "_" + time.Duration(i).String() + `":{"type":"string"}`)
	}
	b.WriteString(`}}}},"paths":{`)
	for i := range 1000 {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`"/p` + time.Duration(i).String() + `":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Big"}}}}}}`)
	}
	found, left := read(t, strings.ReplaceAll(b.String(), "µ", "u")+"}}")
	if len(found) > 70 || len(found)+len(left) != 1000 {
		t.Errorf("%d operations, %d left out", len(found), len(left))
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{billing, body(`{"type":"object","properties":{"a":{"$ref":"#/components/schemas/Deep"}}}`),
		param(`{"name":"q","in":"query","style":"deepObject","schema":{"type":"object"}}`), "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{$ref: '#/paths'}]}}}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, _, err := openapi.Read([]byte(text))
		if err != nil {
			return
		}
		for _, o := range found {
			raw := o.Definition()
			if _, err := canon.Decode(raw, canon.Options{MaxBytes: canon.CeilingBytes, MaxDepth: canon.CeilingDepth}); err != nil || !json.Valid(raw) {
				t.Errorf("no definition: %v", err)
			}
		}
	})
}
