package wire

// finder looks for the id of a message that is too large or too deep to be
// parsed. It is fed the bytes piece by piece, in constant memory, and keeps
// only what stands at the top level. What it finds tells whom to answer; it
// is no basis for anything else.
type finder struct {
	depth    int
	started  bool
	inString bool
	escaped  bool
	nested   bool   // the current value is an object or array
	token    []byte // the current name or scalar at the top level
	key      string // the current member's name, unescaped
	ids      int    // members whose name folds to "id"
	id       ID
	response bool // has a result or an error
	broken   bool // ended before it should, or something follows it
}

// maxToken bounds a kept token: the longest id, and one byte to tell that it
// was longer.
const maxToken = maxIDBytes + 1

func (f *finder) feed(piece []byte) {
	for _, c := range piece {
		if f.inString {
			f.inside(c)
			continue
		}
		f.outside(c)
	}
}

func (f *finder) keep(c byte) {
	if f.depth == 1 && len(f.token) < maxToken {
		f.token = append(f.token, c)
	}
}

func (f *finder) inside(c byte) {
	f.keep(c)
	switch {
	case f.escaped:
		f.escaped = false
	case c == '\\':
		f.escaped = true
	case c == '"':
		f.inString = false
	}
}

func (f *finder) outside(c byte) {
	switch c {
	case ' ', '\t', '\n', '\r':
	case '{', '[':
		if f.depth == 0 {
			// A batch or a second value: an id in it is not the id of the frame.
			f.broken = f.broken || f.started || c == '['
			f.started = true
		}
		f.nested = f.depth == 1 || f.nested
		f.depth++
	case '}', ']':
		if f.depth == 1 {
			f.finish()
		}
		f.depth--
		f.broken = f.broken || f.depth < 0
	case ':':
		if f.depth == 1 {
			f.key, _ = f.keyText()
			f.reset()
		}
	case ',':
		if f.depth == 1 {
			f.finish()
		}
	default:
		f.inString = c == '"'
		f.broken = f.broken || f.depth == 0
		f.keep(c)
	}
}

func (f *finder) keyText() (string, bool) {
	where, err := scanDocument(f.token, 1)
	if err != nil || f.token[where.start] != '"' {
		return "", false
	}
	return unquote(f.token)
}

// finish ends a member.
func (f *finder) finish() {
	switch fold(f.key) {
	case "id":
		f.ids++
		if f.key == "id" && !f.nested {
			f.id, _ = ParseID(f.token)
		}
	case "result", "error":
		f.response = true
	}
	f.key = ""
	f.reset()
}

func (f *finder) reset() {
	f.token = f.token[:0]
	f.nested = false
}

// refusal returns the error for the frame, with the id if it is there once
// in an object that ended properly.
func (f *finder) refusal(rule Rule) *Error {
	err := refuse(CodeInvalidRequest, rule, "", -1)
	err.Answerable = !f.response
	if f.ids == 1 && f.depth == 0 && !f.inString && !f.broken {
		err.ID = f.id
	}
	return err
}
