package wire

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// MetaPrefix begins the _meta keys of this project; all others belong to
// somebody else and are forwarded.
const MetaPrefix = "io.github.seed-de4804fb.verbatim/"

// The closed list of _meta keys of this project.
const (
	MetaApproval       = MetaPrefix + "approval"
	MetaIdempotencyKey = MetaPrefix + "idempotencyKey"
	MetaSupersedes     = MetaPrefix + "supersedes"
	MetaReceipt        = MetaPrefix + "receipt"
	MetaWarrant        = MetaPrefix + "warrant"
	MetaVerdict        = MetaPrefix + "verdict" // in results of servers that check warrants
)

// What every request of the stateless era says for itself, and may say.
const (
	metaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo         = "io.modelcontextprotocol/clientInfo"
	metaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel           = "io.modelcontextprotocol/logLevel"
)

// The _meta keys of the protocol that a gateway reads or writes.
const (
	MetaProgressToken  = "progressToken"
	MetaSubscriptionID = "io.modelcontextprotocol/subscriptionId"
)

// metaPointer is where the _meta object of m is or would be.
func (m *Message) metaPointer() (string, bool) {
	switch m.kind {
	case KindRequest, KindNotification:
		return "/params/_meta", true
	case KindResult:
		return "/result/_meta", true
	default:
		return "", false
	}
}

// Meta returns the raw value of a _meta key: of params in requests and
// notifications, of result in responses. It fails as [Message.Member] does.
func (m *Message) Meta(key string) (raw []byte, found bool, err error) {
	at, ok := m.metaPointer()
	if !ok || m.kind != KindResult && !m.meta.found() {
		return nil, false, nil
	}
	if m.kind == KindResult {
		return m.Member(canon.JoinPointer(at, key))
	}
	if !m.metaLengths.may(key) {
		return nil, false, nil
	}
	where, found, fault := child(m.frame, m.meta, key)
	switch {
	case fault != nil:
		return nil, false, m.blame(fault, canon.JoinPointer(at, key))
	case !found:
		return nil, false, nil
	}
	return where.of(m.frame), true, nil
}

// ProtocolVersion returns the revision that a request of the stateless era
// (2026-07-28 and later) names in params._meta; "" where there is none. The
// era is a property of each request, never of a session.
func (m *Message) ProtocolVersion() string {
	return m.era
}

// WithMeta returns m with the _meta key set to the JSON value raw; missing
// objects on the way are added.
func (m *Message) WithMeta(key string, raw []byte) (*Message, error) {
	at, ok := m.metaPointer()
	if !ok {
		return nil, refuse(CodeInternal, RulePointer, "", -1)
	}
	return m.WithMember(canon.JoinPointer(at, key), raw)
}

// WithoutMeta returns m without the _meta key; m itself if there is none.
func (m *Message) WithoutMeta(key string) (*Message, error) {
	at, ok := m.metaPointer()
	if !ok {
		return m, nil
	}
	return m.Without(canon.JoinPointer(at, key))
}

// WithoutOwnMeta returns m without any _meta key under [MetaPrefix], in
// whatever letter case and however often, so that neither side can pass off
// its own as ours. An emptied _meta stays as an empty object. It fails if
// _meta itself cannot be read in one way.
func (m *Message) WithoutOwnMeta() (*Message, error) {
	at, ok := m.metaPointer()
	if !ok || m.kind != KindResult && !m.meta.found() {
		return m, nil
	}
	where, found, err := m.meta, true, (*Error)(nil) // of requests it is known, and there once
	if m.kind == KindResult {
		where, found, err = m.locate(at)
	}
	if err != nil {
		return nil, err
	}
	if !found {
		return m, nil
	}
	var room [fewMembers]member
	members := appendMembers(room[:0], m.frame, where)
	if !slices.ContainsFunc(members, own) {
		return m, nil
	}
	items := make([]span, len(members))
	for i, x := range members {
		items[i] = span{x.key.start, x.value.end}
	}
	return m.spliced(cutItems(items, func(i int) bool { return own(members[i]) }))
}

// lengths are those of the names of an object's members, a bit for each up to
// 62 and one for all beyond. It saves looking for what is not there: names of
// ASCII that are equal but for the case are equally long.
type lengths uint64

// note adds a name. One that is not ASCII may be equal to one of any length.
func (l *lengths) note(name string) {
	if !ascii(name) {
		*l = ^lengths(0)
	}
	*l |= 1 << min(len(name), 63)
}

// may reports whether a name may be among them, in any letter case.
func (l lengths) may(name string) bool { return !ascii(name) || l&(1<<min(len(name), 63)) != 0 }

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// own reports whether a key is under this project's prefix, in any letter case.
func own(x member) bool { return strings.HasPrefix(fold(x.name), ownPrefix) }

var ownPrefix = fold(MetaPrefix)
