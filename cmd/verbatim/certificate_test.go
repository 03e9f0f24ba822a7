package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// writeCertificate writes a certificate of its own for a name.
func writeCertificate(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "page.pem"), filepath.Join(dir, "page.key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestCertificateFollowsItsFilesAndSurvivesAMistakeInThem(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir, "one.example.com")
	c := &certificate{cert: cert, key: key, log: slog.New(slog.NewTextHandler(&log, nil))}
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	look := func() string {
		t.Helper()
		c.looked = time.Time{} // as if a second had passed
		leaf, err := x509.ParseCertificate(c.current().Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.Subject.CommonName
	}
	if got := look(); got != "one.example.com" {
		t.Errorf("the certificate is for %s", got)
	}
	if err := os.WriteFile(cert, []byte("half of it"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := look(); got != "one.example.com" || !bytes.Contains(log.Bytes(), []byte("the earlier one stays")) {
		t.Errorf("after a mistake: %s, log %s", got, log.String())
	}
	writeCertificate(t, dir, "two.example.com")
	if got := look(); got != "two.example.com" {
		t.Errorf("after a change: %s", got)
	}
	if _, err := newTLS(cert, dir, c.log); err == nil {
		t.Error("a certificate without its key was taken")
	}
}
