package main

import (
	"context"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
)

// README begins

type Transfer struct {
	VendorID    string `json:"vendorId"`
	AmountMinor int64  `json:"amountMinor" jsonschema:"in cents"`
	RequestedBy string `json:"requestedBy,omitempty"`
}

type Receipt struct {
	Paid bool `json:"paid"`
}

const rules = `
@id("routine") permit (principal in Role::"clerk", action == Action::"transfer", resource)
when { context.args.amountMinor < 100000 };

@id("large") @decision("require_approval") @groups("finance:1") @impact("high")
permit (principal in Role::"clerk", action == Action::"transfer", resource)
when { context.args.amountMinor >= 100000 };`

// newGate puts the gate around pay: pay gets the arguments that were decided on, and no others.
func newGate(store verbatim.Store, votes approval.Verifier, pay func(context.Context, Transfer) (Receipt, error)) (*verbatim.Gate, error) {
	transfer, err := verbatim.Tool(catalog.Spec{
		Name: "transfer", Impact: catalog.Ordinary, Reason: "policy raises payments from 1,000 USD to high-impact",
		Targets:  []catalog.TargetRule{{Type: "vendor", Pointer: "/vendorId"}},
		Identity: []identity.Member{{Pointer: "/requestedBy", Names: identity.NamesPrincipal, Fill: true}},
	}, pay)
	if err != nil {
		return nil, err
	}
	policy, err := cedar.Load(map[string][]byte{"bank.cedar": []byte(rules)}, []*catalog.Tool{transfer.Tool}, cedar.Options{})
	if err != nil {
		return nil, err
	}
	return verbatim.New(verbatim.Config{Store: store, Tools: verbatim.Toolset{"transfer": transfer}, Policy: policy, Votes: votes,
		Approvers: []action.Requirement{{AnyOf: []action.Group{{Name: "finance", Votes: 1}}}}})
}

// README ends
