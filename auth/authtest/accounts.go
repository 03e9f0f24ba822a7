package authtest

import (
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/keys"
)

// Clock is a clock that stands still until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands at a time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move moves the clock on.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Accounts returns accounts over a book with a vote key made of a seed byte.
func Accounts(book auth.Book, now func() time.Time, seed byte) (*auth.Accounts, error) {
	secret := make([]byte, 32)
	for i := range secret {
		secret[i] = seed
	}
	signer, err := keys.NewSigner(keys.Votes, secret)
	if err != nil {
		return nil, err
	}
	return auth.New(auth.Config{Book: book, Votes: signer, Now: now})
}
