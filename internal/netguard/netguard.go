package netguard

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// What a fetch fails with, besides errors of the network.
var (
	ErrURL       = errors.New("the URL is none of https, or of http to a listed network, with a host and without a user")
	ErrForbidden = errors.New("the address is neither public nor in a listed network")
	ErrRedirect  = errors.New("the server sends the request elsewhere")
	ErrStatus    = errors.New("the server did not answer 200")
	ErrRefused   = errors.New("the server did not take it")
	ErrTooLong   = errors.New("the answer is too long")
	ErrSecret    = errors.New("a header with a secret goes over https only, and has one line")
)

// The limits and their ranges.
const (
	DefaultTimeout  = 10 * time.Second
	MaxTimeout      = time.Minute
	DefaultMaxBytes = 16 << 20

	maxHeaderBytes = 64 << 10
)

// Options configure a [Client]. The zero value reaches public addresses over
// HTTPS.
type Options struct {
	// Networks are reached although they are not public, and are the only
	// ones that plain HTTP reaches.
	Networks []netip.Prefix
	Timeout  time.Duration // of a whole fetch; 0 means DefaultTimeout, at most MaxTimeout
	MaxBytes int64         // of an answer; 0 means DefaultMaxBytes, which is the most
	Roots    *x509.CertPool
	Header   Header // sent with every request, over HTTPS only
}

// Header is a header with a secret in it. The zero value is none.
type Header struct{ Name, Value string }

// maxHeaderValue is the longest secret.
const maxHeaderValue = 8 << 10

// valid reports whether the header can be sent as it is. Package http checks
// it too, and says the value in its error.
func (h Header) valid() bool {
	if h == (Header{}) {
		return true
	}
	name := h.Name != "" && !strings.ContainsFunc(h.Name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	value := h.Value != "" && len(h.Value) <= maxHeaderValue && strings.TrimSpace(h.Value) == h.Value &&
		!strings.ContainsFunc(h.Value, func(r rune) bool { return r < ' ' || r > '~' })
	return name && value && !strings.EqualFold(h.Name, "host")
}

// Client fetches. It is safe for concurrent use.
type Client struct {
	secure, plain *http.Client
	header        Header
	maxBytes      int64
	guard         *guard
}

// New checks the options.
func New(opt Options) (*Client, error) {
	if opt.Timeout == 0 {
		opt.Timeout = DefaultTimeout
	}
	if opt.MaxBytes == 0 {
		opt.MaxBytes = DefaultMaxBytes
	}
	if opt.Timeout < 0 || opt.Timeout > MaxTimeout || opt.MaxBytes < 0 || opt.MaxBytes > DefaultMaxBytes {
		return nil, fmt.Errorf("a fetch has up to %s and %d bytes", MaxTimeout, int64(DefaultMaxBytes))
	}
	for _, n := range opt.Networks {
		if !n.IsValid() || n.Bits() == 0 || n.Addr().Is4In6() {
			return nil, errors.New("a listed network is in the form 10.1.0.0/16 and not every address there is")
		}
	}
	if !opt.Header.valid() {
		return nil, ErrSecret
	}
	g := &guard{networks: opt.Networks, lookup: systemLookup}
	return &Client{secure: newHTTP(g.dial, opt), plain: newHTTP(g.dialListed, opt), header: opt.Header, maxBytes: opt.MaxBytes, guard: g}, nil
}

// CheckURL fails with [ErrURL] or [ErrSecret] where [Client.Get] would before it connects.
func (c *Client) CheckURL(text string) error {
	_, err := c.parse(text)
	return err
}

func (c *Client) parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return nil, ErrURL
	}
	if u.Scheme != "https" && (u.Scheme != "http" || len(c.guard.networks) == 0) {
		return nil, ErrURL
	}
	if u.Scheme != "https" && c.header != (Header{}) {
		return nil, ErrSecret
	}
	return u, nil
}

// Get fetches a document. It fails with one of the sentinel errors, or with
// an error of the network that holds no URL.
func (c *Client) Get(ctx context.Context, text string) ([]byte, error) {
	u, err := c.parse(text)
	if err != nil {
		return nil, err
	}
	by := c.secure
	if u.Scheme == "http" {
		by = c.plain
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, ErrURL
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "verbatim")
	if c.header != (Header{}) {
		request.Header.Set(c.header.Name, c.header.Value)
	}
	response, err := by.Do(request)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer response.Body.Close()
	return c.read(response)
}

func (c *Client) read(response *http.Response) ([]byte, error) {
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return nil, ErrRedirect
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w but %d", ErrStatus, response.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, c.maxBytes+1))
	if err != nil {
		return nil, withoutURL(err)
	}
	if int64(len(data)) > c.maxBytes {
		return nil, ErrTooLong
	}
	return data, nil
}

// withoutURL drops the URL that package http writes before every error.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
