package catalog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/schema"
)

const transferSchema = `{"type":"object","required":["vendor","amountMinor"],"properties":{
	"vendor":{"type":"string"},"amountMinor":{"type":"integer","maximum":1000000},"currency":{"type":"string"},
	"userId":{"type":"string"},"dryRun":{"type":"boolean","default":false},
	"lines":{"type":"array","items":{"type":"object","properties":{"to":{"type":"string"}}}}}}`

func transfer() catalog.Spec {
	return catalog.Spec{Name: "bank.transfer", Schema: []byte(transferSchema)}
}

// define makes a tool that must be right.
func define(t testing.TB, s catalog.Spec) *catalog.Tool {
	t.Helper()
	tool, err := catalog.Define(s)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func TestWhatIsNotSaidIsTheCarefulChoice(t *testing.T) {
	t.Parallel()
	tool := define(t, transfer())
	if !tool.Cataloged || !tool.Mutation || !tool.HighImpact() || tool.Impact != catalog.Irreversible || tool.Effect != catalog.Blind ||
		tool.Errors != catalog.ErrorsUnclear || tool.Timeout != 60*time.Second || tool.CaseTwins || tool.Proposal == nil || tool.Own != tool.Proposal {
		t.Errorf("%+v", tool)
	}
	for impact, want := range map[catalog.Impact]catalog.Errors{
		catalog.Financial: catalog.ErrorsUnclear, catalog.Irreversible: catalog.ErrorsUnclear, catalog.Administrative: catalog.ErrorsReported,
		catalog.External: catalog.ErrorsReported, catalog.Ordinary: catalog.ErrorsReported,
	} {
		s := transfer()
		s.Impact, s.Reason = impact, "reviewed"
		if got := define(t, s); got.Errors != want || got.HighImpact() != (impact != catalog.Ordinary) {
			t.Errorf("%s: errors %s, high impact %v", impact, got.Errors, got.HighImpact())
		}
	}
	s := transfer()
	s.Read, s.Reason = true, "it only looks"
	if read := define(t, s); read.Mutation || read.HighImpact() || read.Impact != catalog.Ordinary || read.Errors != catalog.ErrorsReported {
		t.Errorf("read: %+v", read)
	}
}

func TestDefineRefuses(t *testing.T) {
	t.Parallel()
	value := func(p string) map[string]string { return map[string]string{"value": p} }
	table, err := resolve.NewTable(nil, resolve.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*catalog.Spec)
		want   string
	}{
		{"no name", func(s *catalog.Spec) { s.Name = "" }, "name"},
		{"C03 look-alike name", func(s *catalog.Spec) { s.Name = "b\u0430nk.transfer" }, "name"},
		{"name with a space", func(s *catalog.Spec) { s.Name = "bank transfer" }, "name"},
		{"other server", func(s *catalog.Spec) { s.Server = "shop" }, "name"},
		{"server with a dot", func(s *catalog.Spec) { s.Server, s.Name = "a.b", "a.b.c" }, "name"},
		{"G04 server that reads as server and tool", func(s *catalog.Spec) { s.Server, s.Name = "a__b", "a__b.c" }, "name"},
		{"G04 server that ends in the separator", func(s *catalog.Spec) { s.Server, s.Name = "a_", "a_.c" }, "name"},
		{"tool of a server without definition", func(s *catalog.Spec) { s.Server = "bank" }, "definition"},
		{"pin without definition", func(s *catalog.Spec) { s.Pin = canon.Sum(nil) }, "definition"},
		{"no schema", func(s *catalog.Spec) { s.Schema = nil }, "schema"},
		{"schema that is no object", func(s *catalog.Spec) { s.Schema = []byte(`true`) }, "schema"},
		{"schema with a duplicate member", func(s *catalog.Spec) { s.Schema = []byte(`{"type":"object","type":"string"}`) }, "schema"},
		{"keyword that cannot be enforced", func(s *catalog.Spec) { s.Schema = []byte(`{"type":"object","properties":{"a":{"pattern":"(?=x)"}}}`) }, "pattern"},
		{"remote reference", func(s *catalog.Spec) { s.Schema = []byte(`{"$ref":"https://example.test/x.json"}`) }, "$ref"},
		{"ordinary without a reason", func(s *catalog.Spec) { s.Impact = catalog.Ordinary }, "reason"},
		{"read without a reason", func(s *catalog.Spec) { s.Read = true }, "reason"},
		{"blank reason", func(s *catalog.Spec) { s.Read, s.Reason = true, " \n" }, "reason"},
		{"read with impact", func(s *catalog.Spec) { s.Read, s.Reason, s.Impact = true, "x", catalog.Financial }, "impact"},
		{"unknown impact", func(s *catalog.Spec) { s.Impact = "low" }, "impact"},
		{"unknown effect", func(s *catalog.Spec) { s.Effect = "safe" }, "effect"},
		{"unknown errors", func(s *catalog.Spec) { s.Errors = "ignored" }, "errors"},
		{"short timeout", func(s *catalog.Spec) { s.Timeout = time.Millisecond }, "timeout"},
		{"long timeout", func(s *catalog.Spec) { s.Timeout = time.Hour }, "timeout"},
		{"negative timeout", func(s *catalog.Spec) { s.Timeout = -1 }, "timeout"},
		{"requirement without groups", func(s *catalog.Spec) { s.Groups = []action.Requirement{{}} }, "groups"},
		{"requirement without votes", func(s *catalog.Spec) {
			s.Groups = []action.Requirement{{AnyOf: []action.Group{{Name: "finance"}}}}
		}, "groups"},
		{"identity on an unknown member", func(s *catalog.Spec) {
			s.Identity = []identity.Member{{Pointer: "/user", Names: identity.NamesPrincipal}}
		}, "identity"},
		{"identity that names a role", func(s *catalog.Spec) { s.Identity = []identity.Member{{Pointer: "/userId", Names: "role"}} }, "identity"},
		{"identity without a pointer", func(s *catalog.Spec) {
			s.Identity = []identity.Member{{Pointer: "userId", Names: identity.NamesPrincipal}}
		}, "identity"},
		{"fill through an array", func(s *catalog.Spec) {
			s.Identity = []identity.Member{{Pointer: "/lines/*/to", Names: identity.NamesPrincipal, Fill: true}}
		}, "fill"},
		{"target on an unknown member", func(s *catalog.Spec) { s.Targets = []catalog.TargetRule{{Type: "vendor", Pointer: "/vendorId"}} }, "targets"},
		{"target with a bad escape", func(s *catalog.Spec) { s.Targets = []catalog.TargetRule{{Type: "v", Pointer: "/~2"}} }, "not a JSON Pointer"},
		{"target without a type", func(s *catalog.Spec) { s.Targets = []catalog.TargetRule{{Pointer: "/vendor"}} }, "targets"},
		{"secret on an unknown member", func(s *catalog.Spec) { s.Secrets = []string{"/pin"} }, "secrets"},
		{"bound on an unknown member", func(s *catalog.Spec) { s.Bounds = []string{"/max"} }, "bounds"},
		{"resolver without a source member", func(s *catalog.Spec) {
			s.Resolvers = []resolve.Rule{{Name: "v", Resolver: table, From: value("/alias"), Into: value("/vendor")}}
		}, "/alias"},
		{"resolver without a place", func(s *catalog.Spec) {
			s.Resolvers = []resolve.Rule{{Name: "v", Resolver: table, From: value("/vendor"), Into: value("/vendorId")}}
		}, "/vendorId"},
		{"resolver role", func(s *catalog.Spec) {
			s.Resolvers = []resolve.Rule{{Name: "v", Resolver: table, From: map[string]string{"x": "/vendor"}, Into: value("/vendor")}}
		}, "resolve"},
		{"sentence with an unknown member", func(s *catalog.Spec) { s.Sentence = "Pay {amount}" }, "sentence"},
		{"sentence that does not close", func(s *catalog.Spec) { s.Sentence = "Pay {vendor" }, "sentence"},
		{"sentence that does not open", func(s *catalog.Spec) { s.Sentence = "Pay vendor}" }, "sentence"},
		{"sentence with an empty member", func(s *catalog.Spec) { s.Sentence = "Pay {}" }, "sentence"},
		{"retention of a blind tool", func(s *catalog.Spec) { s.Retention = time.Hour }, "retention"},
		{"retention of a look-up", func(s *catalog.Spec) { s.Effect, s.Retention = catalog.Queryable, time.Hour }, "retention"},
		{"short retention", func(s *catalog.Spec) { s.Effect, s.Retention = catalog.Keyed, time.Second }, "retention"},
		{"long retention", func(s *catalog.Spec) { s.Effect, s.Retention = catalog.Natural, 91*24*time.Hour }, "retention"},
		{"look-up of a blind tool", func(s *catalog.Spec) { s.Lookup = lookup() }, "lookup"},
		{"look-up by itself", func(s *catalog.Spec) { queryable(s).Tool = "bank.transfer" }, "lookup"},
		{"look-up at another server", func(s *catalog.Spec) { s.Server = "bank"; queryable(s).Tool = "shop.find" }, "lookup"},
		{"look-up of nothing", func(s *catalog.Spec) { queryable(s).Arguments = nil }, "lookup"},
		{"look-up of an unknown member", func(s *catalog.Spec) { queryable(s).Arguments["ref"] = "/nope" }, "lookup"},
		{"look-up at no place", func(s *catalog.Spec) { queryable(s).At = "status" }, "lookup"},
		{"look-up without a yes", func(s *catalog.Spec) { queryable(s).Is = nil }, "lookup"},
		{"dry run by nothing", func(s *catalog.Spec) { s.DryRun = &catalog.DryRun{} }, "dryRun"},
		{"dry run by two things", func(s *catalog.Spec) { s.DryRun = &catalog.DryRun{Argument: "/dryRun", Tool: "bank.preview"} }, "dryRun"},
		{"dry run by itself", func(s *catalog.Spec) { s.DryRun = &catalog.DryRun{Tool: "bank.transfer"} }, "dryRun"},
		{"dry run of a read", func(s *catalog.Spec) {
			s.Read, s.Reason, s.DryRun = true, "x", &catalog.DryRun{Argument: "/dryRun"}
		}, "dryRun"},
		{"dry run by an unknown argument", func(s *catalog.Spec) { s.DryRun = &catalog.DryRun{Argument: "/preview"} }, "dryRun"},
		{"dry run by an argument of any type", func(s *catalog.Spec) {
			s.Schema = []byte(`{"type":"object","properties":{"dry":{}}}`)
			s.DryRun = &catalog.DryRun{Argument: "/dry"}
		}, "dryRun"},
		{"dry run by no pointer", func(s *catalog.Spec) { s.DryRun = &catalog.DryRun{Argument: "dryRun"} }, "dryRun"},
		{"dry run by a string", func(s *catalog.Spec) { s.DryRun = &catalog.DryRun{Argument: "/vendor"} }, "dryRun"},
		{"dry run by a nested argument", func(s *catalog.Spec) { s.DryRun = &catalog.DryRun{Argument: "/lines/0"} }, "dryRun"},
		{"dry run that is the default", func(s *catalog.Spec) {
			s.Schema = []byte(`{"type":"object","properties":{"dry":{"type":"boolean","default":true}}}`)
			s.DryRun = &catalog.DryRun{Argument: "/dry"}
		}, "dryRun"},
		{"dry run that is required", func(s *catalog.Spec) {
			s.Schema = []byte(`{"type":"object","required":["dry"],"properties":{"dry":{"type":"boolean"}}}`)
			s.DryRun = &catalog.DryRun{Argument: "/dry"}
		}, "dryRun"},
		{"dry run that the model may send", func(s *catalog.Spec) {
			s.ProposalSchema, s.DryRun = []byte(transferSchema), &catalog.DryRun{Argument: "/dryRun"}
		}, "proposalSchema"},
		{"dry run that an open schema lets through", func(s *catalog.Spec) {
			s.ProposalSchema, s.DryRun = []byte(`{"type":"object","properties":{"vendor":{}},"additionalProperties":true}`), &catalog.DryRun{Argument: "/dryRun"}
		}, "proposalSchema"},
		{"dry run that takes too long", func(s *catalog.Spec) {
			s.DryRun = &catalog.DryRun{Argument: "/dryRun", Timeout: time.Hour}
		}, "dryRun"},
		{"dry run that compares nothing", func(s *catalog.Spec) {
			s.DryRun = &catalog.DryRun{Argument: "/dryRun", Compare: []string{"total"}}
		}, "dryRun"},
		{"member that the tool does not declare", func(s *catalog.Spec) {
			s.ProposalSchema = []byte(`{"type":"object","properties":{"vendor":{"type":"string"},"memo":{"type":"string"}}}`)
		}, "/memo"},
		{"nested member that the tool does not declare", func(s *catalog.Spec) {
			s.ProposalSchema = []byte(`{"type":"object","properties":{"lines":{"type":"array","items":{"type":"object","properties":{"by":{"type":"string"}}}}}}`)
		}, "/lines/*/by"},
		{"object of which only a part is consumed", func(s *catalog.Spec) {
			s.ProposalSchema = []byte(`{"type":"object","properties":{"to":{"type":"object","properties":{"name":{"type":"string"}}}}}`)
			s.Resolvers = []resolve.Rule{{Name: "v", Resolver: table, From: value("/to/name"), Into: value("/vendor")}}
		}, "/to would"},
		{"unknown mode", func(s *catalog.Spec) { s.Normalize.Unknown = "ignore" }, "unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := transfer()
			c.change(&s)
			tool, err := catalog.Define(s)
			if err == nil || tool != nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error does not name %s: %v", c.want, err)
			}
		})
	}
}

