package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificateEvery is how often the files of a certificate are looked at.
const certificateEvery = time.Second

// certificate is a certificate of two files, read again when they change.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	stamps [2]stamp // of the files that pair was read from
	looked time.Time
}

// stamp tells a file from what it was.
type stamp struct {
	at   time.Time
	size int64
}

// newTLS returns a configuration whose certificate follows its files. It fails
// where they hold none.
func newTLS(cert, key string, log *slog.Logger) (*tls.Config, error) {
	c := &certificate{cert: cert, key: key, log: log}
	if err := c.load(); err != nil {
		return nil, fmt.Errorf("the certificate: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return c.current(), nil
	}}, nil
}

// current returns the certificate of the files as they are; while they hold
// none, the last one that they held.
func (c *certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < certificateEvery {
		return c.pair
	}
	c.looked = time.Now()
	if c.stamped() == c.stamps {
		return c.pair
	}
	if err := c.load(); err != nil {
		c.log.Error("a certificate was changed and cannot be used; the earlier one stays", "file", c.cert, "error", err)
	} else {
		c.log.Info("a certificate was read again", "file", c.cert)
	}
	return c.pair
}

// load reads both files. They are stamped first, so that a change meanwhile is
// seen the next time.
func (c *certificate) load() error {
	c.stamps = c.stamped()
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err == nil {
		c.pair = &pair
	}
	return err
}

func (c *certificate) stamped() (out [2]stamp) {
	for i, file := range []string{c.cert, c.key} {
		if info, err := os.Stat(file); err == nil {
			out[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return out
}
