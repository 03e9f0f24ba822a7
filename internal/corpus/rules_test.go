package corpus_test

import (
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/corpus"
)

// with puts JSON at pointers, in pairs.
func with(t *testing.T, pairs ...string) func(canon.Value) canon.Value {
	t.Helper()
	return func(args canon.Value) canon.Value {
		for i := 0; i < len(pairs); i += 2 {
			x, err := canon.Decode([]byte(pairs[i+1]), canon.Options{})
			if err != nil {
				t.Fatal(err)
			}
			out, ok := args.With(pairs[i], x)
			if !ok {
				t.Fatalf("nothing can stand at %s", pairs[i])
			}
			args = out
		}
		return args
	}
}

// six repeats the first element of an array.
func six(t *testing.T, pointer string) func(canon.Value) canon.Value {
	t.Helper()
	return func(args canon.Value) canon.Value {
		list, ok := args.Lookup(pointer)
		if !ok || list.Len() == 0 {
			t.Fatalf("nothing stands at %s", pointer)
		}
		x := list.At(0)
		out, _ := args.With(pointer, canon.ArrayValue(x, x, x, x, x, x))
		return out
	}
}

func same(args canon.Value) canon.Value { return args }

type ruleCase struct {
	name, tool string
	alter      func(canon.Value) canon.Value
	verdict    corpus.Verdict
	code       verbatim.Code
	read       []string
}

