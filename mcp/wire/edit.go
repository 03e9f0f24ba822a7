package wire

import "strconv"

// splice replaces the bytes at a span, which may be empty, with others.
type splice struct {
	at   span
	with []byte
}

// splices applies the list, which is in order and does not overlap.
func splices(src []byte, list []splice) []byte {
	size := len(src)
	for _, s := range list {
		size += len(s.with) - (s.at.end - s.at.start)
	}
	out := make([]byte, 0, size)
	from := 0
	for _, s := range list {
		out = append(out, src[from:s.at.start]...)
		out = append(out, s.with...)
		from = s.at.end
	}
	return append(out, src[from:]...)
}

// spliced parses the edited frame again, so that no edit can make a message
// that Parse would refuse. The size limit is for what others send.
func (m *Message) spliced(list []splice) (*Message, error) {
	next, err := parse(splices(m.frame, list), m.limits)
	if err != nil {
		return nil, err
	}
	return next, nil
}

// WithMember returns m with the value at the RFC 6901 pointer replaced by the
// JSON value raw. An absent member is added at the end of its object, and
// absent objects on the way with it; array elements must exist. It fails
// with an [*Error] if raw is not one JSON value, if the place has two
// readings (see [Message.Member]), or if the result is not a message.
func (m *Message) WithMember(pointer string, raw []byte) (*Message, error) {
	tokens, err := placeOf(pointer)
	if err != nil {
		return nil, err
	}
	value, err := scanDocument(raw, m.limits.depth())
	if err != nil {
		return nil, m.blame(err, pointer)
	}
	change, err := m.setting(tokens, value.of(raw))
	if err != nil {
		return nil, m.blame(err, pointer)
	}
	return m.spliced([]splice{change})
}

// setting finds the splice that sets the value at tokens.
func (m *Message) setting(tokens []string, value []byte) (splice, *Error) {
	where := m.root
	for i, token := range tokens {
		next, found, err := child(m.frame, where, token)
		if err != nil {
			return splice{}, err
		}
		if found {
			where = next
			continue
		}
		if m.frame[where.start] != '{' {
			return splice{}, refuse(CodeInternal, RulePointer, "", where.start)
		}
		return addition(m.frame, where, token, wrapped(tokens[i+1:], value)), nil
	}
	return splice{where, value}, nil
}

// wrapped nests value in one object for each token.
func wrapped(tokens []string, value []byte) []byte {
	if len(tokens) == 0 {
		return value
	}
	out := appendText([]byte{'{'}, tokens[0])
	out = append(out, ':')
	out = append(out, wrapped(tokens[1:], value)...)
	return append(out, '}')
}

// addition adds a member at the end of the object at where.
func addition(src []byte, where span, name string, value []byte) splice {
	members := membersOf(src, where)
	at := where.start + 1
	var text []byte
	if n := len(members); n > 0 {
		at = members[n-1].value.end
		text = append(text, ',')
	}
	text = append(appendText(text, name), ':')
	return splice{span{at, at}, append(text, value...)}
}

// Without returns m without the member or element at the RFC 6901 pointer; m
// itself if there is none. It fails with an [*Error] if the place has two
// readings (see [Message.Member]) or the result is not a message.
func (m *Message) Without(pointer string) (*Message, error) {
	tokens, err := placeOf(pointer)
	if err != nil {
		return nil, err
	}
	if _, found, err := m.locate(pointer); err != nil {
		return nil, err
	} else if !found {
		return m, nil
	}
	where, last := m.root, len(tokens)-1
	for _, token := range tokens[:last] {
		where, _, _ = child(m.frame, where, token) // found above
	}
	items, at := itemsOf(m.frame, where, tokens[last])
	return m.spliced(cutItems(items, func(i int) bool { return i == at }))
}

// itemsOf lists what commas separate at where, and which one token names.
func itemsOf(src []byte, where span, token string) (items []span, at int) {
	if src[where.start] == '[' {
		at, _ = strconv.Atoi(token) // checked by child
		return elementsOf(src, where), at
	}
	members := membersOf(src, where)
	at, _ = sole(members, token) // checked by child
	for _, x := range members {
		items = append(items, span{x.key.start, x.value.end})
	}
	return items, at
}

// cutItems removes items of a comma-separated list. A dropped item takes the
// comma before it, or, where no kept item comes before it, the one after it;
// the bytes of kept items and around the list stay.
func cutItems(items []span, drop func(i int) bool) []splice {
	var cuts []splice
	kept := false
	for i, item := range items {
		if !drop(i) {
			kept = true
			continue
		}
		switch {
		case kept:
			cuts = append(cuts, splice{at: span{items[i-1].end, item.end}})
		case i+1 < len(items):
			cuts = append(cuts, splice{at: span{item.start, items[i+1].start}})
		default:
			cuts = append(cuts, splice{at: item})
		}
	}
	return cuts
}

// WithID returns m with another id. It fails if m has none: an id would turn
// a notification into a request.
func (m *Message) WithID(id ID) (*Message, error) {
	if m.id.IsZero() || id.IsZero() {
		return nil, m.blame(refuse(CodeInternal, RuleID, "", -1), "/id")
	}
	return m.replaced(m.idAt, id.Raw(), func(out *Message) { out.id = id }), nil
}

// replaced is m with other bytes at one place that holds a checked value: an
// id, or arguments. Every other part stays what it is and moves along, so the
// frame needs no second parse.
func (m *Message) replaced(at span, value []byte, note func(*Message)) *Message {
	frame := make([]byte, 0, len(m.frame)-(at.end-at.start)+len(value))
	frame = append(append(append(frame, m.frame[:at.start]...), value...), m.frame[at.end:]...)
	out := *m
	out.frame = frame
	by := len(value) - (at.end - at.start)
	for _, s := range [...]*span{&out.root, &out.params, &out.result, &out.fault, &out.args, &out.idAt, &out.meta} {
		if s.end >= at.end {
			s.end += by
		}
		if s.start >= at.end {
			s.start += by
		}
	}
	note(&out)
	return &out
}

// WithMethod returns m, a request or notification, with another method.
func (m *Message) WithMethod(method string) (*Message, error) {
	if m.method == "" {
		return nil, m.blame(refuse(CodeInternal, RuleMethod, "", -1), "/method")
	}
	return m.WithMember("/method", appendText(nil, method))
}

// WithName returns m, a request that has params.name, with another one.
func (m *Message) WithName(name string) (*Message, error) {
	if m.name == "" {
		return nil, m.blame(refuse(CodeInternal, RuleToolName, "", -1), "/params/name")
	}
	if name == m.name {
		return m, nil
	}
	return m.WithMember("/params/name", appendText(nil, name))
}

// argumentsDepth is how deep arguments lie in a frame: below it and params.
const argumentsDepth = 2

// WithArguments returns m, a request, with params.arguments set to the JSON
// value raw.
func (m *Message) WithArguments(raw []byte) (*Message, error) {
	if m.kind != KindRequest {
		return nil, m.blame(refuse(CodeInternal, RuleShape, "", -1), "/params/arguments")
	}
	if m.args.found() {
		value, err := scanDocument(raw, m.limits.depth()-argumentsDepth)
		if err != nil {
			return nil, m.blame(err, "/params/arguments")
		}
		return m.replaced(m.args, value.of(raw), func(*Message) {}), nil
	}
	return m.WithMember("/params/arguments", raw)
}
