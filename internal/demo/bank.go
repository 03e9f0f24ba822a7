package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/typed"
)

// payment is one line of the ledger.
type payment struct {
	VendorID    string `json:"vendor_id"`
	AmountMinor int64  `json:"amount_minor"`
	Currency    string `json:"currency"`
	UserID      string `json:"user_id"`
	DryRun      bool   `json:"dry_run,omitempty"`
}

const transferSchema = `{"type":"object","additionalProperties":false,
"required":["vendor_id","amount_minor","currency","user_id"],
"properties":{
"vendor_id":{"type":"string"},
"amount_minor":{"type":"integer","minimum":1,"maximum":100000000},
"currency":{"type":"string","enum":["USD"]},
"user_id":{"type":"string"},
"dry_run":{"type":"boolean","default":false}}}`

const ledgerSchema = `{"type":"object","additionalProperties":false,"properties":{}}`

// opening is what the account holds at first, in cents.
const opening = 5_000_000

// ServeBank is the pretend bank: an MCP server over standard input and output
// with its ledger in a file. It knows nothing of Verbatim.
func ServeBank(ctx context.Context, ledger string) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "pretend-bank", Version: "1"}, nil)
	b := bank{ledger}
	s.AddTool(&mcp.Tool{Name: "transfer", Description: "Pays a vendor.", InputSchema: json.RawMessage(transferSchema)}, b.transfer)
	s.AddTool(&mcp.Tool{Name: "ledger", Description: "Lists the payments.", InputSchema: json.RawMessage(ledgerSchema)}, b.list)
	return s.Run(ctx, &mcp.StdioTransport{})
}

// silent is the end of the name of a file: while it is there, the next
// payment is made and never answered.
const silent = ".silent"

type bank struct{ ledger string }

func (b bank) transfer(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	v, err := canon.Decode(r.Params.Arguments, canon.Options{})
	if err != nil {
		return nil, err
	}
	var p payment
	if err := typed.Decode(v, &p); err != nil {
		return nil, err
	}
	paid, err := readLedger(b.ledger)
	if err != nil {
		return nil, err
	}
	left := opening - p.AmountMinor
	for _, earlier := range paid {
		left -= earlier.AmountMinor
	}
	if left < 0 {
		return nil, fmt.Errorf("the account does not hold that much")
	}
	if p.DryRun {
		return said(fmt.Sprintf("would leave %s in the account", dollars(left))), nil
	}
	if err := appendLedger(b.ledger, p); err != nil {
		return nil, err
	}
	if os.Remove(b.ledger+silent) == nil { // paid, and the answer is lost
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return said(fmt.Sprintf("paid %s to %s", dollars(p.AmountMinor), p.VendorID)), nil
}

func (b bank) list(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	paid, err := readLedger(b.ledger)
	if err != nil {
		return nil, err
	}
	text := "no payment yet"
	for i, p := range paid {
		line := fmt.Sprintf("%s to %s", dollars(p.AmountMinor), p.VendorID)
		if i == 0 {
			text = line
		} else {
			text += "; " + line
		}
	}
	return said(text), nil
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func dollars(minor int64) string { return fmt.Sprintf("USD %d.%02d", minor/100, minor%100) }

func appendLedger(path string, p payment) error {
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	return f.Sync()
}

// readLedger reads the payments that were made; no file means none.
func readLedger(path string) ([]payment, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []payment
	for line := range bytes.Lines(text) {
		v, err := canon.Decode(line, canon.Options{})
		if err != nil {
			return nil, fmt.Errorf("the ledger cannot be read: %w", err)
		}
		var p payment
		if err := typed.Decode(v, &p); err != nil {
			return nil, fmt.Errorf("the ledger cannot be read: %w", err)
		}
		all = append(all, p)
	}
	return all, nil
}
