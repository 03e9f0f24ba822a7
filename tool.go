package verbatim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/typed"
)

// Tool makes a typed tool: its schema is inferred from Args where the spec
// has none, and f gets a case-exact decode of the frozen arguments. If they
// do not fit Args the call fails and f never runs.
func Tool[Args, Result any](spec catalog.Spec, f func(ctx context.Context, args Args) (Result, error)) (Bound, error) {
	if f == nil {
		return Bound{}, fmt.Errorf("tool %s: no function", spec.Name)
	}
	if spec.Schema == nil && spec.Definition == nil {
		inferred, err := typed.Schema(reflect.TypeFor[Args]())
		if err != nil {
			return Bound{}, fmt.Errorf("tool %s: %w", spec.Name, err)
		}
		spec.Schema = inferred
	}
	return Untyped(spec, execute.HandlerFunc(func(ctx context.Context, in execute.Input) (execute.Output, error) {
		var args Args
		if err := typed.Decode(in.Args().Value(), &args); err != nil {
			return execute.Output{}, fmt.Errorf("%w: decode the frozen arguments: %w", execute.ErrNotRun, err)
		}
		result, err := f(ctx, args)
		if err != nil {
			return execute.Output{}, err
		}
		return encode(result)
	}))
}

// errResult: the tool ran; only its result cannot be passed on.
var errResult = errors.New("the tool's result has no JSON form")

func encode(result any) (execute.Output, error) {
	bytes, err := json.Marshal(result)
	if err != nil {
		return execute.Output{}, fmt.Errorf("%w: %w", execute.ErrLost, errResult)
	}
	return execute.Output{Bytes: bytes}, nil
}

// Untyped makes a tool of a handler that reads the frozen arguments itself.
func Untyped(spec catalog.Spec, h execute.Handler) (Bound, error) {
	t, err := catalog.Define(spec)
	if err != nil {
		return Bound{}, err
	}
	if h == nil {
		return Bound{}, fmt.Errorf("tool %s: no handler", spec.Name)
	}
	return Bound{Tool: t, Handler: h}, nil
}

// NewToolset collects tools under their names. It fails if two have one.
func NewToolset(bound ...Bound) (Toolset, error) {
	set := make(Toolset, len(bound))
	for _, b := range bound {
		if b.Tool == nil {
			return nil, errors.New("a tool without definition")
		}
		if _, twice := set[b.Tool.Name]; twice {
			return nil, fmt.Errorf("two tools are called %s", b.Tool.Name)
		}
		set[b.Tool.Name] = b
	}
	return set, nil
}
