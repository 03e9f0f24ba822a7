package canon_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"

	"github.com/seed-de4804fb/verbatim/canon"
)

// payloads are calls of about 200 bytes, 5 KB and 1 MB.
func payloads() map[string][]byte {
	call := `{"invoice":"INV-%05d","vendor":"VENDOR-001","amount_minor":840000,"currency":"USD","rate":1.0825,` +
		`"memo":"Second quarter, caf\u00e9 \"north\"","lines":[{"sku":"A-1","count":3},{"sku":"B-2","count":12}],"urgent":false}`
	list := func(n int) []byte {
		var b strings.Builder
		b.WriteString(`{"calls":[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, call, i)
		}
		b.WriteString("]}")
		return []byte(b.String())
	}
	return map[string][]byte{"200B": fmt.Appendf(nil, call, 7), "5KB": list(23), "1MB": list(4400)}
}

func BenchmarkCanonicalize(b *testing.B) {
	for name, raw := range payloads() {
		run := func(who string, f func()) {
			b.Run(name+"/"+who, func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
			})
		}
		run("sha256", func() { sha256.Sum256(raw) })
		var d canon.Decoder
		var text []byte
		run("text", func() { text, _ = d.Canonicalize(text[:0], raw, strict) })
		run("decode", func() { _, _ = canon.Decode(raw, strict) })
		v, _ := canon.Decode(raw, strict)
		buf := v.Canonical()
		run("encode", func() { buf = v.AppendTo(buf[:0]) })
		run("both", func() {
			v, _ := canon.Decode(raw, strict)
			buf = v.AppendTo(buf[:0])
		})
		run("jsontext", func() {
			j := jsontext.Value(bytes.Clone(raw))
			_ = j.Canonicalize()
		})
		run("jcs", func() { _, _ = jcs.Transform(raw) })
	}
}
