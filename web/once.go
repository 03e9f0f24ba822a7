package web

import (
	"sync"
	"time"
)

// maxSpent bounds the memory of nonces.
const maxSpent = 100_000

// once remembers the nonces of proofs that were accepted, so that a proof that
// somebody copied proves nothing again.
type once struct {
	mu    sync.Mutex
	spent map[string]time.Time // when it may be forgotten: its form is no good any more
}

// take reports whether a nonce is new, and remembers it until a time.
func (o *once) take(nonce string, now, until time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spent == nil {
		o.spent = map[string]time.Time{}
	}
	for old, end := range o.spent {
		if len(o.spent) < maxSpent && now.Before(end) {
			break // it is enough to look at one: each time removes another
		}
		if !now.Before(end) {
			delete(o.spent, old)
		}
	}
	if _, again := o.spent[nonce]; again || len(o.spent) >= maxSpent {
		return false
	}
	o.spent[nonce] = until
	return true
}
