package footprint_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/footprint"
)

const listing = `00400000-0151c000 r-xp 00000000 fe:00 10438094                           /bin/verbatim
Size:              17520 kB
Rss:               15016 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
0151c000-028ed000 r--p 0111c000 fe:00 10438094                           /bin/verbatim
Rss:               13508 kB
Anonymous:             0 kB
028ed000-029a4000 rw-p 024ed000 fe:00 10438094                           /bin/verbatim
Rss:                 540 kB
Anonymous:             0 kB
029b0000-029c0000 r--p 024ed000 fe:00 10438094                           /bin/verbatim
Rss:                  64 kB
Anonymous:             4 kB
029c0000-029d0000 r--p 024ed000 fe:00 10438094                           /bin/verbatim
Rss:                  64 kB
029d0000-029e0000 r-xp 00000000 fe:00 10438094                           /bin/verbatim (deleted)
Rss:                  64 kB
Anonymous:             0 kB
029e0000-029f0000 r--s 00000000 fe:00 10438094                           /bin/verbatim
Rss:                  64 kB
Anonymous:             0 kB
2d1ced400000-2d1cedc00000 rw-p 00000000 00:00 0
Rss:                5680 kB
Anonymous:          5680 kB
7f93aa864000-7f93aa8b7000 r--p 00000000 fe:00 7                          /home/a b/verbatim.db-shm
Rss:                 296 kB
Anonymous:             0 kB
`

func TestGivenBackIsOnlyWhatIsEqualToTheFile(t *testing.T) {
	t.Parallel()
	for program, want := range map[string][]uintptr{
		"/bin/verbatim":           {0x400000, 0x151c000},
		"/bin/verbatim (deleted)": {0x29d0000}, // replaced while it runs
		"/bin/other":              nil,
		"":                        nil,
	} {
		if diff := cmp.Diff(want, footprint.Given(listing, program)); diff != "" {
			t.Errorf("%s: %s", program, diff)
		}
	}
}

// The file's pages go, and the program goes on.
func TestGivenBackPagesComeBack(t *testing.T) {
	read := func() [32]byte {
		text, err := os.ReadFile("/proc/self/exe") // so that all of it is in the cache
		if err != nil {
			t.Fatal(err)
		}
		return sha256.Sum256(text)
	}
	before := read()
	sum, err := footprint.GiveBack()
	if err != nil || sum <= 0 {
		t.Fatalf("%d bytes were given back: %v", sum, err)
	}
	if after := resident(t); after > sum {
		t.Errorf("%d bytes were given back, and %d are still there", sum, after)
	}
	if read() != before {
		t.Error("the program does not compute as it did")
	}
}

// resident is what is mapped of the program's file, in bytes.
func resident(t *testing.T) (sum int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	var kilobytes int64
	_, rest, _ := strings.Cut(string(text), "RssFile:")
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
