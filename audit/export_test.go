package audit

// AnyLeaf is Leaf without the short way.
func AnyLeaf(r Record) ([]byte, error) { return r.anyLeaf() }

// ReadPlain and ReadAny are the two ways in which ParseLeaf reads.
func ReadPlain(leaf []byte) (Record, bool) { return readPlain(leaf, true) }

// Skimmed is ReadPlain without facts and commitments.
func Skimmed(leaf []byte) (Record, bool) { return readPlain(leaf, false) }

func ReadAny(leaf []byte) (Record, error) { return readAny(leaf) }
