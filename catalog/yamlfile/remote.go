package yamlfile

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/netguard"
	"github.com/seed-de4804fb/verbatim/resolve"
)

// remoteTable is a JSON table behind a URL. Secrets are read for each fetch.
type remoteTable struct {
	url      string
	options  netguard.Options
	name     string                 // of the header that holds the secret
	auth, ca func() (string, error) // nil: none
}

func makeRemoteTable(r *reader, c resolver, opt resolve.TableOptions) (resolve.Resolver, error) {
	refresh, err := refreshOf(c)
	if err != nil {
		return nil, err
	}
	t := remoteTable{url: c.URL, options: netguard.Options{MaxBytes: resolve.MaxTableBytes}}
	if t.options.Networks, err = networks(c.Networks); err != nil {
		return nil, err
	}
	if err := t.secrets(r, c); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	return resolve.NewSourceTable(t, refresh, opt)
}

func (t *remoteTable) secrets(r *reader, c resolver) (err error) {
	if c.Auth != nil {
		if t.auth, err = r.secret(secret{c.Auth.Env, c.Auth.File}); err != nil {
			return fmt.Errorf("auth: %w", err)
		}
		if t.name = c.Auth.Name; t.name == "" {
			t.name = "Authorization"
		}
	}
	if c.CA != nil {
		if t.ca, err = r.secret(*c.CA); err != nil {
			return fmt.Errorf("ca: %w", err)
		}
	}
	return nil
}

// check tries the settings without the secrets.
func (t *remoteTable) check() error {
	opt := t.options
	if t.auth != nil {
		opt.Header = netguard.Header{Name: t.name, Value: "x"}
	}
	client, err := netguard.New(opt)
	if err != nil {
		return err
	}
	return client.CheckURL(t.url)
}

// Rows fetches the table. Its version is the digest of the bytes.
func (t remoteTable) Rows(ctx context.Context) ([]resolve.Row, string, error) {
	client, err := t.client()
	if err != nil {
		return nil, "", err
	}
	data, err := client.Get(ctx, t.url)
	if err != nil {
		return nil, "", err
	}
	rows, err := resolve.ParseJSON(data)
	return rows, "sha256:" + canon.Sum(data).String()[:16], err
}

func (t remoteTable) client() (*netguard.Client, error) {
	opt := t.options
	if t.auth != nil {
		value, err := t.auth()
		if err != nil {
			return nil, err
		}
		opt.Header = netguard.Header{Name: t.name, Value: value}
	}
	if t.ca != nil {
		pem, err := t.ca()
		if err != nil {
			return nil, err
		}
		opt.Roots = x509.NewCertPool()
		if !opt.Roots.AppendCertsFromPEM([]byte(pem)) {
			return nil, errors.New("ca holds no certificate in PEM")
		}
	}
	return netguard.New(opt)
}
