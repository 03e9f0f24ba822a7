package client_test

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/api/client"
)

// toolCall is one entry of tool_calls, as OpenAI-shaped models answer.
type toolCall struct {
	ID       string
	Function struct{ Name, Arguments string }
}

// answerTo is the example of docs/api.md.
func answerTo(ctx context.Context, address, token, key string, call toolCall) (string, error) {
	gate, err := client.New(client.Config{URL: address, Token: client.StaticToken(token)})
	if err != nil {
		return "", err
	}
	o, err := gate.Run(ctx, client.Call{Tool: "up.pay", Arguments: call.Function.Arguments, Key: key, CallID: call.ID})
	if err != nil {
		return "", err // no outcome; client.ErrUnclear where nobody knows whether the gateway got it
	}
	return string(o.Envelope()), nil // for the model: status, code, data
}

func TestTheExampleOfThePageRunsOnce(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	go func() { g.Approve(g.pending("up.pay"), "ada") }()
	for range 2 {
		call := toolCall{ID: "call_1"}
		call.Function.Arguments = `{"text": "invoice 17"}`
		got, err := answerTo(t.Context(), g.server.URL, token, "invoice-17", call)
		if err != nil || !strings.Contains(got, `"status":"ok"`) {
			t.Errorf("%s, %v", got, err)
		}
	}
	if got := g.ran(); len(got) != 1 {
		t.Errorf("it ran with %v", got)
	}
}
