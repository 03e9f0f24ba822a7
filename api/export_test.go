package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Queries returns the parameters of a route.
func Queries(r Route) []string {
	for _, e := range entries {
		if e.Route == r {
			return slices.Clone(e.query)
		}
	}
	return nil
}

// Answers are the types that are written, by their name in the document.
func Answers() map[string]reflect.Type {
	return map[string]reflect.Type{"Called": reflect.TypeFor[called](), "Authorized": reflect.TypeFor[authorized](), "Explained": reflect.TypeFor[explained](), "Limit": reflect.TypeFor[limit](),
		"Page": reflect.TypeFor[page](), "Action": reflect.TypeFor[seen](), "Result": reflect.TypeFor[result](), "Problem": reflect.TypeFor[problem](),
		"Violation": reflect.TypeFor[canon.Violation](), "Change": reflect.TypeFor[canon.Change](), "Target": reflect.TypeFor[snapshot.Target](),
		"Resolver": reflect.TypeFor[snapshot.Evidence](), "Votes": reflect.TypeFor[votes](), "Vote": reflect.TypeFor[vote](),
		"Records": reflect.TypeFor[records](), "Record": reflect.TypeFor[record](), "Receipts": reflect.TypeFor[receipts](),
		"Proposals": reflect.TypeFor[proposals](), "Proposal": reflect.TypeFor[proposal](), "Requirement": reflect.TypeFor[action.Requirement](),
		"Tools": reflect.TypeFor[offer](), "Tool": reflect.TypeFor[tool](), "Group": reflect.TypeFor[action.Group]()}
}

// Bodies are the members that are read, and those of them that are required.
func Bodies() map[string][2][]string {
	var c verbatim.Call
	out := map[string][2][]string{}
	for name, members := range map[string][]member{"ExplainRequest": proposed(&c), "CallRequest": wanted(&c), "DismissRequest": nil,
		"OutcomeRequest": reported(new([]byte), new(verbatim.Report), new(string), new(string))} {
		var all, required []string
		for _, m := range members {
			all = append(all, m.name)
			if m.required {
				required = append(required, m.name)
			}
		}
		out[name] = [2][]string{all, required}
	}
	return out
}

// Whole reads a body that says how long it is.
var Whole = whole

// Authorized returns the answer to authorize as it is written, and as
// encoding/json writes it. sendBy is in nanoseconds since 1970.
func Authorized(outcome, receipt, warrant []byte, args string, sendBy int64) (text, plain []byte, err error) {
	by := time.Unix(0, sendBy).UTC()
	x := authorized{Outcome: outcome, Receipt: receipt, Warrant: warrant, Args: args, SendBy: &by}
	plain, err = json.Marshal(x)
	return x.appendTo(nil), plain, err
}
