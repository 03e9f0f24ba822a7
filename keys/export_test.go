package keys

// Holds reports whether a signature of a message holds under a passkey's key.
func (p Passkey) Holds(message, sig []byte) bool { return p.holds(message, sig) }
