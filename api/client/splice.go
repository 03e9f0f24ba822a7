package client

import "encoding/json"

// splice takes the value at a path of member names out of a text: rest has
// null in its place, and raw is its exact text. It reports false where there
// is none, or where a name of the path occurs twice.
//
// What a tool answered is somebody else's JSON: numbers beyond 2^53, names that
// repeat. It is handed on as it is, and only what is left is read strictly.
func splice(text []byte, path ...string) (rest, raw []byte, found bool) {
	if !json.Valid(text) {
		return text, nil, false
	}
	s := spans{text: text}
	at, end := s.space(0), len(text)
	for _, name := range path {
		if at, end, found = s.member(at, name); !found {
			return text, nil, false
		}
	}
	raw = text[at:end]
	rest = append(append(append([]byte{}, text[:at]...), "null"...), text[end:]...)
	return rest, raw, true
}

// spans finds where values begin and end in a text that is valid JSON.
type spans struct{ text []byte }

func (s spans) space(i int) int {
	for i < len(s.text) && (s.text[i] == ' ' || s.text[i] == '\n' || s.text[i] == '\r' || s.text[i] == '\t') {
		i++
	}
	return i
}

// member finds the one member of the object at i with a name that is spelled
// without escapes.
func (s spans) member(i int, name string) (at, end int, found bool) {
	if s.text[i] != '{' {
		return 0, 0, false
	}
	for i = s.space(i + 1); s.text[i] != '}'; {
		begin := i
		i = s.value(i)
		same := string(s.text[begin+1:i-1]) == name
		i = s.space(s.space(i) + 1) // the colon
		from := i
		i = s.value(i)
		if same {
			if found {
				return 0, 0, false
			}
			at, end, found = from, i, true
		}
		if i = s.space(i); s.text[i] == ',' {
			i = s.space(i + 1)
		}
	}
	return at, end, found
}

// value returns where the value at i ends.
func (s spans) value(i int) int {
	depth := 0
	for ; i < len(s.text); i++ {
		switch s.text[i] {
		case '"':
			i = s.quoted(i)
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ':', ' ', '\n', '\r', '\t':
			continue
		default:
			i = s.plain(i)
		}
		if depth == 0 {
			return i + 1
		}
	}
	return i
}

// quoted returns where the string at i has its last quote.
func (s spans) quoted(i int) int {
	for i++; s.text[i] != '"'; i++ {
		if s.text[i] == '\\' {
			i++
		}
	}
	return i
}

// plain returns the last byte of the number or word at i.
func (s spans) plain(i int) int {
	for i+1 < len(s.text) {
		switch s.text[i+1] {
		case ',', '}', ']', ' ', '\n', '\r', '\t':
			return i
		}
		i++
	}
	return i
}
