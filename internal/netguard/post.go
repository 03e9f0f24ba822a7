package netguard

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

// Post sends a body under the same rules as Get. Any answer from 200 to 299
// is a yes; what it says is not read, but for a little, so that the other side
// is not cut off. It fails with one of the sentinel errors, or with an error of
// the network that holds no URL.
func (c *Client) Post(ctx context.Context, text string, header http.Header, body []byte) error {
	u, err := c.parse(text)
	if err != nil {
		return err
	}
	by := c.secure
	if u.Scheme == "http" {
		by = c.plain
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return ErrURL
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("User-Agent", "verbatim")
	if c.header != (Header{}) {
		request.Header.Set(c.header.Name, c.header.Value)
	}
	response, err := by.Do(request)
	if err != nil {
		return withoutURL(err)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return ErrRedirect
	case response.StatusCode < 200 || response.StatusCode > 299:
		return fmt.Errorf("%w but %d", ErrRefused, response.StatusCode)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, min(c.maxBytes, maxHeaderBytes)))
	return nil
}
