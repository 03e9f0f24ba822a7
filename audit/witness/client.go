package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
)

// ErrWitness is returned where a witness did not sign.
var ErrWitness = errors.New("the witness did not sign")

// patience bounds one question to a witness.
const patience = 10 * time.Second

// Client hands the checkpoints of one log to one witness. One goroutine uses
// it.
type Client struct {
	url   string
	trust audit.Trust
	http  *http.Client
	size  int64 // that the witness is believed to have
}

// NewClient makes a client. trust holds the witness's public key; what no
// trusted witness signed is not taken.
func NewClient(url string, trust audit.Trust) *Client {
	return &Client{url: strings.TrimSuffix(url, "/"), trust: trust, http: &http.Client{Timeout: patience}}
}

// open reads a checkpoint that the witness has signed.
func (c *Client) open(signed []byte) (audit.Opened, error) {
	o, err := c.trust.Open(signed)
	if err == nil && len(o.Witnesses) == 0 {
		err = ErrWitness
	}
	return o, err
}

// Turn hands the newest checkpoint of a ledger to the witness, unless it has
// signed that one already, and keeps it with its signature. Size is how far
// the witness has signed then.
func (c *Client) Turn(ctx context.Context, l audit.Ledger) (size int64, err error) {
	signed, err := l.LatestCheckpoint(ctx)
	if err != nil || signed == nil {
		return 0, err
	}
	if o, err := c.open(signed); err == nil {
		return o.Size, nil
	}
	now, err := audit.ReadUntrusted(signed)
	if err != nil {
		return 0, err
	}
	line, err := c.ask(ctx, l, now, signed)
	var behind *conflict
	if errors.As(err, &behind) && behind.size != c.size { // it knows another one than we thought
		c.size = behind.size
		line, err = c.ask(ctx, l, now, signed)
	}
	if err != nil {
		return 0, err
	}
	joined := audit.Joined(signed, line)
	o, err := c.open(joined)
	if err != nil || o.Checkpoint != now {
		return 0, fmt.Errorf("%w: what it answered is not its signature", ErrWitness)
	}
	c.size = now.Size
	return now.Size, l.KeepCheckpoint(ctx, now, joined)
}

// conflict: the witness has another size.
type conflict struct{ size int64 }

func (c *conflict) Error() string {
	return fmt.Sprintf("%v: it has a checkpoint of %d records that this log does not go on from", ErrWitness, c.size)
}

func (c *conflict) Unwrap() error { return ErrWitness }

func (c *Client) ask(ctx context.Context, l audit.Ledger, now audit.Checkpoint, signed []byte) ([]byte, error) {
	q := request{old: c.size, signed: signed}
	if c.size > now.Size {
		return nil, &conflict{c.size}
	}
	if c.size > 0 {
		proof, err := audit.ProveConsistency(now.Size, c.size, audit.HashesOf(ctx, l))
		if err != nil {
			return nil, err
		}
		q.proof = proof
	}
	status, kind, body, err := c.do(ctx, http.MethodPost, "/add-checkpoint", q.body())
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusOK:
		return body, nil
	case status == http.StatusConflict && kind == sizeType:
		size, err := strconv.ParseInt(strings.TrimSuffix(string(body), "\n"), 10, 64)
		if err != nil || size < 0 {
			return nil, ErrWitness
		}
		return nil, &conflict{size}
	default:
		return nil, fmt.Errorf("%w: it answered %d", ErrWitness, status)
	}
}

// Latest returns the newest checkpoint of a log that the witness has signed,
// to check the log against.
func (c *Client) Latest(ctx context.Context, origin string) ([]byte, error) {
	status, _, body, err := c.do(ctx, http.MethodGet, "/latest/"+LogID(origin), nil)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("the witness answered %d", status)
	}
	if o, err := c.open(body); err != nil || o.Origin != origin {
		return nil, fmt.Errorf("%w: what it gave is not its own", ErrWitness)
	}
	return body, nil
}

func (c *Client) do(ctx context.Context, method, path string, body []byte) (status int, kind string, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, "", nil, err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return 0, "", nil, fmt.Errorf("ask the witness: %w", err)
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, audit.MaxCheckpoint))
	return resp.StatusCode, resp.Header.Get("Content-Type"), answer, err
}
