package endpoint_test

import (
	"os"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

func alive(pid string) bool {
	_, err := os.Stat("/proc/" + pid)
	return err == nil
}

// The process ends with its session, and with the entry that it stands for;
// the next request then gets one of the new entry.
func TestASessionsOwnServerEndsWithIt(t *testing.T) {
	t.Parallel()
	p := newPlace(t, []hub.Server{commandServer(true)})
	ended := func(pid string) {
		t.Helper()
		for end := time.Now().Add(15 * time.Second); alive(pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("process %s is still there", pid)
			}
		}
	}
	one, two := p.client(legacy, goodToken, nil), p.client(legacy, goodToken, nil)
	first, second := callText(t, one, "pid"), callText(t, two, "pid")
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	ended(first)
	if got := callText(t, two, "pid"); got != second {
		t.Errorf("the other session has process %s, before %s", got, second)
	}
	if err := p.hub.Replace([]hub.Server{commandServer(true)}); err != nil {
		t.Fatal(err)
	}
	ended(second)
	if got := callText(t, two, "pid"); got == second || !alive(got) {
		t.Errorf("process %s", got)
	}
}
