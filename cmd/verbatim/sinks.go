package main

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/netguard"
	"github.com/seed-de4804fb/verbatim/internal/sink"
)

// sinks are where events go; nil if the configuration has none.
func (p *parts) sinks(ctx context.Context) (*sink.Sinks, error) {
	if len(p.cfg.Sinks) == 0 {
		return nil, nil
	}
	var list []sink.Config
	for _, name := range slices.Sorted(maps.Keys(p.cfg.Sinks)) {
		s := p.cfg.Sinks[name]
		target, err := p.targetOf(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("sink %s: %w", name, err)
		}
		list = append(list, sink.Config{Name: name, Target: target, FromStart: s.FromStart, Runs: s.Runs})
	}
	owner, err := p.deliverer()
	if err != nil {
		return nil, err
	}
	return sink.New(p.store, list, sink.Options{Owner: owner, Log: p.log})
}

// deliverer names this home to others that share its store. The next daemon of
// the home has the same name, so that it goes on at once: a home has one daemon
// at a time.
func (p *parts) deliverer() (string, error) {
	if p.cfg.Postgres == nil {
		return "home", nil // nobody else has its store
	}
	path := p.home.Path("gateway")
	name, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		name = []byte(rand.Text())
		err = os.WriteFile(path, name, 0o600)
	}
	if err == nil && len(name) < 16 {
		err = fmt.Errorf("%s: the name of this gateway was cut off; remove the file", path)
	}
	return string(name), err
}

func (p *parts) targetOf(ctx context.Context, s config.Sink) (sink.Target, error) {
	if s.File != nil {
		return &sink.File{Path: s.File.Path, MaxBytes: s.File.MaxBytes, Keep: s.File.Keep}, nil
	}
	if s.OTLP {
		return p.telemetry.Events(), nil
	}
	secret, err := readSecret(ctx, s.Webhook.Secret)
	if err != nil {
		return nil, err
	}
	client, err := guarded(s.Webhook.Networks, s.Webhook.CA, netguard.Header{})
	if err != nil {
		return nil, err
	}
	return sink.NewWebhook(s.Webhook.URL, s.Webhook.Key, []byte(secret), client, time.Now)
}

// guarded reaches public addresses, and the networks that an entry lists. ca
// may be nil.
func guarded(networks []netip.Prefix, ca *string, header netguard.Header) (*netguard.Client, error) {
	opt := netguard.Options{Networks: networks, Timeout: 15 * time.Second, MaxBytes: 64 << 10, Header: header}
	if ca != nil {
		text, err := os.ReadFile(*ca)
		if err != nil {
			return nil, err
		}
		if opt.Roots, err = x509.SystemCertPool(); err != nil {
			return nil, err
		}
		if !opt.Roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: no certificate in PEM", *ca)
		}
	}
	return netguard.New(opt)
}
