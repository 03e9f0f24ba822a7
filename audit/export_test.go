package audit

// AnyLeaf is Leaf without the short way.
func AnyLeaf(r Record) ([]byte, error) { return r.anyLeaf() }
