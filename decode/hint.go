package decode

import (
	"bytes"

	"github.com/seed-de4804fb/verbatim/canon"
)

// The rules of this package, beside those of canon. Each names a habit of
// models, so that the hint can say what to send instead.
const (
	RuleNullArguments  = "null_arguments"  // the root is null
	RuleNotObject      = "not_object"      // the root is an array, a number or a boolean
	RuleJSONInString   = "json_in_string"  // the root is a string that holds JSON
	RuleCodeFence      = "code_fence"      // Markdown around the object
	RuleTextBefore     = "text_before"     // prose or tags before the object
	RuleTextAfter      = "text_after"      // prose or tags after the object
	RuleSecondValue    = "second_value"    // another value after the object
	RuleForeignLiteral = "foreign_literal" // None, True, NaN, undefined and the like
	RuleSingleQuotes   = "single_quotes"   // strings in single quotes
	RuleUnquotedName   = "unquoted_name"   // {name: 1}
	RuleUnescapedQuote = "unescaped_quote" // a quote inside a string without a backslash
	RuleTrailingComma  = "trailing_comma"  // a comma before the closing bracket
	RuleComment        = "comment"         // a comment of another language
	RuleNumberSyntax   = "number_syntax"   // +1, .5, 0x10, 1_000
)

var hints = map[string]string{
	canon.RuleEmpty:     "one JSON object; send {} for no arguments",
	canon.RuleTruncated: "the whole JSON object; it was cut off",
	RuleNullArguments:   "a JSON object, not null; send {} for no arguments",
	RuleNotObject:       "a JSON object with the arguments as its members",
	RuleJSONInString:    "the JSON object itself, not a string that holds it",
	RuleCodeFence:       "send only the JSON object, without a code fence",
	RuleTextBefore:      "send only the JSON object, without text before it",
	RuleTextAfter:       "send only the JSON object, without text after it",
	RuleSecondValue:     "one JSON object; make one call for each object",
	RuleForeignLiteral:  "the JSON literals null, true and false, or a finite number",
	RuleSingleQuotes:    "double quotes around names and strings",
	RuleUnquotedName:    "double quotes around member names",
	RuleUnescapedQuote:  `a comma or the end; write a quote inside a string as \"`,
	RuleTrailingComma:   "no comma before a closing bracket",
	RuleComment:         "JSON without comments",
	RuleNumberSyntax:    "a number as JSON writes it, as 0.5, -1 or 16",
}

const fence = "```"

// refuseRoot explains a valid JSON text that is no object.
func refuseRoot(raw []byte, v canon.Value) canon.Violations {
	rule := RuleNotObject
	switch v.Kind() {
	case canon.Null:
		rule = RuleNullArguments
	case canon.String:
		if text := trimSpace([]byte(v.Text())); len(text) > 0 && (text[0] == '{' || text[0] == '[') {
			rule = RuleJSONInString
		}
	}
	start := len(raw) - len(bytes.TrimLeft(raw, jsonSpace))
	return canon.Violations{{Rule: rule, Expected: hints[rule], Offset: start}}
}

// explain replaces rules by more telling ones where the place shows a known
// habit. Pointers and offsets stay.
func explain(raw []byte, refused canon.Violations) canon.Violations {
	out := make(canon.Violations, 0, len(refused))
	for _, v := range refused {
		switch v.Rule {
		case canon.RuleSyntax:
			v.Rule = habit(raw, v.Offset)
		case canon.RuleTrailingData:
			v.Rule = trailing(raw[v.Offset:])
		}
		if hint, ok := hints[v.Rule]; ok {
			v.Expected = hint
		}
		out = append(out, v)
	}
	return out
}

// trailing names what follows the object.
func trailing(rest []byte) string {
	switch c := rest[0]; {
	case isFence(rest):
		return RuleCodeFence
	case c == '{' || c == '[' || c == '"':
		return RuleSecondValue
	case c == ',':
		if next := trimSpace(rest[1:]); len(next) > 0 && (next[0] == '{' || next[0] == '[') {
			return RuleSecondValue
		}
		return canon.RuleTrailingData
	case c == '}' || c == ']':
		return canon.RuleTrailingData
	default:
		return RuleTextAfter
	}
}

// habit names the fault at a byte that JSON does not allow there.
func habit(raw []byte, at int) string {
	before, rest := trimSpace(raw[:at]), raw[at:]
	c := rest[0]
	switch {
	case len(before) == 0:
		return atStart(rest)
	case foreign(rest):
		return RuleForeignLiteral
	case c == '\'':
		return RuleSingleQuotes
	case isComment(rest):
		return RuleComment
	case isNumberHabit(raw[:at], rest):
		return RuleNumberSyntax
	}
	last := before[len(before)-1]
	switch {
	case last == ',' && (c == '}' || c == ']'):
		return RuleTrailingComma
	case (last == '{' || last == ',') && isNamed(rest):
		return RuleUnquotedName
	case last == '"' && !isPunctuation(c):
		return RuleUnescapedQuote
	default:
		return canon.RuleSyntax
	}
}

// atStart names what stands where the object should begin.
func atStart(rest []byte) string {
	switch c := rest[0]; {
	case isFence(rest):
		return RuleCodeFence
	case foreign(rest):
		return RuleForeignLiteral
	case c == '\'':
		return RuleSingleQuotes
	case isComment(rest):
		return RuleComment
	case c == '+' || c == '.' || isDigit(c):
		return RuleNumberSyntax
	case isWordByte(c) || c == '<' || c == '(' || c == '*':
		return RuleTextBefore
	default:
		return canon.RuleSyntax
	}
}
