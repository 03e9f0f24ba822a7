package canon

// Work decodes src and returns how many names were compared or hashed and how
// many values the scratch stacks held at most.
func Work(src []byte, opt Options) (names, stacked int) {
	var d scanner
	d.begin(string(src), opt.withDefaults())
	d.document()
	return d.twins.work, cap(d.elems) + cap(d.members)
}

// TextWork makes src canonical with a new Decoder and returns how many names
// were compared, sorted or hashed and how much its memory holds in bytes.
func TextWork(src []byte, opt Options) (names, held int) {
	var d Decoder
	_, _ = d.Canonicalize(nil, src, opt)
	return d.twins.work, 32*(cap(d.open)+cap(d.kept)) + 20*cap(d.objects) + 16*cap(d.keys) +
		8*cap(d.twins.table.entries) + cap(d.names) + cap(d.final) + cap(d.twins.buf)
}

// AppendFold exposes the folding of names.
func AppendFold(s string) string { return string(appendFold(nil, s, new(twins))) }
