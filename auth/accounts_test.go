package auth_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/authtest"
	"github.com/seed-de4804fb/verbatim/keys"
)

const password = "seven quiet lamps burn"

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

type bench struct {
	book     *authtest.Book
	clock    *authtest.Clock
	accounts *auth.Accounts
	alice    auth.Account
}

func newBench(t *testing.T) bench {
	t.Helper()
	b := bench{book: &authtest.Book{}, clock: authtest.NewClock(start)}
	var err error
	if b.accounts, err = authtest.Accounts(b.book, b.clock.Now, 1); err != nil {
		t.Fatal(err)
	}
	b.alice = auth.Account{ID: "person_alice", Name: "Alice", Key: auth.FoldName("Alice"), Tenant: "acme", Principal: "alice@acme",
		Groups: []string{"finance"}, PasswordHash: hash(), Active: true, CreatedAt: start}
	if err := b.book.AddAccount(t.Context(), b.alice); err != nil {
		t.Fatal(err)
	}
	return b
}

// hash is made once for all tests: it is meant to be slow.
var hash = sync.OnceValue(func() string {
	accounts, err := authtest.Accounts(&authtest.Book{}, nil, 1)
	if err != nil {
		return ""
	}
	account, err := accounts.Create(context.Background(), "Anybody", password, "acme", "", nil)
	if err != nil {
		return ""
	}
	return account.PasswordHash
})

func TestCreateKeepsWhatThePersonIs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	created, err := b.accounts.Create(t.Context(), " Carol ", password, "acme", "carol@acme", []string{"admin"})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := b.accounts.ByID(t.Context(), created.ID)
	if err != nil || kept.Name != "Carol" || kept.Key != auth.FoldName("carol") || kept.Tenant != "acme" || kept.Principal != "carol@acme" ||
		!slices.Equal(kept.Groups, []string{"admin"}) || !kept.Active || !kept.CreatedAt.Equal(start) {
		t.Errorf("kept %+v, %v", kept, err)
	}
	if people, err := b.accounts.List(t.Context(), "acme"); err != nil || len(people) != 2 {
		t.Errorf("List = %d people, %v; want 2", len(people), err)
	}
}

func TestNewRefusesToStartWithoutItsParts(t *testing.T) {
	t.Parallel()
	seed := make([]byte, 32)
	receipts, err := keys.NewSigner(keys.Receipts, seed)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]auth.Config{
		"nothing":                    {},
		"no keys":                    {Book: &authtest.Book{}},
		"keys of another purpose":    {Book: &authtest.Book{}, Votes: receipts},
		"no book, keys of a purpose": {Votes: receipts},
	} {
		if _, err := auth.New(c); !errors.Is(err, auth.ErrConfig) {
			t.Errorf("%s: New = %v; want ErrConfig", what, err)
		}
	}
}

func TestPasswordsThatAreGuessedFirstAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for what, weak := range map[string]struct{ password, why string }{
		"empty":                {"", "1 to 1024 bytes"},
		"nine characters":      {"abcdefghi", "10 characters or 4 words"},
		"three words":          {"a b c", "10 characters or 4 words"},
		"one character":        {strings.Repeat("x", 20), "5 characters that differ"},
		"four equal words":     {"a a a a", "5 characters that differ"},
		"the name":             {"Bob the Builder", "must not be the name"},
		"everybody's":          {"Password123", "everybody tries first"},
		"too long":             {strings.Repeat("abcdef", 200), "1 to 1024 bytes"},
		"control character":    {"seven\tlamps burn", "no control characters"},
		"invalid UTF-8":        {"seven lamps \xff burn", "UTF-8"},
		"long once normalized": {strings.Repeat("\u0958\u0959\u095a\u095b\u095c", 60), "1 to 1024 bytes"},
	} {
		_, err := b.accounts.Create(t.Context(), "Bob the Builder", weak.password, "acme", "", nil)
		if !errors.Is(err, auth.ErrPassword) || !strings.Contains(err.Error(), weak.why) {
			t.Errorf("%s: Create = %v; want ErrPassword that says %q", what, err, weak.why)
		}
	}
	for _, good := range []string{"0ddly long", "go to my den"} {
		if _, err := b.accounts.Create(t.Context(), "P"+good, good, "acme", "", nil); err != nil {
			t.Errorf("Create with %q = %v", good, err)
		}
	}
}

func TestCreateRefusesNamesThatLookTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"Alice", "ALICE", "A1ice", " alice"} {
		if _, err := b.accounts.Create(t.Context(), name, password, "other", "", nil); !errors.Is(err, auth.ErrNameTaken) {
			t.Errorf("Create(%q) = %v; want ErrNameTaken", name, err)
		}
	}
	if _, err := b.accounts.Create(t.Context(), "Carol", password, "", "", nil); !errors.Is(err, auth.ErrTenant) {
		t.Errorf("Create without tenant = %v; want ErrTenant", err)
	}
	if _, err := b.accounts.Create(t.Context(), "Carol", password, "acme", "", []string{" "}); !errors.Is(err, auth.ErrGroup) {
		t.Errorf("Create with an empty group = %v; want ErrGroup", err)
	}
}

