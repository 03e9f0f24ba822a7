// Command loops is an agent loop before Verbatim's decision API, with nothing
// but net/http and a strict JSON decoder.
//
//	loops (openai|anthropic) SCRIPT
//
// SCRIPT holds the answers of a scripted model, one JSON list; a provider comes
// in its place. VERBATIM_URL and VERBATIM_TOKEN say where the gateway is. RUN
// names the conversation: a loop that was cut off and begins again under the same
// name repeats its calls with the same keys, and nothing runs twice.
//
// Programs in Go may use package api/client, which does all of this; here it is
// spelled out, beside loop.py and loop.ts.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// toolCall is one call of a model.
type toolCall struct{ id, name, arguments string }

// shape is how a provider words calls and their results.
type shape struct {
	calls   func(message canon.Value) []toolCall
	results func(id string, answer reply) canon.Value
}

var shapes = map[string]shape{"openai": {openAICalls, openAIResult}, "anthropic": {anthropicCalls, anthropicResult}}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := loop(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func loop(ctx context.Context, args []string) error {
	if len(args) != 2 || shapes[args[0]].calls == nil {
		return errors.New("usage: loops (openai|anthropic) SCRIPT")
	}
	s := shapes[args[0]]
	script, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	model, err := decode(script)
	if err != nil {
		return err
	}
	g := gateway{url: os.Getenv("VERBATIM_URL"), token: os.Getenv("VERBATIM_TOKEN")}
	for _, message := range model.Elements() {
		for _, c := range s.calls(message) {
			// server__tool is server.tool; the key is one per intended effect
			tool := strings.Replace(c.name, "__", ".", 1)
			answer, err := g.call(ctx, tool, c.arguments, os.Getenv("RUN")+":"+c.id, c.id)
			if err != nil {
				return err
			}
			fmt.Printf("%s\n", s.results(c.id, answer).Canonical())
		}
	}
	return nil
}

// decode reads JSON in which every number is exact: one that would be rounded
// is refused, and so is a member that comes twice.
func decode(text []byte) (canon.Value, error) {
	return canon.Decode(text, canon.Options{MaxBytes: 16 << 20, Exact: true})
}

func object(members ...canon.Member) canon.Value { return canon.ObjectValue(members...) }

func text(name, value string) canon.Member {
	return canon.Member{Name: name, Value: canon.StringValue(value)}
}

func at(v canon.Value, pointer string) string {
	x, found := v.Lookup(pointer)
	if !found || x.Kind() != canon.String {
		return ""
	}
	return x.Text()
}

// openAICalls: function.arguments is the text that the model wrote. It is
// passed on as it is.
func openAICalls(message canon.Value) (out []toolCall) {
	list, _ := message.Get("tool_calls")
	for _, c := range list.Elements() {
		out = append(out, toolCall{at(c, "/id"), at(c, "/function/name"), at(c, "/function/arguments")})
	}
	return out
}

func openAIResult(id string, answer reply) canon.Value {
	return object(text("role", "tool"), text("tool_call_id", id), text("content", string(answer.text)))
}

// anthropicCalls: input was parsed by the provider's API. It is written once.
func anthropicCalls(message canon.Value) (out []toolCall) {
	list, _ := message.Get("content")
	for _, b := range list.Elements() {
		if input, found := b.Get("input"); found && at(b, "/type") == "tool_use" {
			out = append(out, toolCall{at(b, "/id"), at(b, "/name"), string(input.Canonical())})
		}
	}
	return out
}

func anthropicResult(id string, answer reply) canon.Value {
	failed := canon.Member{Name: "is_error", Value: canon.BoolValue(at(answer.body, "/outcome/status") != "ok")}
	result := object(text("type", "tool_result"), text("tool_use_id", id), text("content", string(answer.text)), failed)
	return object(text("role", "user"), canon.Member{Name: "content", Value: canon.ArrayValue(result)})
}
