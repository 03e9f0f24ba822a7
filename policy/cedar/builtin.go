package cedar

import (
	"bytes"
	_ "embed"
)

//go:embed builtin.cedar
var builtin []byte

// Builtin returns the policy that holds where nobody wrote one (the single
// operator of wrap): reads run, everything else asks the owner of the agent
// session. The name is the one to load it under.
func Builtin() (name string, text []byte) { return "builtin/wrap", bytes.Clone(builtin) }
