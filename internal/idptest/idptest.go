// Package idptest is an OpenID provider for tests, in a process of its own.
//
// In: the people that it knows, and for each sign-in how its answer shall be
// wrong, if it shall. Out: discovery, keys, a page on which a browser chooses
// who it is, codes and ID tokens (OpenID Connect Core 1.0; RFC 7636). Its
// tokens are signed with go-jose. It must be imported by tests only: whoever
// asks is whoever they say.
package idptest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The one client of the provider.
const (
	Client = "verbatim"
	Secret = "the secret of the client"
)

// variable tells a test binary to be the provider.
const variable = "VERBATIM_TEST_IDP"

// Main runs the tests of a package whose tests call Start.
func Main(m *testing.M) {
	if os.Getenv(variable) != "" {
		serve()
	}
	os.Exit(m.Run())
}

// serve is the provider's process. It ends with its standard input.
func serve() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	p, err := newProvider("http://localhost:" + port)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(p.issuer)
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); os.Exit(0) }()
	fmt.Fprintln(os.Stderr, http.Serve(l, p.handler()))
	os.Exit(1)
}

// Server is a provider that runs.
type Server struct {
	Issuer string
	t      testing.TB
}

// Start starts a provider that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), variable+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the provider did not start: %v", err)
	}
	return &Server{Issuer: strings.TrimSpace(line), t: t}
}

// Person makes somebody known, or changes their groups.
func (s *Server) Person(subject, name string, groups ...string) {
	s.t.Helper()
	s.post("/test/person", url.Values{"sub": {subject}, "name": {name}, "groups": groups})
}

// Wrong makes the next ID token wrong in one way; see [Ways].
func (s *Server) Wrong(way string) {
	s.t.Helper()
	s.post("/test/wrong", url.Values{"way": {way}})
}

func (s *Server) post(path string, form url.Values) {
	s.t.Helper()
	resp, err := http.PostForm(s.Issuer+path, form)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		s.t.Fatalf("%s: %s", path, resp.Status)
	}
}

// SignIn does what a browser does at an address of the provider: it signs a
// person in and returns the address that the provider sends it back to.
func (s *Server) SignIn(address, subject string) *url.URL {
	s.t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		s.t.Fatal(err)
	}
	form := at.Query()
	form.Set("sub", subject)
	client := &http.Client{Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.PostForm(s.Issuer+"/authorize", form)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		s.t.Fatalf("the provider answered %s: %v", resp.Status, err)
	}
	return back
}
