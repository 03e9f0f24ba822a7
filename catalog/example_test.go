package catalog_test

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/identity"
)

// A tool in code. What is not said is the careful choice.
func ExampleDefine() {
	tool, err := catalog.Define(catalog.Spec{
		Name:     "close_account",
		Schema:   []byte(`{"type":"object","required":["account"],"properties":{"account":{"type":"string"},"user":{"type":"string"}}}`),
		Sentence: "Close the account {account}",
		Identity: []identity.Member{{Pointer: "/user", Names: identity.NamesPrincipal, Fill: true}},
		Targets:  []catalog.TargetRule{{Type: "account", Pointer: "/account"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tool.Mutation, tool.Impact, tool.Effect, tool.Errors, tool.Timeout, tool.HighImpact())
	// Output: true irreversible blind unclear 1m0s true
}
