package catalog_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/schema"
)

func lint(t testing.TB, s catalog.Spec) []string {
	t.Helper()
	s.Name = "t"
	c, err := catalog.New(define(t, s))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range catalog.Lint(c) {
		if f.Text == "" || f.Tool != "t" {
			t.Errorf("%+v", f)
		}
		out = append(out, f.Rule+" "+f.Pointer)
	}
	return out
}

// classed is a mutation of one effect class, with nothing else to find.
func classed(effect catalog.EffectClass, retention time.Duration) catalog.Spec {
	return catalog.Spec{Schema: []byte(`{"type":"object","properties":{"customer":{"type":"string"}}}`), Effect: effect, Retention: retention,
		Targets: []catalog.TargetRule{{Type: "customer", Pointer: "/customer"}}}
}

func TestLintWantsALookUpOfAServersQueryableTool(t *testing.T) {
	t.Parallel()
	for _, lookup := range []*catalog.Lookup{nil, {Tool: "s.find", Arguments: map[string]string{"id": "/customer"}, At: "/state", Is: []string{"done"}}} {
		s := classed(catalog.Queryable, 0)
		s.Name, s.Server, s.Lookup = "s.pay", "s", lookup
		s.Definition, s.Schema = []byte(`{"name":"pay","inputSchema":{"type":"object","properties":{"customer":{"type":"string"}}}}`), nil
		s.Pin = catalog.DefinitionDigest(s.Definition)
		pinned, err := catalog.Define(s)
		if err != nil {
			t.Fatal(err)
		}
		raw := []byte(`{"name":"find","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}}}`)
		find, err := catalog.Define(catalog.Spec{Name: "s.find", Server: "s", Definition: raw, Pin: catalog.DefinitionDigest(raw), Read: true, Reason: "looks"})
		if err != nil {
			t.Fatal(err)
		}
		c, err := catalog.New(pinned, find)
		if err != nil {
			t.Fatal(err)
		}
		found := catalog.Lint(c)
		if asks := len(found) == 1 && found[0].Rule == catalog.LintLookup; asks != (lookup == nil) {
			t.Errorf("with look-up %v: %+v", lookup != nil, found)
		}
	}
}

