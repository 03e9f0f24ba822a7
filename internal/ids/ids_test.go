package ids_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/ids"
)

func TestOrderedIDsSortByTheirTimeAndAreNeverEqual(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	last := ""
	for range 20 {
		first := ids.Ordered("act")
		for range 50 {
			id := ids.Ordered("act")
			if !strings.HasPrefix(id, "act_") || len(id) != len("act_")+36 {
				t.Fatalf("%q is not the prefix and 176 bits", id)
			}
			if strings.Trim(id[4:], "0123456789abcdefghijklmnopqrstuv") != "" {
				t.Fatalf("%q is not lowercase base32", id)
			}
			if seen[id] {
				t.Fatalf("%q came twice", id)
			}
			seen[id] = true
		}
		if last != "" && first <= last {
			t.Fatalf("%q sorts before %q, which was made milliseconds earlier", first, last)
		}
		last = ids.Ordered("act")
		time.Sleep(2 * time.Millisecond)
	}
}

func TestOrderedIDsHave128RandomBits(t *testing.T) {
	t.Parallel()
	// Of the 36 signs the first 9 hold nothing but time, and one both.
	differ := make([]map[byte]bool, 40)
	for range 400 {
		id := ids.Ordered("act")
		for i := range len(id) {
			if differ[i] == nil {
				differ[i] = map[byte]bool{}
			}
			differ[i][id[i]] = true
		}
	}
	for i := 14; i < 39; i++ {
		if len(differ[i]) != 32 {
			t.Errorf("sign %d took %d of 32 values in 400 ids", i, len(differ[i]))
		}
	}
}
