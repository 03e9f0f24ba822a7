package audit

// AnyLeaf is Leaf without the short way.
func AnyLeaf(r Record) ([]byte, error) { return r.anyLeaf() }

// ReadPlain and ReadAny are the two ways in which ParseLeaf reads.
func ReadPlain(leaf []byte) (Record, bool) {
	r, _, ok := readPlain(leaf, true)
	return r, ok
}

// Skimmed is ReadPlain without facts and commitments.
func Skimmed(leaf []byte) (Record, bool) {
	r, _, ok := readPlain(leaf, false)
	return r, ok
}

// ReceiptPayload is what is signed of a receipt.
func ReceiptPayload(r Receipt) []byte { return r.appendTo(nil) }

func ReadAny(leaf []byte) (Record, error) { return readAny(leaf) }

// Names and Values are the words that short forms say by their place.
func Names() []string  { return names.list }
func Values() []string { return values.list }