func TestLintFinds(t *testing.T) {
	t.Parallel()
	read := func(schema string) catalog.Spec {
		return catalog.Spec{Schema: []byte(schema), Read: true, Reason: "looks"}
	}
	for _, c := range []struct {
		name string
		spec catalog.Spec
		want []string
	}{
		{"nothing", read(`{"type":"object","properties":{"query":{"type":"string"}}}`), nil},
		{"identities", read(`{"type":"object","properties":{"user_id":{"type":"string"},"meta":{"type":"object","properties":{"tenantId":{"type":"string"}}},
			"rows":{"type":"array","items":{"type":"object","properties":{"onBehalfOf":{"type":"string"}}}}}}`),
			[]string{"identity_unmarked /meta/tenantId", "identity_unmarked /rows/*/onBehalfOf", "identity_unmarked /user_id"}},
		{"E06 integer id without a maximum", read(`{"type":"object","properties":{"memory_id":{"type":"integer"},"small_id":{"type":"integer","maximum":99}}}`),
			[]string{"id_without_maximum /memory_id"}},
		{"secret", read(`{"type":"object","properties":{"apiKey":{"type":"string"}}}`), []string{"secret_unmarked /apiKey"}},
		{"O03 fractional amount", read(`{"type":"object","properties":{"amount":{"type":"number"},"total":{"type":"integer"}}}`), []string{"money_unresolved /amount"}},
		{"union", read(`{"type":"object","properties":{"a":{"type":["string","object"]},"b":{},"c":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}`),
			[]string{"invisible_to_policy /a", "invisible_to_policy /b", "invisible_to_policy /c"}},
		{"open objects", read(`{"type":"object","properties":{"map":{"type":"object","additionalProperties":{"type":"string"}}},"additionalProperties":true}`),
			[]string{"undeclared_members_pass ", "undeclared_members_pass /map"}},
		{"mutation without a target", catalog.Spec{Schema: []byte(`{"type":"object"}`)}, []string{"mutation_without_target ", "undeclared_members_pass "}},
		{"an effect class without what it needs", classed(catalog.Keyed, 0), []string{"class_without_retention "}},
		{"one that says how long", classed(catalog.Keyed, time.Hour), nil},
		{"one that needs no time", classed(catalog.Blind, 0), nil},
		{"natural", classed(catalog.Natural, 0), []string{"class_without_retention "}},
		{"queryable in a program that can look up itself", classed(catalog.Queryable, 0), nil},
		{"marked", catalog.Spec{Schema: []byte(`{"type":"object","properties":{"user_id":{"type":"string"},"customer_id":{"type":"string"},"token":{"type":"string"}}}`),
			Identity: []identity.Member{{Pointer: "/user_id", Names: "principal"}}, Targets: []catalog.TargetRule{{Type: "customer", Pointer: "/customer_id"}},
			Secrets: []string{"/token"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, lint(t, c.spec)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLintFailsForConversionWithoutBounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*catalog.Spec)
		fails  bool
	}{
		"two currencies":          {func(*catalog.Spec) {}, true},
		"two currencies, bounded": {func(s *catalog.Spec) { s.Bounds = []string{"/minOut"} }, false},
		"said to convert": {func(s *catalog.Spec) {
			s.Converts, s.Schema = true, []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`)
		}, true},
		"one currency": {func(s *catalog.Spec) {
			s.Schema = []byte(`{"type":"object","properties":{"currency":{"type":"string"}}}`)
		}, false},
		"converts for reading only": {func(s *catalog.Spec) { s.Read, s.Reason = true, "quotes a rate" }, false},
	} {
		s := catalog.Spec{Name: "fx.swap", Schema: []byte(`{"type":"object","properties":{"from_currency":{"type":"string"},"toCurrency":{"type":"string"},"minOut":{"type":"integer"}}}`)}
		c.change(&s)
		set, err := catalog.New(define(t, s))
		if err != nil {
			t.Fatal(err)
		}
		if got := catalog.Failed(catalog.Lint(set)); got != c.fails {
			t.Errorf("%s: fails %v", name, got)
		}
	}
}

func TestResolvedMoneyIsNoFinding(t *testing.T) {
	t.Parallel()
	money, err := resolve.NewMoney(resolve.MoneyOptions{Currency: "EUR"})
	if err != nil {
		t.Fatal(err)
	}
	got := lint(t, catalog.Spec{Read: true, Reason: "looks", Schema: []byte(`{"type":"object","properties":{"amount":{"type":"number"},"currency":{"type":"string"}}}`),
		Resolvers: []resolve.Rule{{Name: "money", Resolver: money, From: map[string]string{"amount": "/amount", "currency": "/currency"},
			Into: map[string]string{"amountMinor": "/amount", "currency": "/currency"}}}})
	if len(got) != 0 {
		t.Error(got)
	}
}

func TestGuessesReadNamesInEveryStyle(t *testing.T) {
	t.Parallel()
	text := &schema.Node{Types: schema.TypeString}
	for name, want := range map[string]catalog.Guess{
		"userId": "principal", "user_id": "principal", "USER-ID": "principal", "UserID": "principal", "acting user": "principal", "requestedBy": "principal",
		"tenant": "tenant", "orgId": "tenant", "organization_id": "tenant", "accessToken": "secret", "API_KEY": "secret", "amount": "money",
		"unitPrice": "money", "source_path": "path", "dir": "path", "webhookURL": "url", "replyTo_email": "email", "emails": "email",
		"cc": "email", "sendAt": "instant", "deadline": "instant", "start_time": "instant", "orderId": "id", "recipient": "id",
		"query": "", "userGuide": "", "superuser": "", "directive": "", "tokens": "", "idea": "", "": "", "emailBody": "", "account": "id", "timeout": "", "format": "",
	} {
		if got := catalog.GuessMember(name, text); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := catalog.GuessMember("userId", &schema.Node{Types: schema.TypeBoolean}); got != "" {
		t.Errorf("a flag is no identity: %s", got)
	}
}

func TestGuessesReadFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, format string
		want         catalog.Guess
	}{
		{"where", "uri", "url"}, {"to", "email", "email"}, {"when", "date-time", "instant"}, {"source", "uri", "url"}, {"recipient", "email", "email"},
		{"apiKey", "uri", "secret"}, {"sender", "email", "principal"}, {"where", "uuid", ""}, {"where", "", ""}, {"path", "regex", "path"},
	} {
		text := &schema.Node{Types: schema.TypeString, Format: c.format}
		for _, n := range []*schema.Node{text, {Types: schema.TypeArray, Items: text}} {
			if got := catalog.GuessMember(c.name, n); got != c.want {
				t.Errorf("%s in format %q: %q, want %q", c.name, c.format, got, c.want)
			}
		}
	}
	if got := catalog.GuessMember("when", &schema.Node{Types: schema.TypeInteger, Format: "date-time"}); got != "" {
		t.Errorf("a format of texts on a number: %s", got)
	}
}

func TestSpellingsWithoutAResolverAreFound(t *testing.T) {
	t.Parallel()
	email, err := resolve.NewEmail(resolve.EmailOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(p string) map[string]string { return map[string]string{"value": p} }
	got := lint(t, catalog.Spec{Read: true, Reason: "looks", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},
		"where":{"type":"string","format":"uri"},"when":{"type":"string","format":"date-time"},"email":{"type":"string"},
		"cc":{"type":"array","items":{"type":"string"}},"bcc":{"type":"array","items":{"type":"string"}}}}`),
		Resolvers: []resolve.Rule{{Name: "mail", Resolver: email, From: at("/email"), Into: at("/email")},
			{Name: "mail", Resolver: email, From: at("/cc/*"), Into: at("/cc/*")}}})
	want := []string{"spelling_unresolved /bcc", "spelling_unresolved /path", "spelling_unresolved /when", "spelling_unresolved /where"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
