package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// What the demo's operator has written. The same files are what a reader
// would write for a bank of their own.

const settings = `agent: Support Agent
listen: 127.0.0.1:0
wait: 300ms
idle: 1m
servers:
  bank:
    command: %s
    args: [demo-bank, --ledger, %s]
`

const vendors = `alias,id
Vendor A,VENDOR-001
Vendor B,VENDOR-002
`

// moved is the table after somebody has given the name to another vendor.
const moved = `alias,id
Vendor A,VENDOR-002
Vendor B,VENDOR-002
`

const catalogText = `version: "1"
resolvers:
  vendors: {kind: table, file: vendors.csv, fold: true}
  money: {kind: money}
tools:
  bank.transfer:
    sentence: Pay {amount_minor|money} to {vendor_id}
    definition: {sha256: "%s", file: transfer.json}
    impact: ordinary
    reason: Payments below 1,000 USD are routine; policy raises all others to high-impact.
    errors: unclear
    timeout: 2s
    proposalSchema:
      type: object
      required: [vendor, amount]
      properties:
        vendor: {type: string, description: Name or id of the vendor}
        amount: {type: string, description: Such as "840 USD" or "8.4 thousand USD"}
        user_id: {type: string}
    resolve:
      - {use: vendors, from: /vendor, into: /vendor_id}
      - {use: money, from: {text: /amount}, into: {amountMinor: /amount_minor, currency: /currency}}
    identity: [{at: /user_id, names: principal, fill: true}]
    targets: [{type: vendor, at: /vendor_id}]
    dryRun: {argument: /dry_run, recheck: true, compare: [/content]}
  bank.ledger:
    definition: {sha256: "%s", file: ledger.json}
    mutation: false
    reason: It lists payments and changes nothing.
`

const policyText = `@id("reads")
permit (principal, action in Action::"read", resource);

@id("routine-payments")
permit (principal, action == Action::"bank.transfer", resource)
when { context.args.currency == "USD" && context.args.amount_minor < 100000 };

@id("large-payments")
@decision("require_approval")
@groups("owner:1")
@impact("high")
@pending_ttl("1h")
@public_reason("Payments from 1,000 USD need a person.")
permit (principal, action == Action::"bank.transfer", resource)
when { context.args.currency == "USD" && context.args.amount_minor >= 100000 };
`

// furnish writes the demo's home. tools are the bank's, as it lists them.
func furnish(dir, self string, tools []wire.Tool) error {
	digests := map[string]string{}
	files := map[string]string{
		"verbatim.yaml": fmt.Sprintf(settings, strconv.Quote(self), strconv.Quote(filepath.Join(dir, ledgerFile))),
		"vendors.csv":   vendors,
	}
	for _, t := range tools {
		files[t.Name+".json"] = string(t.Raw)
		digests[t.Name] = t.Digest.String()
	}
	if digests["transfer"] == "" || digests["ledger"] == "" {
		return errors.New("the bank does not list its tools")
	}
	files["catalog.yaml"] = fmt.Sprintf(catalogText, digests["transfer"], digests["ledger"])
	files[filepath.Join("policy", "bank.cedar")] = policyText
	if err := os.MkdirAll(filepath.Join(dir, "policy"), 0o700); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.TrimLeft(text, "\n")), 0o600); err != nil {
			return err
		}
	}
	return nil
}

const ledgerFile = "ledger.jsonl"
