// Package permit holds the internal right to start one run.
//
// A permit is made by the root package alone, after the commit point is
// durable (or, for a read or a preview, after the decision is). Package
// execute takes one and cannot make one; the test of import bans checks both.
package permit

// Kind says what a permit allows.
type Kind uint8

// The kinds. The zero Permit allows nothing.
const (
	none Kind = iota
	Mutation
	Read
	Preview
	Question // ask or cancel an attempt; runs nothing
)

// Permit is the right to run one tool once with exactly these bytes.
type Permit struct {
	kind   Kind
	action string
	fence  int64
	key    string
	args   string
	bears  []byte
}

// Issue makes a permit for one run of an action with frozen argument bytes.
// key is what a keyed provider gets as its idempotency key.
func Issue(kind Kind, action string, fence int64, key, args string) Permit {
	return Permit{kind: kind, action: action, fence: fence, key: key, args: args}
}

// Bearing returns the permit with a warrant for the executor, a DSSE envelope.
// It allows no more than before.
func (p Permit) Bearing(warrant []byte) Permit {
	p.bears = warrant
	return p
}

// Warrant returns the warrant for the executor; nil if there is none.
func (p Permit) Warrant() []byte { return append([]byte(nil), p.bears...) }

// Kind returns what the permit allows.
func (p Permit) Kind() Kind { return p.kind }

// Action returns the id of the action or decision that was recorded.
func (p Permit) Action() string { return p.action }

// Fence returns the fence of the claim.
func (p Permit) Fence() int64 { return p.fence }

// ProviderKey returns the idempotency key for the provider.
func (p Permit) ProviderKey() string { return p.key }

// Args returns argsCanonicalJson.
func (p Permit) Args() string { return p.args }

// Valid reports whether the permit allows a run at all.
func (p Permit) Valid() bool { return p.kind != none && p.action != "" && p.args != "" }