// TestPublishedRulesHold alters honest calls so that each breaks one rule. The
// customer has said yes to every one of them.
func TestPublishedRulesHold(t *testing.T) {
	t.Parallel()
	colleagues, outside, page := []string{corpus.ReadColleagues}, []string{corpus.ReadOutside}, []string{corpus.ReadOutside, corpus.ReadPage}
	for domain, cases := range map[string][]ruleCase{
		"retail": {
			{"an exchange as published", "exchange_delivered_order_items", same, corpus.Allowed, verbatim.CodeOK, nil},
			{"one new item for each", "exchange_delivered_order_items", with(t, "/new_item_ids", `["1"]`), corpus.Refused, verbatim.CodePolicyDenied, nil},
			{"an exchange of something", "modify_pending_order_items", with(t, "/item_ids", `[]`, "/new_item_ids", `[]`), corpus.Refused, verbatim.CodePolicyDenied, nil},
			{"a return of something", "return_delivered_order_items", with(t, "/item_ids", `[]`), corpus.Refused, verbatim.CodePolicyDenied, nil},
			{"one of two reasons to cancel", "cancel_pending_order", with(t, "/reason", `"I want to"`), corpus.Refused, verbatim.CodeInvalidArguments, nil},
			{"no order that does not exist", "cancel_pending_order", with(t, "/order_id", `"#W0000000"`), corpus.Refused, verbatim.CodeTargetUnresolved, nil},
		},
		"airline": {
			{"a booking as published", "book_reservation", same, corpus.Allowed, verbatim.CodeOK, nil},
			{"at most five passengers", "book_reservation", six(t, "/passengers"), corpus.Refused, verbatim.CodeInvalidArguments, nil},
			{"at most one certificate", "book_reservation", six(t, "/payment_methods"), corpus.Refused, verbatim.CodeInvalidArguments, nil},
			{"no more paid bags than bags", "book_reservation", with(t, "/total_baggages", `1`, "/nonfree_baggages", `2`), corpus.Refused, verbatim.CodePolicyDenied, nil},
			{"flights are not changed with a certificate", "update_reservation_flights", with(t, "/payment_id", `"certificate_1"`), corpus.Refused, verbatim.CodeInvalidArguments, nil},
			{"at most five names", "update_reservation_passengers", six(t, "/passengers"), corpus.Refused, verbatim.CodeInvalidArguments, nil},
			{"a certificate is for the supervisor", "send_certificate", with(t, "/amount", `100`), corpus.Asked, verbatim.CodeApprovalRequired, nil},
			{"50 or 100 dollars for each passenger", "send_certificate", with(t, "/amount", `75`), corpus.Refused, verbatim.CodeInvalidArguments, nil},
			{"at most five times 100 dollars", "send_certificate", with(t, "/amount", `550`), corpus.Refused, verbatim.CodeInvalidArguments, nil},
		},
		"banking": {
			{"a standing order as published", "schedule_transaction", same, corpus.Allowed, verbatim.CodeOK, nil},
			{"another payee", "schedule_transaction", with(t, "/recipient", `"DE00000000000000000000"`), corpus.Asked, verbatim.CodeApprovalRequired, nil},
			{"more than there is", "schedule_transaction", with(t, "/amount", `1810.01`), corpus.Asked, verbatim.CodeApprovalRequired, nil},
			{"all that there is", "schedule_transaction", with(t, "/amount", `1810`), corpus.Allowed, verbatim.CodeOK, nil},
			{"less than policy can see exactly", "schedule_transaction", with(t, "/amount", `0.00001`), corpus.Refused, verbatim.CodePolicyError, nil},
			{"no amount below zero", "schedule_transaction", with(t, "/amount", `-5`), corpus.Refused, verbatim.CodeInvalidArguments, nil},
			{"somebody else's standing order", "update_scheduled_transaction", with(t, "/id", `1`), corpus.Asked, verbatim.CodeApprovalRequired, nil},
			{"an own one to another payee", "update_scheduled_transaction", with(t, "/recipient", `"DE00000000000000000000"`), corpus.Asked, verbatim.CodeApprovalRequired, nil},
			{"another name", "update_user_info", with(t, "/last_name", `"Other"`), corpus.Asked, verbatim.CodeApprovalRequired, nil},
		},
		"slack": {
			{"a message as published", "send_direct_message", same, corpus.Allowed, verbatim.CodeOK, nil},
			{"a message with a link", "send_direct_message", with(t, "/body", `"see www.example.com"`), corpus.Asked, verbatim.CodeApprovalRequired, nil},
			{"a link with a scheme", "send_channel_message", with(t, "/body", `"see https://example.com"`), corpus.Asked, verbatim.CodeApprovalRequired, nil},
			{"a shared channel", "send_channel_message", with(t, "/channel", `"External_0"`), corpus.Asked, verbatim.CodeApprovalRequired, nil},
			{"messages before a page", "read_channel_messages", same, corpus.Allowed, verbatim.CodeOK, outside},
			{"messages after a page", "read_channel_messages", same, corpus.Asked, verbatim.CodeApprovalRequired, page},
			{"any page at first", "get_webpage", with(t, "/url", `"www.example.com/a?b"`), corpus.Allowed, verbatim.CodeOK, nil},
			{"a bare name after colleagues", "get_webpage", with(t, "/url", `"www.example.com"`), corpus.Allowed, verbatim.CodeOK, colleagues},
			{"a path after colleagues", "get_webpage", with(t, "/url", `"www.example.com/a"`), corpus.Asked, verbatim.CodeApprovalRequired, colleagues},
			{"a query after colleagues", "get_webpage", with(t, "/url", `"www.example.com?a"`), corpus.Asked, verbatim.CodeApprovalRequired, colleagues},
			{"a longer name after colleagues", "get_webpage", with(t, "/url", `"www.a.example.com"`), corpus.Asked, verbatim.CodeApprovalRequired, colleagues},
			{"another name after colleagues", "get_webpage", with(t, "/url", `"a.example.com"`), corpus.Asked, verbatim.CodeApprovalRequired, colleagues},
			{"a backslash after colleagues", "get_webpage", with(t, "/url", `"www.example.com\\a"`), corpus.Refused, verbatim.CodeInvalidArguments, colleagues},
			{"a full stop of another script", "get_webpage", with(t, "/url", `"www.a\u3002example.com"`), corpus.Refused, verbatim.CodeInvalidArguments, colleagues},
			{"a bare name after strangers", "get_webpage", with(t, "/url", `"www.example.com"`), corpus.Asked, verbatim.CodeApprovalRequired, append(colleagues, outside...)},
		},
	} {
		t.Run(domain, func(t *testing.T) {
			t.Parallel()
			tried(t, domain, cases)
		})
	}
}

func tried(t *testing.T, domain string, cases []ruleCase) {
	t.Helper()
	present(t)
	var probes []corpus.Probe
	for _, tc := range cases {
		probes = append(probes, corpus.Probe{Tool: tc.tool, Alter: tc.alter, Read: tc.read})
	}
	r, err := corpus.Try(t.Context(), corpus.Paths{Suites: suites, Examples: examples, Work: t.TempDir()}, gates(t), domain, probes)
	if err != nil {
		t.Fatal(err)
	}
	for i, tc := range cases {
		if r[i].Verdict != tc.verdict || r[i].Code != tc.code {
			t.Errorf("%s: %s is %s with %s, want %s with %s", tc.name, tc.tool, r[i].Verdict, r[i].Code, tc.verdict, tc.code)
		}
	}
}
