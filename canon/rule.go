package canon

// The rules that a [Violation] of this package can name. They are part of the
// interface: records and tests compare them.
const (
	RuleSize             = "size"              // longer than Options.MaxBytes
	RuleDepth            = "depth"             // nested deeper than Options.MaxDepth
	RuleNodes            = "nodes"             // more values than Options.MaxNodes
	RuleEmpty            = "empty"             // no bytes, or white space only
	RuleBOM              = "bom"               // starts with a byte order mark
	RuleSyntax           = "syntax"            // not JSON (RFC 8259)
	RuleTruncated        = "truncated"         // the text ends inside the value
	RuleTrailingData     = "trailing_data"     // something follows the value
	RuleInvalidUTF8      = "invalid_utf8"      // bad or overlong UTF-8
	RuleLoneSurrogate    = "lone_surrogate"    // half of a surrogate pair in \u escapes
	RuleInvalidEscape    = "invalid_escape"    // a backslash that starts no JSON escape
	RuleControlCharacter = "control_character" // below U+0020 and not escaped
	RuleDuplicateName    = "duplicate_name"    // one name twice in one object
	RuleCaseTwin         = "case_twin"         // two names equal under simple case folding
	RuleNumberLength     = "number_length"     // literal longer than MaxNumberBytes
	RuleNegativeZero     = "negative_zero"     // -0 in any spelling
	RuleNumberOverflow   = "number_overflow"   // beyond the largest double
	RuleNumberUnderflow  = "number_underflow"  // not zero, but rounds to zero
	RuleNumberInexact    = "number_inexact"    // RFC 8785 would print another value
	RuleUnsafeInteger    = "unsafe_integer"    // integer beyond ±(2^53-1)
	RuleInvalidValue     = "invalid_value"     // a Value without a kind
)

// UnknownName stands in a pointer for a member name that Options.Known does
// not vouch for.
const UnknownName = "<unknown>"

// expected says for each rule what would be accepted. It never depends on the
// input.
var expected = map[string]string{
	RuleSize:             "a shorter text",
	RuleDepth:            "less nesting",
	RuleNodes:            "fewer values",
	RuleEmpty:            "one JSON value",
	RuleBOM:              "UTF-8 without a byte order mark",
	RuleSyntax:           "valid JSON",
	RuleTruncated:        "the rest of the JSON value",
	RuleTrailingData:     "nothing after the JSON value",
	RuleInvalidUTF8:      "valid UTF-8",
	RuleLoneSurrogate:    "surrogates only in pairs",
	RuleInvalidEscape:    `one of \" \\ \/ \b \f \n \r \t \uXXXX after a backslash`,
	RuleControlCharacter: `control characters escaped, as \n or \u0000`,
	RuleDuplicateName:    "each member name once",
	RuleCaseTwin:         "member names that differ in more than case",
	RuleNumberLength:     "a shorter number; send it as a string",
	RuleNegativeZero:     "0 without a sign",
	RuleNumberOverflow:   "a number within the range of a double; send it as a string",
	RuleNumberUnderflow:  "0 or a number within the range of a double; send it as a string",
	RuleNumberInexact:    "a number that a double holds exactly; send it as a string",
	RuleUnsafeInteger:    "an integer within ±9007199254740991; send it as a string",
	RuleInvalidValue:     "a JSON value",
}

// passable are the rules of single names and numbers: behind such a fault the
// text can still be read, so that one refusal can list all of them.
var passable = map[string]bool{
	RuleDuplicateName:   true,
	RuleCaseTwin:        true,
	RuleNumberLength:    true,
	RuleNegativeZero:    true,
	RuleNumberOverflow:  true,
	RuleNumberUnderflow: true,
	RuleNumberInexact:   true,
	RuleUnsafeInteger:   true,
	RuleInvalidValue:    true,
}