func TestDefinitionOfALibraryToolMovesWithIt(t *testing.T) {
	t.Parallel()
	digests := map[canon.Digest]bool{}
	for _, change := range []func(*catalog.Spec){
		func(*catalog.Spec) {}, func(s *catalog.Spec) { s.Name = "bank.pay" }, func(s *catalog.Spec) { s.Title = "Pay" },
		func(s *catalog.Spec) { s.Description = "Pays." }, func(s *catalog.Spec) { s.Schema = []byte(`{"type":"object"}`) },
	} {
		s := transfer()
		change(&s)
		tool := define(t, s)
		if tool.Definition.IsZero() || digests[tool.Definition] {
			t.Errorf("%+v: definition %s", s, tool.Definition)
		}
		digests[tool.Definition] = true
	}
	one, same := define(t, transfer()), define(t, transfer())
	if one.Definition != same.Definition {
		t.Error("one tool has two definitions")
	}
}

func TestMembersOfAHostileSchemaAreBounded(t *testing.T) {
	t.Parallel()
	var defs []string
	for i := range 11 {
		var props []string
		for j := range 8 {
			props = append(props, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/d%d"}`, j, i+1))
		}
		defs = append(defs, fmt.Sprintf(`"d%d":{"type":"object","properties":{%s}}`, i, strings.Join(props, ",")))
	}
	deep := `{"$defs":{` + strings.Join(defs, ",") + `,"d11":{"type":"string"}},"$ref":"#/$defs/d0"}`
	tool := pinned(t, "s", "t", deep)
	count := 0
	for range catalog.Members(tool.Own.Root()) {
		count++
	}
	if count != catalog.MaxMembers {
		t.Errorf("%d members", count)
	}
	if _, err := catalog.Define(catalog.Spec{Name: "t", Schema: []byte(transferSchema), ProposalSchema: []byte(deep)}); err == nil ||
		!strings.Contains(err.Error(), "more than") {
		t.Errorf("a proposal schema that cannot be looked through: %v", err)
	}
}

func TestTextsComeFromTheDefinitionUnlessSaid(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"name":"t","title":"Server title","description":"Server text","inputSchema":{"type":"object"}}`)
	s := catalog.Spec{Name: "s.t", Server: "s", Definition: raw, Pin: catalog.DefinitionDigest(raw)}
	if tool := define(t, s); tool.Title != "Server title" || tool.Description != "Server text" {
		t.Errorf("%q %q", tool.Title, tool.Description)
	}
	s.Title, s.Description = "Ours", "Our text"
	if tool := define(t, s); tool.Title != "Ours" || tool.Description != "Our text" {
		t.Errorf("%q %q", tool.Title, tool.Description)
	}
}

func TestRangesAreInclusive(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*catalog.Spec){
		"shortest timeout": func(s *catalog.Spec) { s.Timeout = catalog.MinTimeout },
		"longest timeout":  func(s *catalog.Spec) { s.Timeout = catalog.MaxTimeout },
		"longest name":     func(s *catalog.Spec) { s.Name = strings.Repeat("x", catalog.MaxNameBytes) },
	} {
		s := transfer()
		change(&s)
		if tool := define(t, s); tool.Name != s.Name || s.Timeout != 0 && tool.Timeout != s.Timeout {
			t.Errorf("%s: %+v", name, tool)
		}
	}
	s := transfer()
	s.Name = strings.Repeat("x", catalog.MaxNameBytes+1)
	if _, err := catalog.Define(s); err == nil {
		t.Error("a longer name was accepted")
	}
}

func TestRefusalsPrintNoHostileName(t *testing.T) {
	t.Parallel()
	s := transfer()
	s.Name = "x\x1b[31m"
	if _, err := catalog.Define(s); err == nil || strings.ContainsRune(err.Error(), 0x1b) {
		t.Errorf("%q", err)
	}
	s.Name, s.Impact = "good.name", "low"
	if _, err := catalog.Define(s); err == nil || !strings.HasPrefix(err.Error(), "tool good.name: ") {
		t.Errorf("%q", err)
	}
}

func TestDefineNamesEveryFault(t *testing.T) {
	t.Parallel()
	s := transfer()
	s.Impact, s.Effect, s.Timeout, s.Sentence = "low", "safe", time.Hour, "{nobody}"
	_, err := catalog.Define(s)
	for _, field := range []string{"impact", "effect", "timeout", "sentence"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s is not named: %v", field, err)
		}
	}
}

func TestTheModelCannotSendTheDryRunArgument(t *testing.T) {
	t.Parallel()
	const two = `"properties":{"vendor":{"type":"string"},"dryRun":{"type":"boolean"}}`
	for name, c := range map[string]struct{ own, call string }{
		"silent":      {`{"type":"object",` + two + `}`, `{"vendor":"x"}`},
		"closed":      {`{"type":"object",` + two + `,"additionalProperties":false}`, `{"vendor":"x"}`},
		"open":        {`{"type":"object",` + two + `,"additionalProperties":true}`, `{"vendor":"x"}`},
		"map":         {`{"type":"object",` + two + `,"additionalProperties":{"type":"boolean"}}`, `{"vendor":"x"}`},
		"unevaluated": {`{"type":"object",` + two + `,"unevaluatedProperties":true}`, `{"vendor":"x"}`},
		"pattern":     {`{"type":"object",` + two + `,"patternProperties":{"^d":{}}}`, `{"vendor":"x"}`},
		"allOf":       {`{"type":"object",` + two + `,"allOf":[{"properties":{"dryRun":{"type":"boolean"}}}]}`, `{"vendor":"x"}`},
		"$ref":        {`{"type":"object",` + two + `,"$ref":"#/$defs/more","$defs":{"more":{"properties":{"dryRun":{}}}}}`, `{"vendor":"x"}`},
		"one member":  {`{"type":"object","properties":{"dryRun":{"type":"boolean"}}}`, `{}`},
	} {
		for _, mode := range []schema.UnknownMode{"", schema.UnknownKeep, schema.UnknownStrip, schema.UnknownReject} {
			s := catalog.Spec{Name: "t", Schema: []byte(c.own), DryRun: &catalog.DryRun{Argument: "/dryRun", Required: true}}
			s.Normalize.Unknown = mode
			tool := define(t, s)
			call := decode(t, c.call)
			if _, _, err := tool.Proposal.Apply(call, nil); err != nil {
				t.Errorf("%s, %q: a plain call is refused: %v", name, mode, err)
			}
			for _, said := range []bool{true, false} {
				with, _ := call.With("/dryRun", canon.BoolValue(said))
				if out, _, err := tool.Proposal.Apply(with, nil); err == nil {
					t.Errorf("%s, %q: the model sent the argument: %s", name, mode, out.Canonical())
				}
				if err := tool.Own.Validate(with); err != nil {
					t.Errorf("%s: the preview does not fit the tool's own schema: %v", name, err)
				}
			}
			if tool.DryRun.Timeout != catalog.DefaultDryRunTimeout {
				t.Errorf("timeout %s", tool.DryRun.Timeout)
			}
		}
	}
}

func TestDryRunWithAProposalSchemaOfItsOwn(t *testing.T) {
	t.Parallel()
	s := transfer()
	s.ProposalSchema = []byte(`{"type":"object","properties":{"vendor":{"type":"string"},"amountMinor":{"type":"integer"}}}`)
	s.DryRun = &catalog.DryRun{Argument: "/dryRun"}
	tool := define(t, s)
	if tool.Proposal.Knows("/dryRun") || !tool.Own.Knows("/dryRun") {
		t.Error("the schemas are mixed up")
	}
}

func decode(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Decode([]byte(text), canon.Options{Exact: true})
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	return v
}