func TestHashSaysItsParametersAndHidesThePassword(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if !strings.HasPrefix(b.alice.PasswordHash, "$argon2id$v=19$m=65536,t=3,p=4$") {
		t.Errorf("hash starts %.40q", b.alice.PasswordHash)
	}
	if strings.Contains(b.alice.PasswordHash, password) {
		t.Error("hash holds the password")
	}
}

func TestCheckAcceptsOnlyTheOwnPassword(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"Alice", "alice", " ALICE "} {
		if got, err := b.accounts.Check(t.Context(), name, password); err != nil || got.ID != b.alice.ID {
			t.Errorf("Check(%q) = %v, %v", name, got.ID, err)
		}
	}
	for _, try := range [][2]string{
		{"Alice", password + " "}, {"Alice", ""}, {"Nobody", password}, {"", password},
		{"Alice\u202e", password}, {"Alice", strings.Repeat("x", 5000)},
	} {
		b.clock.Move(2 * time.Hour)
		if _, err := b.accounts.Check(t.Context(), try[0], try[1]); !errors.Is(err, auth.ErrCredentials) {
			t.Errorf("Check(%q) = %v; want ErrCredentials", try[0], err)
		}
	}
}

func TestPasswordIsComparedAfterNormalization(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.accounts.Create(t.Context(), "Renee", "cafe\u0301 au lait noir", "acme", "", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.accounts.Check(t.Context(), "Renee", "caf\u00e9 au lait noir"); err != nil {
		t.Errorf("Check with the composed form = %v", err)
	}
}

func TestDisabledAccountsAreUnknown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	token, _, err := b.accounts.Login(t.Context(), "Alice", password)
	if err != nil {
		t.Fatal(err)
	}
	if can, err := b.accounts.CanApprove(t.Context(), "acme"); !can || err != nil {
		t.Errorf("CanApprove = %t, %v; want true", can, err)
	}
	if can, err := b.accounts.CanApprove(t.Context(), "other"); can || err != nil {
		t.Errorf("CanApprove in another tenant = %t, %v; want false", can, err)
	}
	if err := b.accounts.Disable(t.Context(), b.alice.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.accounts.Check(t.Context(), "Alice", password); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("Check = %v; want ErrCredentials", err)
	}
	if _, _, err := b.accounts.Session(t.Context(), token); !errors.Is(err, auth.ErrNoLogin) {
		t.Errorf("Session = %v; want ErrNoLogin", err)
	}
	if can, err := b.accounts.CanApprove(t.Context(), "acme"); can || err != nil {
		t.Errorf("CanApprove = %t, %v; want false", can, err)
	}
	if n, err := b.accounts.Count(t.Context()); n != 0 || err != nil {
		t.Errorf("Count = %d, %v; want 0", n, err)
	}
}

func TestStoredHashThatCostsLessIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for what, hash := range map[string]string{
		"less memory":  "$argon2id$v=19$m=1024,t=3,p=4$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"less time":    "$argon2id$v=19$m=65536,t=1,p=4$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"short salt":   "$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"short key":    "$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHRzYWx0c2FsdA$AAAA",
		"no threads":   "$argon2id$v=19$m=65536,t=3,p=0$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"huge memory":  "$argon2id$v=19$m=4194304,t=3,p=4$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"other kind":   "$argon2i$v=19$m=65536,t=3,p=4$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"more members": "$argon2id$v=19$m=65536,t=3,p=4,x=1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"plain text":   password,
	} {
		b.clock.Move(time.Hour)
		if err := b.book.SetPassword(t.Context(), b.alice.ID, hash, start); err != nil {
			t.Fatal(err)
		}
		_, err := b.accounts.Check(t.Context(), "Alice", password)
		var throttled *auth.ThrottledError
		if err == nil || errors.Is(err, auth.ErrCredentials) || errors.As(err, &throttled) {
			t.Errorf("%s: Check = %v; want the hash refused", what, err)
		}
	}
}

func TestRightPasswordWaitsTooAndThenClearsTheThrottle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 3 {
		_, _ = b.accounts.Check(t.Context(), "Alice", "wrong password")
	}
	var throttled *auth.ThrottledError
	if _, err := b.accounts.Check(t.Context(), "Alice", password); !errors.As(err, &throttled) {
		t.Fatalf("Check = %v; want a ThrottledError", err)
	}
	b.clock.Move(throttled.Wait)
	for range 4 {
		if _, err := b.accounts.Check(t.Context(), "Alice", password); err != nil {
			t.Fatalf("Check after the wait = %v", err)
		}
	}
}

func TestGuessesMadeAtTheSameTimeDoNotSlipThrough(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var looked atomic.Int32
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if _, err := b.accounts.Check(context.Background(), "Alice", "wrong password"); errors.Is(err, auth.ErrCredentials) {
				looked.Add(1)
			}
		})
	}
	group.Wait()
	if n := looked.Load(); n != 3 {
		t.Errorf("%d guesses were looked at; want 3", n)
	}
}

func TestErrorsHoldNeitherNameNorPassword(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 5 {
		_, err := b.accounts.Check(t.Context(), "Alice", "hunter2hunter2")
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "Alice") {
			t.Errorf("Check = %v", err)
		}
	}
}
