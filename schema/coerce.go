package schema

import (
	"github.com/seed-de4804fb/verbatim/canon"
)

// coerced turns v into a type that set wants, where one exact spelling of it
// exists (semantics §2 step 2). The table is closed:
//
//	string with the canonical spelling of a number -> number
//	string "true" or "false"                       -> boolean
//	string that holds strict JSON                  -> array or object
//	number                                         -> string, its canonical spelling
func (z *normalizer) coerced(v canon.Value, set []*node) canon.Value {
	if !z.coerce {
		return v
	}
	want := TypeAny
	for _, n := range set {
		want &= n.wants
	}
	if want == 0 || want == TypeAny || want.has(v) {
		return v
	}
	out, ok := canon.Value{}, false
	switch v.Kind() {
	case canon.String:
		out, ok = z.fromText(v.Text(), want)
	case canon.Number:
		if want&TypeString != 0 {
			out, ok = canon.StringValue(v.NumberText()), true
		}
	}
	if !ok || !want.has(out) {
		return v
	}
	z.noteHere(canon.ChangeCoerced, "")
	return out
}

func (z *normalizer) fromText(text string, want TypeSet) (canon.Value, bool) {
	if text == "" || !z.r.spend(1+len(text)/16) {
		return canon.Value{}, false
	}
	switch c := text[0]; {
	case want&TypeBoolean != 0 && (text == "true" || text == "false"):
		return canon.BoolValue(text == "true"), true
	case want&(TypeNumber|TypeInteger) != 0 && (c == '-' || '0' <= c && c <= '9'):
		n, err := canon.ParseNumber(text, true)
		return n, err == nil && n.NumberText() == text
	case want&TypeObject != 0 && c == '{', want&TypeArray != 0 && c == '[':
		depth := canon.DefaultMaxDepth - len(z.r.path)
		if depth < 1 {
			return canon.Value{}, false
		}
		v, err := canon.Decode([]byte(text), canon.Options{Exact: true, FoldTwins: true, MaxDepth: depth})
		return v, err == nil
	default:
		return canon.Value{}, false
	}
}
