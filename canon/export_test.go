package canon

// Work decodes src and returns how many names were compared or hashed and how
// many values the scratch stacks held at most.
func Work(src []byte, opt Options) (names, stacked int) {
	var d scanner
	d.begin(string(src), opt.withDefaults())
	d.document()
	return d.twins.work, cap(d.elems) + cap(d.members)
}

// AppendFold exposes the folding of names.
func AppendFold(s string) string { return string(appendFold(nil, s, new(twins))) }
