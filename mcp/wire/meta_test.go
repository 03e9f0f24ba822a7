package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// spelled writes a key as JSON may: any letter escaped, any letter in the other
// case, and letters that fold onto ASCII ones.
func spelled(t *rapid.T, key string) string {
	var out strings.Builder
	for _, r := range key {
		switch rapid.IntRange(0, 12).Draw(t, "how") {
		case 0:
			fmt.Fprintf(&out, `\u%04x`, r)
		case 1:
			out.WriteString(strings.ToUpper(string(r)))
		case 2:
			out.WriteString(strings.NewReplacer("k", "\u212a", "s", "\u017f").Replace(string(r)))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// A _meta key is found, and has two readings, exactly where the member at its
// pointer is and has.
func TestMetaReadsWhatItsPointerReads(t *testing.T) {
	t.Parallel()
	keys := []string{wire.MetaApproval, wire.MetaIdempotencyKey, wire.MetaProgressToken, "traceparent", "skip", "\u212aey", "", "@", "a b"}
	rapid.Check(t, func(t *rapid.T) {
		var members []string
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			key := rapid.SampledFrom(append(keys, "x", "io.modelcontextprotocol/clientInfo")).Draw(t, "key")
			if rapid.Bool().Draw(t, "bent") {
				key = spelled(t, key)
			}
			members = append(members, `"`+key+`":`+rapid.SampledFrom([]string{`1`, `"v"`, `{"traceparent":"x"}`, `"traceparent"`}).Draw(t, "value"))
		}
		m, err := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{`+strings.Join(members, ",")+`}}}`), wire.Limits{})
		if err != nil {
			return
		}
		for _, key := range keys {
			want, wantFound, wantErr := m.Member(canon.JoinPointer("/params/_meta", key))
			got, found, err := m.Meta(key)
			if string(got) != string(want) || found != wantFound || (err == nil) != (wantErr == nil) {
				t.Fatalf("%s: %q is %s %v %v, its pointer has %s %v %v", m.Bytes(), key, got, found, err, want, wantFound, wantErr)
			}
		}
		out, err := m.WithoutOwnMeta()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range members {
			name, decodeErr := canon.Decode([]byte(text[:strings.LastIndex(text, `":`)+1]), canon.Options{})
			if decodeErr != nil {
				continue
			}
			own := strings.HasPrefix(strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name.Text(), "\u212a", "k"), "\u017f", "s")), wire.MetaPrefix)
			if own && strings.Contains(string(out.Bytes()), text) {
				t.Fatalf("%s kept %s", out.Bytes(), text)
			}
		}
	})
}

// What a request of the stateless era says for itself stands where it would
// stand if each part were added alone.
func TestVersionedIsEachPartAlone(t *testing.T) {
	t.Parallel()
	info, can := []byte(`{"name":"n\"","version":"1"}`), []byte(`{"extensions":{}}`)
	for _, params := range []string{"", `,"params":{}`, `,"params":{ }`, `,"params":{"name":"x","arguments":{"a":1}}`, `,"params":{"_meta":{}}`, `,"params":{"_meta":{"k":1},"name":"x"}`} {
		m, err := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"`+params+`}`), wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Versioned("2026-07-28", info, can)
		if err != nil {
			t.Fatalf("%s: %v", params, err)
		}
		want := m
		for _, part := range []struct{ key, value string }{{"protocolVersion", `"2026-07-28"`}, {"clientInfo", string(info)}, {"clientCapabilities", string(can)}} {
			if want, err = want.WithMeta("io.modelcontextprotocol/"+part.key, []byte(part.value)); err != nil {
				t.Fatal(err)
			}
		}
		if string(got.Bytes()) != string(want.Bytes()) || got.ProtocolVersion() != "2026-07-28" {
			t.Errorf("%s, want %s", got.Bytes(), want.Bytes())
		}
	}
	m, err := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`{"a":1}}`, `{"a":1},"x":{}`, `{`, ``} {
		if _, err := m.Versioned("2026-07-28", []byte(part), can); err == nil {
			t.Errorf("%q was taken for one value", part)
		}
	}
}
