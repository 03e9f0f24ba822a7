package daemon

import "context"

// Drain lets tests ask a daemon to make way without a newer build.
func (c *Client) Drain(ctx context.Context) (State, error) { return c.drain(ctx) }

// Post lets tests send what the client never would.
func (c *Client) Post(ctx context.Context, path string, body any) error {
	_, err := c.post(ctx, path, body)
	return err
}

// CopyTo reads notes as a client does.
var CopyTo = (*Notes).copyTo

// ParseState reads daemon.json.
var ParseState = parseState

// MaxNotes and MaxSocketPath bound what tests try.
const (
	MaxNotes      = maxNotes
	MaxSocketPath = maxSocketPath
)

// Settle is the rhythm in which memory is given back.
func Settle(end, stirred <-chan struct{}, collect func(), give func() bool) {
	settle(end, stirred, collect, give)
}
