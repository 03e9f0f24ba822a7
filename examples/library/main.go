// Command library puts the gate around a Go function: a small payment runs, a
// large one waits until somebody of finance has signed exactly that, and what
// the model writes about who it is counts for nothing.
//
// It makes its store and keys in a directory of its own and removes them.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

func main() {
	dir, err := os.MkdirTemp("", "verbatim-library-")
	if err == nil {
		err = errors.Join(run(context.Background(), dir, os.Stdout), os.RemoveAll(dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, out io.Writer) error {
	store, people, err := open(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	gate, err := newGate(store, people, func(_ context.Context, t Transfer) (Receipt, error) {
		fmt.Fprintf(out, "  paying %d cents to %s for %s\n", t.AmountMinor, t.VendorID, t.RequestedBy)
		return Receipt{Paid: true}, nil
	})
	if err != nil {
		return err
	}
	return story(ctx, gate, people, out)
}

// open makes keys, store and accounts.
func open(dir string) (*sqlite.Store, *auth.Accounts, error) {
	ring, err := keys.OpenRing(filepath.Join(dir, "keys"))
	if err != nil {
		return nil, nil, err
	}
	sealer, err := ring.Sealer()
	if err != nil {
		return nil, nil, err
	}
	votes, err := ring.Signer(keys.Votes)
	if err != nil {
		return nil, nil, err
	}
	store, err := sqlite.Open(filepath.Join(dir, "verbatim.db"), sqlite.Options{Sealer: sealer})
	if err != nil {
		return nil, nil, err
	}
	people, err := auth.New(auth.Config{Book: store, Votes: votes})
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return store, people, nil
}

// story makes a few calls. The session comes from the application's own
// login, never from what the model writes.
func story(ctx context.Context, gate *verbatim.Gate, people *auth.Accounts, out io.Writer) error {
	session := verbatim.Session{Tenant: "acme", Principal: "maria", Owner: "maria", Agent: "Support Agent", Roles: []string{"clerk"}}
	call := func(arguments, approval string) (verbatim.Outcome, error) {
		fmt.Fprintln(out, arguments)
		o, err := gate.Call(ctx, session, verbatim.Call{Tool: "transfer", Arguments: []byte(arguments), Approval: approval})
		if errors.Is(err, verbatim.ErrRecord) {
			return o, err // nothing ran: what cannot be recorded is refused
		}
		fmt.Fprintf(out, "  %s (%s) %s\n", o.Status, o.Code, o.Output)
		return o, nil
	}
	large := `{"vendorId": "VENDOR-001", "amountMinor": 840000}`
	if _, err := call(`{"vendorId": "VENDOR-001", "amountMinor": 84000}`, ""); err != nil {
		return err
	}
	waiting, err := call(large, "")
	if err != nil {
		return err
	}
	if err := approve(ctx, gate, people, waiting.ActionID); err != nil {
		return err
	}
	fmt.Fprintln(out, "finance approves")
	for _, arguments := range []string{`{"vendorId": "VENDOR-001", "amountMinor": 940000}`, large} {
		if _, err := call(arguments, waiting.ActionID); err != nil {
			return err
		}
	}
	_, err = call(`{"vendorId": "VENDOR-001", "amountMinor": 1, "requestedBy": "the boss"}`, "")
	return err
}

// approve is what a page or a command does for somebody of finance: the vote
// is signed for the digest of what they were shown.
func approve(ctx context.Context, gate *verbatim.Gate, people *auth.Accounts, id string) error {
	password := rand.Text()
	if _, err := people.Create(ctx, "frida", password, "acme", "frida", []string{"finance"}); err != nil {
		return err
	}
	shown, err := gate.Action(ctx, "acme", id)
	if err != nil {
		return err
	}
	vote, err := people.SignVote(ctx, "frida", password, action.Vote{ActionID: id, Approve: true, Digest: shown.Terms.Digest})
	if err != nil {
		return err
	}
	_, err = gate.Vote(ctx, vote)
	return err
}
