package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/typed"
)

// Client asks the daemon of a home. It is safe for concurrent use.
type Client struct {
	State State // as the daemon said it when the client connected

	home config.Home
	http *http.Client
	dial func(ctx context.Context) (net.Conn, error)
}

// statusWait is how long a daemon may take to say that it is there.
const statusWait = 10 * time.Second

// Connect finds the running daemon of a home, or fails with ErrNoDaemon.
func Connect(ctx context.Context, h config.Home) (*Client, error) {
	hint, err := readState(h)
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", hint.Socket)
	}
	c := &Client{home: h, dial: dial, http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}}}
	asking, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	body, err := c.get(asking, "/v1/status", nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDaemon, err)
	}
	c.State, err = parseState(body)
	return c, err
}

// do sends one request and returns the document, or the *Refusal.
func (c *Client) do(r *http.Request) ([]byte, error) {
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(canon.CeilingBytes)))
	if err != nil {
		return nil, fmt.Errorf("read the daemon's answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, refusalIn(resp.StatusCode, body)
	}
	return body, nil
}

func refusalIn(status int, body []byte) error {
	v, err := canon.Decode(body, canon.Options{})
	text, _ := v.Get("error")
	if err != nil || text.Text() == "" {
		return &Refusal{status, "the daemon answered " + strconv.Itoa(status)}
	}
	return &Refusal{status, text.Text()}
}

func (c *Client) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	address := "http://daemon" + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return c.do(r)
}

func (c *Client) post(ctx context.Context, path string, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://daemon"+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return c.do(r)
}

// read decodes an answer of the daemon.
func read(body []byte, err error, into any) error {
	if err != nil {
		return err
	}
	v, err := canon.Decode(body, limits)
	if err == nil {
		err = typed.Decode(v, into)
	}
	if err != nil {
		return fmt.Errorf("the daemon is another version and answers differently; run verbatim stop: %w", err)
	}
	return nil
}

// Actions lists actions, newest first. state is one of action.States, or
// "pending", "open" or "all".
func (c *Client) Actions(ctx context.Context, state string, limit int) (out List, err error) {
	body, err := c.get(ctx, "/v1/actions", url.Values{"state": {state}, "limit": {strconv.Itoa(limit)}})
	return out, read(body, err, &out)
}

// Action returns one action with all that a person decides on.
func (c *Client) Action(ctx context.Context, id string) (out Detail, err error) {
	body, err := c.get(ctx, "/v1/actions/"+url.PathEscape(id), nil)
	return out, read(body, err, &out)
}

// SignedVotes returns the votes of an action in the form that verifies alone.
func (c *Client) SignedVotes(ctx context.Context, id string) (out SignedVotes, err error) {
	body, err := c.get(ctx, "/v1/actions/"+url.PathEscape(id)+"/votes", nil)
	return out, read(body, err, &out)
}

// Evidence returns the evidence of an action as a bundle that verifies alone.
func (c *Client) Evidence(ctx context.Context, id string, payload bool) (out Evidence, err error) {
	body, err := c.get(ctx, "/v1/actions/"+url.PathEscape(id)+"/evidence", url.Values{"payload": {strconv.FormatBool(payload)}})
	return out, read(body, err, &out)
}

// Vote hands in one answer of a person.
func (c *Client) Vote(ctx context.Context, id string, b Ballot) (out Detail, err error) {
	body, err := c.post(ctx, "/v1/actions/"+url.PathEscape(id)+"/vote", b)
	return out, read(body, err, &out)
}

// Revoke withdraws an action that has not begun to run.
func (c *Client) Revoke(ctx context.Context, id string, w Withdrawal) (out Detail, err error) {
	body, err := c.post(ctx, "/v1/actions/"+url.PathEscape(id)+"/revoke", w)
	return out, read(body, err, &out)
}

// Erase destroys what tells of the arguments of an action that has ended.
func (c *Client) Erase(ctx context.Context, id string, w Withdrawal) (out Detail, err error) {
	body, err := c.post(ctx, "/v1/actions/"+url.PathEscape(id)+"/erase", w)
	return out, read(body, err, &out)
}

// Settle says what became of an uncertain action.
func (c *Client) Settle(ctx context.Context, id string, s Settlement) (out Detail, err error) {
	body, err := c.post(ctx, "/v1/actions/"+url.PathEscape(id)+"/settle", s)
	return out, read(body, err, &out)
}

// Records lists the audit log, newest first; actionID and event may be "",
// before 0.
func (c *Client) Records(ctx context.Context, actionID, event string, limit int, before int64) (out Records, err error) {
	q := url.Values{"action": {actionID}, "event": {event}, "limit": {strconv.Itoa(limit)}}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	body, err := c.get(ctx, "/v1/records", q)
	return out, read(body, err, &out)
}

