package yamlfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// maxSecretBytes is the longest secret: a few certificates.
const maxSecretBytes = 64 << 10

var (
	errSecret  = errors.New("needs either env, the name of an environment variable, or file")
	envPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// secret returns a function that reads a secret where it stands now, so that
// a changed one takes effect without a restart. One that is not there fails
// the question that needs it, not the catalog: people check catalogs without
// having the gateway's secrets.
func (r *reader) secret(s secret) (func() (string, error), error) {
	if (s.Env == "") == (s.File == "") || s.Env != "" && !envPattern.MatchString(s.Env) {
		return nil, errSecret
	}
	if s.Env != "" {
		return func() (string, error) { return trimmed(os.Getenv(s.Env), "environment variable "+s.Env) }, nil
	}
	path := r.path(s.File)
	return func() (string, error) {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("read secret: %w", err)
		}
		defer file.Close()
		data, err := io.ReadAll(io.LimitReader(file, maxSecretBytes+1))
		if err != nil {
			return "", fmt.Errorf("read secret: %w", err)
		}
		return trimmed(string(data), path)
	}, nil
}

// trimmed drops the line end that editors and echo leave behind.
func trimmed(text, from string) (string, error) {
	text = strings.TrimRight(text, "\r\n")
	if text == "" || len(text) > maxSecretBytes {
		return "", fmt.Errorf("the secret of %s is empty or longer than %d bytes", from, maxSecretBytes)
	}
	return text, nil
}
