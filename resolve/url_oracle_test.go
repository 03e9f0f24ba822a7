package resolve_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/needs"
	"github.com/seed-de4804fb/verbatim/resolve"
)

// compare reads lines of [said, answer] and prints those that the URL class
// of Node, which implements the WHATWG standard, refuses or reads in another
// way. Both sides are brought to one percent-encoding first, which that
// standard leaves alone; so is the dot of the root, which it keeps.
const compare = `
const encode = s => s.replace(/%[0-9a-fA-F]{2}/g, m => {
	const c = String.fromCharCode(parseInt(m.slice(1), 16));
	return /[A-Za-z0-9\-._~']/.test(c) ? c : m.toUpperCase();
}).replace(/[|\^` + "`" + `{}\[\]]/g, c => '%' + c.charCodeAt(0).toString(16).toUpperCase());
const parts = u => [u.protocol, u.hostname.replace(/\.$/, ''), u.port, encode(u.pathname), encode(u.search)].join(' ');
let n = 0;
for (const line of require('fs').readFileSync(0, 'utf8').split('\n')) {
	if (line === '') continue;
	const [said, answer] = JSON.parse(line);
	n++;
	try {
		const one = parts(new URL(said)), two = parts(new URL(answer));
		if (one !== two) console.log(JSON.stringify(said) + ' is ' + one + ', answer ' + two);
	} catch (e) {
		console.log(JSON.stringify(said) + ': ' + e.message);
	}
}
console.error(n);
`

// pieces are put together at random into URLs, most of them wrong.
var pieces = []string{
	"http", "https", ":", "//", "/", ".", "..", "%2e", "%2E", "example", ".com", "com", "a", "B", "é", "ß", "xn--bcher-kva", "1", "8.8.8.8", "0x8", "08", "010", "[", "]",
	"::1", "2606:4700::1", "@", "?", "#", "%", "%41", "%2f", "%20", "\\", " ", ";", "=", "&", "'", "\"", "|", "{", "~", "。", "．", "Ⅷ", "①", "𝐚", "ς", "İ", "\u200d", "\u00ad",
	"_", "-", "--", "日本", "한", "م", "א", "%c3%a9", "^", "`", "+", ",", ":80", ":443", ":8080", "\u200c", "ﬁ", "\u212a", "ſ",
}

// Whatever is accepted is read as browsers read it.
func TestURLIsReadAsNodeReadsIt(t *testing.T) {
	t.Parallel()
	node := needs.Peer(t, "node")
	u := urls(t, resolve.URLOptions{Schemes: []string{"http", "https", "ws", "wss", "ftp"}})
	random := rand.New(rand.NewPCG(1, 2))
	var lines bytes.Buffer
	accepted := 0
	for range 40000 {
		text := []string{"http://", "https://", "https://example.com/", "HTTP://8.8.8.8", "wss://x.example"}[random.IntN(5)]
		for range 1 + random.IntN(6) {
			text += pieces[random.IntN(len(pieces))]
		}
		a, err := u.Resolve(t.Context(), map[string]canon.Value{"value": canon.StringValue(text)})
		if err != nil {
			continue
		}
		accepted++
		line, err := json.Marshal([]string{text, a.Values["value"].Text()})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), node, "-e", compare)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = needs.Env(t), &lines, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("node: %v, %s", err, stderr.String())
	}
	if stdout.Len() > 0 {
		t.Errorf("read differently:\n%s", stdout.String())
	}
	if compared := strings.TrimSpace(stderr.String()); compared != strconv.Itoa(accepted) || accepted < 5000 {
		t.Errorf("compared %s of %d", compared, accepted)
	}
}