// Overview tells what an operator looks at.
func (c *Client) Overview(ctx context.Context) (out Overview, err error) {
	body, err := c.get(ctx, "/v1/overview", nil)
	return out, read(body, err, &out)
}

// Stops lists what is frozen.
func (c *Client) Stops(ctx context.Context) (out Stops, err error) {
	body, err := c.get(ctx, "/v1/stops", nil)
	return out, read(body, err, &out)
}

// Grants lists standing grants, newest first, at most limit.
func (c *Client) Grants(ctx context.Context, limit int) (out Grants, err error) {
	body, err := c.get(ctx, "/v1/grants", url.Values{"limit": {strconv.Itoa(limit)}})
	return out, read(body, err, &out)
}

// SignedGrant returns a standing grant with its signatures.
func (c *Client) SignedGrant(ctx context.Context, id string) (out SignedGrant, err error) {
	body, err := c.get(ctx, "/v1/grants/"+url.PathEscape(id), nil)
	return out, read(body, err, &out)
}

// RevokeGrant ends a standing grant for a person.
func (c *Client) RevokeGrant(ctx context.Context, id string, by GrantRevocation) (out Grant, err error) {
	body, err := c.post(ctx, "/v1/grants/"+url.PathEscape(id)+"/revoke", by)
	return out, read(body, err, &out)
}

// Freeze stops what f names.
func (c *Client) Freeze(ctx context.Context, f Freezing) (out Frozen, err error) {
	body, err := c.post(ctx, "/v1/freeze", f)
	return out, read(body, err, &out)
}

// Unfreeze lifts a stop and returns those that still stand.
func (c *Client) Unfreeze(ctx context.Context, l Lifting) (out Stops, err error) {
	body, err := c.post(ctx, "/v1/unfreeze", l)
	return out, read(body, err, &out)
}

// Accounts lists the people of the home.
func (c *Client) Accounts(ctx context.Context) (out Accounts, err error) {
	body, err := c.get(ctx, "/v1/accounts", nil)
	return out, read(body, err, &out)
}

// People lists the people of the home and what is open between them.
func (c *Client) People(ctx context.Context) (out People, err error) {
	body, err := c.get(ctx, "/v1/people", nil)
	return out, read(body, err, &out)
}

// Manage makes one change of people and returns them as they are then.
func (c *Client) Manage(ctx context.Context, do string, m Managing) (out People, err error) {
	body, err := c.post(ctx, "/v1/people/"+url.PathEscape(do), m)
	return out, read(body, err, &out)
}

// AddAccount makes an account.
func (c *Client) AddAccount(ctx context.Context, n NewAccount) (out Account, err error) {
	body, err := c.post(ctx, "/v1/accounts", n)
	return out, read(body, err, &out)
}

// Stop ends the daemon; runs that have begun are finished.
func (c *Client) Stop(ctx context.Context) error {
	_, err := c.post(ctx, "/v1/stop", struct{}{})
	return err
}

// drain asks the daemon to make way for a newer one.
func (c *Client) drain(ctx context.Context) (State, error) {
	body, err := c.post(ctx, "/v1/drain", struct{}{})
	if err != nil {
		return State{}, err
	}
	return parseState(body)
}

// Attachment is a connection to the gateway before one server: MCP bytes.
type Attachment struct {
	net.Conn
	in *bufio.Reader
	id string
}

// Read reads what the gateway sends.
func (a *Attachment) Read(p []byte) (int, error) { return a.in.Read(p) }

// CloseWrite says that the client will send nothing more.
func (a *Attachment) CloseWrite() error {
	half, ok := a.Conn.(interface{ CloseWrite() error })
	if !ok {
		return a.Close()
	}
	return half.CloseWrite()
}

// Attach starts a server and connects to it through the gateway. The
// connection ends with ctx. A *Refusal says why the server did not start.
func (c *Client) Attach(ctx context.Context, h Hello) (*Attachment, error) {
	body, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDaemon, err)
	}
	a := &Attachment{Conn: conn, in: bufio.NewReader(conn)}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://daemon/v1/attach", bytes.NewReader(body))
	if err == nil {
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", upgradeName)
		err = r.Write(conn)
	}
	if err == nil {
		err = a.accepted(r)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return a, nil
}

func (a *Attachment) accepted(r *http.Request) error {
	resp, err := http.ReadResponse(a.in, r)
	if err != nil {
		return fmt.Errorf("the daemon gave no answer: %w", err)
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		a.id = resp.Header.Get(attachmentHeader)
		return nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return err
	}
	return refusalIn(resp.StatusCode, body)
}

// Notes copies what the server writes to its standard error, and what the
// daemon has to say, to w until the attachment ends.
func (c *Client) Notes(ctx context.Context, a *Attachment, w io.Writer) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://daemon/v1/attachments/"+url.PathEscape(a.id)+"/notes", nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &Refusal{resp.StatusCode, "the server's messages cannot be read"}
	}
	_, err = io.Copy(w, resp.Body)
	return err
}
