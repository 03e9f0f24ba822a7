package auth_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
)

func TestThrottleKeepsFewNamesAndForgetsOldOnes(t *testing.T) {
	t.Parallel()
	var throttle auth.Throttle
	now := start
	for i := range 3 * auth.MaxRemembered {
		now = now.Add(5 * time.Second)
		if err := throttle.Enter(fmt.Sprint("name", i), now); err != nil {
			t.Fatalf("attempt %d: %v", i, err)
		}
		if n := throttle.Remembered(); n > auth.MaxRemembered {
			t.Fatalf("%d names are kept", n)
		}
	}
	if throttle.Remembered() > auth.MaxRemembered-1 {
		t.Errorf("%d names are kept; old ones should have gone", throttle.Remembered())
	}
}

func TestThrottleForgetsAnHourAfterTheLastFailure(t *testing.T) {
	t.Parallel()
	var throttle auth.Throttle
	now := start
	for range 3 {
		if err := throttle.Enter("alice", now); err != nil {
			t.Fatal(err)
		}
	}
	if err := throttle.Enter("alice", now); err == nil {
		t.Error("the fourth attempt was let through")
	}
	now = now.Add(time.Hour + time.Second)
	for range 3 {
		if err := throttle.Enter("alice", now); err != nil {
			t.Errorf("after an hour: %v", err)
		}
	}
}

func FuzzStoredHashIsReadBackByteForByte(f *testing.F) {
	f.Add("$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("$argon2id$v=19$m=065536,t=3,p=4$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("$$$$$")
	f.Fuzz(func(t *testing.T, text string) {
		if again, err := auth.ReadHash(text); err == nil && again != text {
			t.Errorf("%q is read as %q", text, again)
		}
	})
}
