package schema

// CompileWith compiles for Validate with documents that references may reach.
// The product has no such loader.
func CompileWith(src []byte, opt Options, load func(uri string) ([]byte, bool)) (*Schema, error) {
	return compilePure(src, opt, load)
}
