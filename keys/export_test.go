package keys

// Holds reports whether a signature of a message holds under a passkey's key.
func (p Passkey) Holds(message, sig []byte) bool { return p.holds(message, sig) }

// RowKey is the key of a row below a seed.
func RowKey(seed [32]byte, row string) [32]byte { return rowKey(seed, row) }
