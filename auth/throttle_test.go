package auth_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/auth"
)

func TestGuessesOfOneNameWaitLongerAndLonger(t *testing.T) {
	t.Parallel()
	var throttle auth.Throttle
	now := start
	for range 3 {
		if err := throttle.Enter("alice", now); err != nil {
			t.Fatalf("free guess: %v", err)
		}
	}
	var waits []time.Duration
	for range 8 {
		var throttled *auth.ThrottledError
		if err := throttle.Enter("alice", now); !errors.As(err, &throttled) {
			t.Fatalf("guess = %v; want a ThrottledError", err)
		}
		waits = append(waits, throttled.Wait)
		if now = now.Add(throttled.Wait - time.Millisecond); throttle.Enter("alice", now) == nil {
			t.Fatal("a guess before the wait was over was let through")
		}
		if now = now.Add(time.Millisecond); throttle.Enter("alice", now) != nil {
			t.Fatal("a guess after the wait was not let through")
		}
	}
	want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}
	for i := range want {
		want[i] *= time.Second
	}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestGuessesOfManyNamesWaitTogether(t *testing.T) {
	t.Parallel()
	var throttle auth.Throttle
	for i := range 20 {
		if err := throttle.Enter(fmt.Sprint("name", i), start); err != nil {
			t.Fatalf("guess %d: %v", i, err)
		}
	}
	var throttled *auth.ThrottledError
	if err := throttle.Enter("another", start); !errors.As(err, &throttled) {
		t.Fatalf("guess = %v; want a ThrottledError", err)
	}
	if throttled.Wait > 5*time.Second {
		t.Errorf("wait = %s; nobody may lock everybody out", throttled.Wait)
	}
}

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
