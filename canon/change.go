package canon

// ChangeKind says why an effective member differs from the requested one.
type ChangeKind string

// The kinds of change, in the order in which the steps make them.
const (
	ChangeNullDropped ChangeKind = "null_dropped"
	ChangeCoerced     ChangeKind = "coerced"
	ChangeTransformed ChangeKind = "transformed"
	ChangeFilled      ChangeKind = "filled"
	ChangeDefault     ChangeKind = "default"
	ChangeStripped    ChangeKind = "stripped"
	ChangeResolved    ChangeKind = "resolved"
	ChangeConsumed    ChangeKind = "consumed"
)

// Change is one difference between the requested and the parsed arguments.
// It names the place and the reason, never a value.
type Change struct {
	Pointer string     `json:"pointer"`
	Kind    ChangeKind `json:"kind"`
	// By names what made the change where that is not plain: a transform or
	// a resolver.
	By string `json:"by,omitempty"`
}
