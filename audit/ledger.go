package audit

import (
	"context"
	"errors"

	"github.com/seed-de4804fb/verbatim/canon"
)

// ErrFork is returned for a checkpoint of another history than the log's.
var ErrFork = errors.New("the checkpoint is of another log or of another history of it")

// Log is a log that can be read: records with their numbers, and the tree
// over them. Record number n is the leaf at index n-1.
type Log interface {
	// Origin is the name of the log. A restored backup gets another one: it
	// is another history.
	Origin(ctx context.Context) (string, error)
	// LatestCheckpoint is the newest checkpoint of this origin; nil if there
	// is none.
	LatestCheckpoint(ctx context.Context) ([]byte, error)
	// Head is the tree as it is stored.
	Head(ctx context.Context) (Head, error)
	// Hashes reads stored hashes by their positions.
	Hashes(ctx context.Context, positions []int64) ([]canon.Digest, error)
	// Entries reads numbered records, oldest first.
	Entries(ctx context.Context, s Selection) ([]Entry, error)
}

// Ledger is the log as a store keeps it. A store makes the origin on first
// use.
type Ledger interface {
	Log
	// Sequence adds at most most records to the tree, in the order of their
	// numbers, in one durable transaction that compares the size of the tree
	// before, so that of two sequencers one finds nothing left. It returns the
	// head as it then is, and how many it has added.
	Sequence(ctx context.Context, most int) (Head, int, error)
	// KeepCheckpoint keeps a signed checkpoint. It fails with ErrFork where
	// the tree never had that head.
	KeepCheckpoint(ctx context.Context, c Checkpoint, signed []byte) error
}

// Selection selects entries. Tenant and Action may be ""; From is an index.
type Selection struct {
	Tenant string
	Action string
	From   int64
	Most   int // 1 to MaxEntries
}

// MaxEntries is how many entries are read at once.
const MaxEntries = 1000

// Entry is one leaf of the log with what is kept beside it.
type Entry struct {
	Index int64
	Leaf  []byte
	Salt  []byte // nil once it is forgotten
}

// HashesOf reads the tree of a log.
func HashesOf(ctx context.Context, l Log) Hashes {
	return func(positions []int64) ([]canon.Digest, error) { return l.Hashes(ctx, positions) }
}
