package gate_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/keys"
)

// TestTheReceiptStandsInMeta: an answer that this gateway words and one of
// the server both carry it, and nothing else of the server's answer changes.
func TestTheReceiptStandsInMeta(t *testing.T) {
	t.Parallel()
	signer, err := keys.NewSigner(keys.Receipts, bytes.Repeat([]byte{3}, 32))
	if err != nil {
		t.Fatal(err)
	}
	w := boundWorld(t, 5*time.Second, binder{}, func(c *verbatim.Config) { c.Receipts, c.ReadReceipts = signer, true })
	origin, err := w.Store.Origin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	vkey, err := audit.LogKey(audit.ReceiptName(origin), signer.Public()[0])
	if err != nil {
		t.Fatal(err)
	}
	trust, err := audit.NewTrust(vkey)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ call, event string }{
		"a read":   {`{"name":"look","arguments":{}}`, audit.ReadAllowed},
		"a denial": {`{"name":"closed","arguments":{}}`, audit.ActionDenied},
	} {
		answer := w.ask(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":` + c.call + `}`)
		text := member(t, answer, "/result/_meta/io.github.seed-de4804fb.verbatim~1receipt")
		r, err := trust.OpenReceipt([]byte(text))
		if err != nil || r.Event != c.event {
			t.Errorf("%s: %+v, %v, in %s", name, r, err, answer.Bytes())
		}
		bare, err := answer.WithoutOwnMeta()
		if err != nil {
			t.Fatal(err)
		}
		if got := string(bare.Result()); name == "a read" && !strings.HasPrefix(got, `{"content":[{"type":"text","text":"done"}],"big": 9007199254740993`) {
			t.Errorf("the server's answer became %s", got)
		}
	}
}
