package wire

// Elements returns the raw elements of the array at the RFC 6901 pointer; none
// if there is no array. It fails as [Message.Member] does.
func (m *Message) Elements(pointer string) ([][]byte, error) {
	where, found, err := m.locate(pointer)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, nil
	}
	var out [][]byte
	for _, e := range elementsOf(m.frame, where) {
		out = append(out, e.of(m.frame))
	}
	return out, nil
}

// WithElements returns m with only those elements of the array at the RFC
// 6901 pointer that keep wants, all other bytes equal; m itself if there is
// no array. It fails as [Message.Member] does.
func (m *Message) WithElements(pointer string, keep func(raw []byte) bool) (*Message, error) {
	where, found, err := m.locate(pointer)
	if err != nil {
		return nil, err
	}
	if !found {
		return m, nil
	}
	items := elementsOf(m.frame, where)
	dropped := make([]bool, len(items))
	for i, e := range items {
		dropped[i] = !keep(e.of(m.frame))
	}
	cuts := cutItems(items, func(i int) bool { return dropped[i] })
	if len(cuts) == 0 {
		return m, nil
	}
	return m.spliced(cuts)
}

// MemberOf returns the raw value of a member of a raw JSON object; found is
// false if raw is no object or has no such member. It fails with an [*Error]
// if the member is there twice or in another letter case.
func MemberOf(raw []byte, name string) (value []byte, found bool, err error) {
	where, fault := scanDocument(raw, DefaultMaxDepth)
	if fault != nil {
		return nil, false, fault
	}
	members := membersOf(raw, where)
	at, fault := sole(members, name)
	if fault != nil {
		return nil, false, fault
	}
	if at < 0 {
		return nil, false, nil
	}
	return members[at].value.of(raw), true, nil
}

// Versioned returns m, a request of a revision before 2026-07-28, as one of
// the stateless era: with the _meta members that it requires.
func (m *Message) Versioned(version string, clientInfo, capabilities []byte) (*Message, error) {
	if m.kind == KindRequest && !m.meta.found() { // all in one place: one edit
		for _, part := range [][]byte{clientInfo, capabilities} {
			if _, err := scanDocument(part, m.limits.depth()); err != nil {
				return nil, m.blame(err, "/params/_meta")
			}
		}
		text := append(appendText([]byte{'{'}, metaProtocolVersion), ':')
		text = append(appendText(append(appendText(text, version), ','), metaClientInfo), ':')
		text = append(appendText(append(append(text, clientInfo...), ','), metaClientCapabilities), ':')
		return m.WithMember("/params/_meta", append(append(text, capabilities...), '}'))
	}
	out, err := m.WithMeta(metaProtocolVersion, appendText(nil, version))
	if err == nil {
		out, err = out.WithMeta(metaClientInfo, clientInfo)
	}
	if err == nil {
		out, err = out.WithMeta(metaClientCapabilities, capabilities)
	}
	return out, err
}

// Unversioned returns m, a request of the stateless era, without the _meta
// members that only that era knows.
func (m *Message) Unversioned() (*Message, error) {
	out := m
	var err error
	for _, key := range []string{metaProtocolVersion, metaClientInfo, metaClientCapabilities, metaLogLevel} {
		if out, err = out.WithoutMeta(key); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Capabilities returns the raw clientCapabilities of a request of the
// stateless era; nil if it has none or they are no object.
func (m *Message) Capabilities() []byte {
	raw, found, err := m.Meta(metaClientCapabilities)
	if err != nil || !found || raw[0] != '{' {
		return nil
	}
	return raw
}
