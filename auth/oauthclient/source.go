package oauthclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Config is one way to get tokens.
type Config struct {
	TokenURL string // of the authorization server: https, or http to this machine
	ClientID string
	// Secret is asked for each request; nil for a client that has none, which
	// only an exchange can be.
	Secret func(ctx context.Context) (string, error)
	Scopes []string
	// Resource is what the token is for (RFC 8707); "" asks for none.
	Resource string
	// Subject, if not nil, is the gateway's own token that is exchanged, and
	// SubjectType what it is; "" means a JWT.
	Subject     func(ctx context.Context) (string, error)
	SubjectType string
	Roots       []byte           // PEM certificates beside the system's
	Now         func() time.Time // nil means time.Now
}

// TypeJWT is the subject token type of RFC 8693 §3.
const TypeJWT = "urn:ietf:params:oauth:token-type:jwt"

// Source gets tokens. It is safe for concurrent use.
type Source struct {
	cfg  Config
	http *http.Client
	turn chan struct{} // a semaphore of one: who asks
	text string        // guarded by turn
	ends time.Time
}

var (
	errAddress = errors.New("the token endpoint must be https://HOST/..., or http:// to this machine, without a user and fragment")
	errSecret  = errors.New("client credentials need a secret")
	errRoots   = errors.New("the certificates are not PEM")
)

// The times of a token: how long one is used whose end is not said, how long
// before its end another is asked for, and for how long one is used at most.
const (
	unsaid  = 5 * time.Minute
	early   = 30 * time.Second
	longest = 24 * time.Hour
)

const (
	answerTime = 15 * time.Second
	maxAnswer  = 64 << 10
)

// New checks the configuration. Nothing is asked yet.
func New(cfg Config) (*Source, error) {
	u, err := url.Parse(cfg.TokenURL)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && !(u.Scheme == "http" && local(u.Hostname())) {
		return nil, errAddress
	}
	if cfg.ClientID == "" || cfg.Secret == nil && cfg.Subject == nil {
		return nil, errSecret
	}
	if cfg.SubjectType == "" {
		cfg.SubjectType = TypeJWT
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if cfg.Roots != nil {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool() // a system without any: only the given ones count
		}
		if !pool.AppendCertsFromPEM(cfg.Roots) {
			return nil, errRoots
		}
		secure.RootCAs = pool
	}
	return &Source{cfg: cfg, turn: make(chan struct{}, 1), http: &http.Client{Timeout: answerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{TLSClientConfig: secure, MaxResponseHeaderBytes: 64 << 10, DisableCompression: true, ForceAttemptHTTP2: true}}}, nil
}

func local(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// Token returns an access token that is good for some time yet.
func (s *Source) Token(ctx context.Context) (string, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if s.text != "" && s.cfg.Now().Before(s.ends) {
		return s.text, nil
	}
	text, lasts, err := s.ask(ctx)
	if err != nil {
		return "", err
	}
	s.text, s.ends = text, s.cfg.Now().Add(max(min(lasts, longest)-early, lasts/2))
	return text, nil
}

// Forget drops a token that a server has refused, so that another is asked for.
func (s *Source) Forget(token string) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.text == token {
		s.text = ""
	}
}

// ask makes one request to the token endpoint.
func (s *Source) ask(ctx context.Context) (string, time.Duration, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if s.cfg.Subject != nil {
		subject, err := s.cfg.Subject(ctx)
		if err != nil {
			return "", 0, fmt.Errorf("the token to exchange: %w", err)
		}
		form = url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "subject_token": {subject},
			"subject_token_type": {s.cfg.SubjectType}, "requested_token_type": {"urn:ietf:params:oauth:token-type:access_token"}}
	}
	if len(s.cfg.Scopes) > 0 {
		form.Set("scope", strings.Join(s.cfg.Scopes, " "))
	}
	if s.cfg.Resource != "" {
		form.Set("resource", s.cfg.Resource)
	}
	request, err := s.request(ctx, form)
	if err != nil {
		return "", 0, err
	}
	response, err := s.http.Do(request)
	if err != nil {
		return "", 0, errors.New("the authorization server cannot be reached")
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil || len(body) > maxAnswer {
		return "", 0, errAnswer
	}
	if response.StatusCode != http.StatusOK {
		return "", 0, fmt.Errorf("the authorization server answers with status %d%s", response.StatusCode, code(body))
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return "", 0, errAnswer
	}
	return token(body)
}

// request authenticates the client as RFC 6749 §2.3.1 wants it.
func (s *Source) request(ctx context.Context, form url.Values) (*http.Request, error) {
	header := ""
	if s.cfg.Secret == nil {
		form.Set("client_id", s.cfg.ClientID)
	} else {
		secret, err := s.cfg.Secret(ctx)
		if err != nil {
			return nil, fmt.Errorf("the secret of the client: %w", err)
		}
		header = "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(s.cfg.ClientID)+":"+url.QueryEscape(secret)))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, errAddress
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	if header != "" {
		r.Header.Set("Authorization", header)
	}
	return r, nil
}

var errAnswer = errors.New("the authorization server answers with something that is no bearer token")

// codes are the errors of RFC 6749 §5.2 and RFC 8707 §2. Others are not
// repeated: an answer could hold anything.
var codes = []string{"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_target"}

func code(body []byte) string {
	v, err := canon.Decode(body, canon.Options{})
	if err != nil {
		return ""
	}
	if said, ok := v.Get("error"); ok && slices.Contains(codes, said.Text()) {
		return ": " + said.Text()
	}
	return ""
}

// token reads the answer of RFC 6749 §5.1.
func token(body []byte) (string, time.Duration, error) {
	v, err := canon.Decode(body, canon.Options{})
	if err != nil || v.Kind() != canon.Object {
		return "", 0, errAnswer
	}
	text, _ := v.Get("access_token")
	kind, _ := v.Get("token_type")
	if !strings.EqualFold(kind.Text(), "Bearer") || !plain(text.Text()) {
		return "", 0, errAnswer
	}
	ends, said := v.Get("expires_in")
	if !said {
		return text.Text(), unsaid, nil
	}
	seconds, ok := ends.Int64()
	if !ok || seconds <= 0 {
		return "", 0, errAnswer
	}
	return text.Text(), time.Duration(min(seconds, int64(longest/time.Second))) * time.Second, nil
}

// plain: what a header can carry (RFC 6750 §2.1), and not long.
func plain(s string) bool {
	return s != "" && len(s) <= 16<<10 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}
