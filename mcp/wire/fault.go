package wire

import (
	"fmt"
)

// Code is a JSON-RPC 2.0 error code (JSON-RPC 2.0 §5.1).
type Code int

// The codes that JSON-RPC 2.0 defines, and those of MCP 2026-07-28 for headers
// that disagree with the body and for versions that nobody here speaks.
const (
	CodeParse          Code = -32700
	CodeInvalidRequest Code = -32600
	CodeMethodNotFound Code = -32601
	CodeInvalidParams  Code = -32602
	CodeInternal       Code = -32603
	CodeHeaderMismatch Code = -32020
	// CodeOverloaded is of the range that JSON-RPC leaves to servers.
	CodeOverloaded Code = -32029

	CodeUnsupportedVersion Code = -32022
)

// Rule names the broken rule of a refused frame in snake_case.
type Rule string

// The closed list of rules.
const (
	RuleSyntax      Rule = "syntax"
	RuleUTF8        Rule = "utf8"
	RuleSize        Rule = "size"
	RuleDepth       Rule = "depth"
	RuleTruncated   Rule = "truncated"
	RuleBatch       Rule = "batch"
	RuleNotObject   Rule = "not_object"
	RuleVersion     Rule = "version"
	RuleDuplicate   Rule = "duplicate_member"
	RuleCaseVariant Rule = "case_variant"
	RuleName        Rule = "member_name"
	RuleID          Rule = "id"
	RuleMethod      Rule = "method"
	RuleShape       Rule = "shape"
	RuleParams      Rule = "params"
	RuleToolName    Rule = "tool_name"
	RuleTools       Rule = "tools"
	RulePointer     Rule = "pointer"
	RuleHeader      Rule = "header"
)

// sentences says for each rule what would be accepted.
var sentences = map[Rule]string{
	RuleSyntax:      "the message is not JSON",
	RuleUTF8:        "the message is not valid UTF-8",
	RuleSize:        "the message is larger than the limit",
	RuleDepth:       "the message is nested deeper than the limit",
	RuleTruncated:   "the stream ended inside a message",
	RuleBatch:       "batches are not accepted, send one message at a time",
	RuleNotObject:   "a message must be one JSON object",
	RuleVersion:     `member jsonrpc must be "2.0"`,
	RuleDuplicate:   "a member occurs more than once",
	RuleCaseVariant: "member names differ in letter case only, or a known name is in the wrong case",
	RuleName:        "a member name is not valid Unicode",
	RuleID:          "member id must be a string or an integer of at most 256 bytes",
	RuleMethod:      "member method must be a string",
	RuleShape:       "a message is a request, a notification, a result or an error, and only one of them",
	RuleParams:      "params and params._meta must be objects",
	RuleToolName:    "the tool or prompt name must be a string",
	RuleTools:       "result.tools must be a list of tool objects with distinct names and an inputSchema object",
	RuleHeader:      "a header is missing, malformed or differs from the message",
	RulePointer:     "the place to read or edit does not exist or is not an object",
}

// Error is the refusal of one frame. The stream it came from is still usable.
type Error struct {
	Code Code
	Rule Rule
	// Pointer is the RFC 6901 pointer of the object or member, or "header" and
	// a header's name; "" is the frame.
	Pointer string
	// Offset is the byte offset in the frame, or -1 where there is none.
	Offset int
	// ID is the id of the refused message where it is not in doubt; else the
	// zero ID.
	ID ID
	// Answerable reports that the refused frame may be answered with
	// [Error.Response]: it is not a response and not a notification.
	Answerable bool
}

// Error says rule, place and what would be accepted; never a value.
func (e *Error) Error() string {
	where := e.Pointer
	if where == "" {
		where = "(frame)"
	}
	if e.Offset >= 0 {
		return fmt.Sprintf("wire: %s at %s, byte %d: %s", e.Rule, where, e.Offset, sentences[e.Rule])
	}
	return fmt.Sprintf("wire: %s at %s: %s", e.Rule, where, sentences[e.Rule])
}

// Response returns the JSON-RPC error response that tells the sender. It has
// no id where the id is in doubt.
func (e *Error) Response() *Message {
	m, err := NewError(e.ID, e.Code, sentences[e.Rule], nil)
	if err != nil {
		panic("wire: the fixed sentences are valid: " + err.Error())
	}
	return m
}

func refuse(code Code, rule Rule, pointer string, offset int) *Error {
	return &Error{Code: code, Rule: rule, Pointer: pointer, Offset: offset}
}
