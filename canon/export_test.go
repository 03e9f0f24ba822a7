package canon

import "unicode/utf8"

// Work decodes src and returns how many names were compared or hashed and how
// many values the scratch stacks held at most.
func Work(src []byte, opt Options) (names, stacked int) {
	d := scanner{s: string(src), opt: opt.withDefaults(), dirty: !utf8.Valid(src)}
	d.reserve()
	d.document()
	return d.twins.work, cap(d.elems) + cap(d.members)
}

// AppendFold exposes the folding of names.
func AppendFold(s string) string { return string(appendFold(nil, s, new(twins))) }
