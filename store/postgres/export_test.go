package postgres

// For tests of the spelling of texts.
var (
	Escape   = escape
	Unescape = unescape
)
