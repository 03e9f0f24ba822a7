package retail_test

import (
	"context"
	"os"
	"sync/atomic"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// desk is the service desk with one customer, mia, at it.
type desk struct {
	*verbatimtest.Fixture
	t   *testing.T
	ran atomic.Int64
}

func open(t *testing.T) *desk {
	t.Helper()
	c, err := yamlfile.Load("catalog.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("policy.cedar")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := cedar.Load(map[string][]byte{"policy.cedar": rules}, c.Tools(), cedar.Options{Groups: []string{"owner"}})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t}
	var tools []verbatim.Bound
	for _, tool := range c.Tools() {
		tools = append(tools, verbatim.Bound{Tool: tool, Handler: execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
			d.ran.Add(1)
			return execute.Output{Bytes: []byte(`{}`)}, nil
		})})
	}
	d.Fixture = verbatimtest.New(t, verbatimtest.Config{Tools: tools, Policy: engine})
	d.AddPerson("mia")
	return d
}

// session is a conversation of mia, who has said yes to the action of a hash;
// "" for none.
func (d *desk) session(yes string) verbatim.Session {
	d.t.Helper()
	s := d.Session()
	s.Principal, s.Owner = "mia", "mia"
	if yes != "" {
		digest, err := canon.ParseDigest(yes)
		if err != nil {
			d.t.Fatal(err)
		}
		s.Grant.ID, s.Grant.Digest = "customer-yes", digest
	}
	return s
}

func (d *desk) call(s verbatim.Session, tool, args string) verbatim.Outcome {
	d.t.Helper()
	o, err := d.Gate.Call(d.t.Context(), s, verbatim.Call{Tool: tool, Arguments: []byte(args)})
	if err != nil {
		d.t.Fatal(err)
	}
	return o
}

// shown is what the host shows the customer: the hash of what would run.
func (d *desk) shown(tool, args string) string {
	d.t.Helper()
	e, err := d.Gate.Explain(d.t.Context(), d.session(""), verbatim.Call{Tool: tool, Arguments: []byte(args)})
	if err != nil {
		d.t.Fatal(err)
	}
	return e.ProposalHash
}

func TestDeskServesOneCustomerOnly(t *testing.T) {
	t.Parallel()
	d := open(t)
	for _, c := range []struct {
		tool, args string
		want       verbatim.Code
	}{
		{"get_user_details", `{"user_id":"mia"}`, verbatim.CodeOK},
		{"get_user_details", `{"user_id":"noah"}`, verbatim.CodeIdentitySpoof},
		{"get_user_details", `{"user_id":"MIA"}`, verbatim.CodeIdentitySpoof},
		{"get_order_details", `{"order_id":"#W1000001"}`, verbatim.CodeOK},
		{"get_order_details", `{"order_id":"#W9999999"}`, verbatim.CodeTargetUnresolved},
		{"find_user_id_by_email", `{"email":"noah@shop.example"}`, verbatim.CodeTargetUnresolved},
		{"find_user_id_by_name_zip", `{"first_name":"Mia","last_name":"Li","zip":"60614"}`, verbatim.CodeOK},
		{"get_product_details", `{"product_id":"1"}`, verbatim.CodeOK},
		{"return_delivered_order_items", `{"order_id":"#W1000001","item_ids":["1"],"payment_method_id":"gift_card_9999999"}`, verbatim.CodeTargetUnresolved},
		{"modify_user_address", `{"user_id":"noah","address1":"a","address2":"","city":"c","state":"IL","country":"USA","zip":"1"}`, verbatim.CodeIdentitySpoof},
	} {
		if o := d.call(d.session(""), c.tool, c.args); o.Code != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.args, o.Code, c.want)
		}
	}
}

const cancel = `{"order_id":"#W1000001","reason":"no longer needed"}`

func TestOneYesIsForExactlyThatAction(t *testing.T) {
	t.Parallel()
	d := open(t)
	yes := d.shown("cancel_pending_order", cancel)
	other := `{"order_id":"#W1000002","reason":"no longer needed"}`
	if o := d.call(d.session(yes), "cancel_pending_order", other); o.Code != verbatim.CodeApprovalRequired || d.ran.Load() != 0 {
		t.Errorf("another order: %s after %d runs", o.Code, d.ran.Load())
	}
	if o := d.call(d.session(yes), "cancel_pending_order", cancel); o.Code != verbatim.CodeOK || d.ran.Load() != 1 {
		t.Errorf("the order that was shown: %s after %d runs", o.Code, d.ran.Load())
	}
}

func TestWithoutAYesTheCustomerIsAsked(t *testing.T) {
	t.Parallel()
	d := open(t)
	o := d.call(d.session(""), "cancel_pending_order", cancel)
	if o.Code != verbatim.CodeApprovalRequired || o.PublicReason != "The customer has to confirm exactly this action first." {
		t.Fatalf("%s %q", o.Code, o.PublicReason)
	}
	d.Approve(o.ActionID, "mia")
	if o := d.call(d.session(""), "cancel_pending_order", cancel); o.Code != verbatim.CodeOK || d.ran.Load() != 1 {
		t.Errorf("%s after %d runs", o.Code, d.ran.Load())
	}
	if o := d.call(d.session(""), "transfer_to_human_agents", `{"summary":"a lost parcel"}`); o.Code != verbatim.CodeOK {
		t.Errorf("a person: %s", o.Code)
	}
}

func TestWrittenRulesHoldWhateverTheCustomerSays(t *testing.T) {
	t.Parallel()
	d := open(t)
	for _, c := range []struct {
		tool, args string
		want       verbatim.Code
	}{
		{"cancel_pending_order", `{"order_id":"#W1000001","reason":"too dear"}`, verbatim.CodeInvalidArguments},
		{"exchange_delivered_order_items", `{"order_id":"#W1000001","item_ids":["1","2"],"new_item_ids":["3"],"payment_method_id":"gift_card_1000001"}`, verbatim.CodePolicyDenied},
		{"modify_pending_order_items", `{"order_id":"#W1000001","item_ids":[],"new_item_ids":[],"payment_method_id":"gift_card_1000001"}`, verbatim.CodePolicyDenied},
		{"return_delivered_order_items", `{"order_id":"#W1000001","item_ids":[],"payment_method_id":"gift_card_1000001"}`, verbatim.CodePolicyDenied},
		{"return_delivered_order_items", `{"order_id":"#W1000001","item_ids":["1"],"payment_method_id":"gift_card_1000001"}`, verbatim.CodeOK},
	} {
		s := d.session("")
		if hash := d.shown(c.tool, c.args); hash != "" {
			s = d.session(hash)
		}
		if o := d.call(s, c.tool, c.args); o.Code != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.args, o.Code, c.want)
		}
	}
}

func TestNothingInTheCatalogFailsLint(t *testing.T) {
	t.Parallel()
	c, err := yamlfile.Load("catalog.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if found := catalog.Lint(c); catalog.Failed(found) {
		t.Error(found)
	}
}
