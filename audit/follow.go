package audit

import (
	"context"
	"time"
)

// Place is how far a reader of the log has come: it has taken every record
// before Next, and knows nothing of those after.
type Place struct {
	Name  string
	Next  int64     // the index of the next record
	By    string    // who reads under this name now; "" if nobody has yet
	Until time.Time // when others may take over, by the database's clock
	At    time.Time // when Next last moved; zero if it never has
}

// Followers remembers the places of readers that are told of every record at
// least once. A place never goes back.
type Followers interface {
	// Follow takes the lease of a name for by, or prolongs it. A name that is
	// new begins at start. If somebody else holds the lease, the place says so
	// (By), and nothing has changed.
	Follow(ctx context.Context, name, by string, start int64, lease time.Duration) (Place, error)
	// Advance moves a place forward for whoever holds its lease, and reports
	// whether it did.
	Advance(ctx context.Context, name, by string, next int64) (bool, error)
	// Places lists all places by name.
	Places(ctx context.Context) ([]Place, error)
}
