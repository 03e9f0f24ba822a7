package warrant_test

import (
	"context"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/warrant"
)

// slow is a memory in which a use takes its time.
type slow struct{ advance func() }

func (s slow) Use(context.Context, warrant.Warrant) (warrant.Verdict, error) {
	s.advance()
	return warrant.OK, nil
}

// A warrant whose deadline passes while the gateway is asked, or while its use
// is remembered, does not run.
func TestAWarrantThatEndsWhileItIsCheckedDoesNotRun(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]string{"while the gateway is asked": "ask", "while its use is remembered": "use", "in time": ""} {
		now := at(t, usual)
		pass := func(here string) func() {
			return func() {
				if here == where {
					now = now.Add(warrant.MaxLife)
				}
			}
		}
		ask := pass("ask")
		used := false
		c, err := warrant.New(warrant.Config{Audience: audience, Keys: signer(t, 1).Public(), Now: func() time.Time { return now },
			Seen: slow{func() { used = true; pass("use")() }},
			Ask:  func(context.Context, warrant.Warrant) (bool, error) { ask(); return true, nil }})
		if err != nil {
			t.Fatal(err)
		}
		want := warrant.Late
		if where == "" {
			want = warrant.OK
		}
		if _, v := c.Check(t.Context(), []byte(sign(t, sample(t, plainArgs))), []byte(plainArgs), warrant.Expect{}); v != want {
			t.Errorf("%s: %s, want %s", name, v, want)
		}
		if used != (where != "ask") {
			t.Errorf("%s: the use was taken: %v", name, used)
		}
	}
}
