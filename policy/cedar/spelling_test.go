package cedar_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/schema"
)

// broken is a resolver of an embedder that panics.
type broken struct{}

func (broken) Resolve(context.Context, map[string]canon.Value) (resolve.Answer, error) {
	panic(errors.New("broken"))
}

// shell has a command that is lower-cased, a vendor and tags that go through a
// table, and a member whose resolver breaks.
func shell(t *testing.T) *catalog.Tool {
	t.Helper()
	table, err := resolve.NewTable([]resolve.Row{{Alias: "Acme", ID: "V1"}, {Alias: "Globex", ID: "V2"}}, resolve.TableOptions{Fold: true})
	if err != nil {
		t.Fatal(err)
	}
	at := func(p string) map[string]string { return map[string]string{"value": p} }
	tool, err := catalog.Define(catalog.Spec{Name: "shell", Impact: catalog.Ordinary, Reason: "a sandbox",
		Schema:    []byte(`{"type":"object","required":["cmd","vendor","tags","odd"],"properties":{"cmd":{"type":"string"},"vendor":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"odd":{"type":"string"}}}`),
		Normalize: schema.Options{Transforms: []schema.Transform{{Pointer: "/cmd", Name: "trim"}, {Pointer: "/cmd", Name: "lower"}}},
		Resolvers: []resolve.Rule{{Name: "vendors", Resolver: table, From: at("/vendor"), Into: at("/vendor")},
			{Name: "vendors", Resolver: table, From: at("/tags/*"), Into: at("/tags/*")}, {Name: "odd", Resolver: broken{}, From: at("/odd"), Into: at("/odd")}},
		Targets: []catalog.TargetRule{{Type: "vendor", Pointer: "/vendor"}, {Type: "tag", Pointer: "/tags"}}})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func TestC05RuleValuesAreWrittenAsTheToolWritesThem(t *testing.T) {
	t.Parallel()
	const head = `permit (principal, action == Action::"shell", resource) when { `
	for condition, want := range map[string]string{
		`context.args.cmd == "get-item"`:                               ``, /* as the transform writes it */
		`context.args.cmd == "Get-Item"`:                               `"Get-Item" is held against /cmd, and a transform writes it otherwise ("get-item"): no call equals it`,
		`"Get-Item" != context.args.cmd`:                               `"Get-Item" is held against /cmd, and a transform writes it otherwise ("get-item"): no call equals it`,
		`["ls", "LS"].contains(context.args.cmd)`:                      `"LS" is held against /cmd, and a transform writes it otherwise ("ls"): no call equals it`,
		`context.args.vendor == "V1"`:                                  ``,
		`context.args.vendor == "Acme"`:                                `"Acme" is held against /vendor, and the resolver vendors writes it otherwise ("V1"): no call equals it`,
		`context.args.vendor == "V9"`:                                  `"V9" is held against /vendor, and the resolver vendors knows no such thing now: no call equals it`,
		`context.args.tags.items.contains("globex")`:                   `"globex" is held against /tags/*, and the resolver vendors writes it otherwise ("V2"): no call equals it`,
		`context.args.tags.items.containsAny(["V1", "acme"])`:          `"acme" is held against /tags/*, and the resolver vendors writes it otherwise ("V1"): no call equals it`,
		`context.args.odd == "x"`:                                      `"x" is held against /odd, and the resolver odd knows no such thing now: no call equals it`,
		`resource == Target::vendor::"V1"`:                             ``,
		`resource in [Target::vendor::"V2", Target::vendor::"Globex"]`: `the target Target::vendor::"Globex" is /vendor, and the resolver vendors writes it otherwise ("V2"): no call equals it`,
		`resource == Target::tag::"acme"`:                              `the target Target::tag::"acme" is /tags, and the resolver vendors writes it otherwise ("V1"): no call equals it`,
		`context.args.cmd like "Get-*"`:                                ``, // a pattern is wide on purpose
		`context.agent == "Acme" && context.args.vendor != "V2"`:       ``,
	} {
		findings, err := cedar.Check(map[string][]byte{"p.cedar": []byte(head + condition + " };")}, []*catalog.Tool{shell(t)}, cedar.Options{})
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		var got []string
		for _, f := range findings {
			if f.Rule != "" {
				got = append(got, strings.TrimPrefix(f.String(), "p.cedar:1: rule p.cedar#1: "))
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s: %s", condition, diff)
		}
	}
	scope := `permit (principal, action == Action::"shell", resource == Target::vendor::"acme");`
	if findings, err := cedar.Check(map[string][]byte{"p.cedar": []byte(scope)}, []*catalog.Tool{shell(t)}, cedar.Options{}); err != nil || len(findings) != 1 {
		t.Errorf("a scope: %v, %v", findings, err)
	}
}
