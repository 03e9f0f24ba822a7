package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// mcpClient is the smallest MCP client: it asks one thing after the other and
// keeps every byte of arguments and results as it is.
type mcpClient struct {
	in   *wire.Reader
	out  *wire.Writer
	next int64
}

// errPeer: whoever is at the other end does not speak MCP, or has gone.
var errPeer = errors.New("the server gave no answer")

// greetServer says hello over a stream.
func greetServer(r io.Reader, w io.Writer) (*mcpClient, error) {
	c := &mcpClient{in: wire.NewReader(r, wire.Limits{}), out: wire.NewWriter(w)}
	m, err := c.ask("initialize", []byte(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"verbatim","version":"1"}}`))
	if err != nil {
		return nil, err
	}
	if m.Kind() != wire.KindResult {
		refusal, err := readFault(m.Fault())
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("the server did not initialize: %s", plain(refusal.Text))
	}
	hello, err := wire.NewNotification("notifications/initialized", nil)
	if err != nil {
		return nil, err
	}
	return c, c.out.Write(hello)
}

// ask sends one request and returns its answer. params is a raw object.
func (c *mcpClient) ask(method string, params []byte) (*wire.Message, error) {
	c.next++
	id := wire.NumberID(c.next)
	m, err := wire.NewRequest(id, method, params)
	if err != nil {
		return nil, err
	}
	if err := c.out.Write(m); err != nil {
		return nil, fmt.Errorf("%w: %w", errPeer, err)
	}
	for {
		m, err := c.in.Read()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errPeer, err)
		}
		switch m.Kind() {
		case wire.KindRequest:
			err = c.decline(m)
		case wire.KindResult, wire.KindError:
			if m.ID().Key() == id.Key() {
				return m, nil
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// decline answers a request of the server: this client can do nothing.
func (c *mcpClient) decline(m *wire.Message) error {
	answer, err := wire.NewResult(m.ID(), []byte("{}"))
	if m.Method() != "ping" {
		answer, err = wire.NewError(m.ID(), wire.CodeMethodNotFound, "this client does not do that", nil)
	}
	if err != nil {
		return err
	}
	return c.out.Write(answer)
}

// maxToolPages bounds a server that never ends its list.
const maxToolPages = 200

// tools lists all tools of the server.
func (c *mcpClient) tools() ([]wire.Tool, error) {
	var all []wire.Tool
	params := []byte("{}")
	for range maxToolPages {
		m, err := c.ask("tools/list", params)
		if err != nil {
			return nil, err
		}
		if m.Kind() != wire.KindResult {
			return nil, errors.New("the server does not list its tools")
		}
		page, err := wire.ToolDefinitions(m.Result())
		if err != nil {
			return nil, fmt.Errorf("the server's tool list cannot be read in one way: %w", err)
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" {
			return all, nil
		}
		params = canon.ObjectValue(canon.Member{Name: "cursor", Value: canon.StringValue(page.NextCursor)}).Canonical()
	}
	return nil, errors.New("the server's tool list does not end")
}
