package wire_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// suites is where the published MCP messages lie.
const suites = "../../../shared/suites"

func parse(t testing.TB, frame string) *wire.Message {
	t.Helper()
	m, err := wire.Parse([]byte(frame), wire.Limits{})
	if err != nil {
		t.Fatalf("Parse(%s): %v", frame, err)
	}
	return m
}

// refused returns the refusal of a frame.
func refused(t testing.TB, frame []byte, limits wire.Limits) *wire.Error {
	t.Helper()
	m, err := wire.Parse(frame, limits)
	var fault *wire.Error
	if !errors.As(err, &fault) {
		t.Fatalf("Parse(%.200q) = %v, %v, want a refusal", frame, m, err)
	}
	if m != nil {
		t.Fatalf("Parse(%.200q) gave a message beside its refusal", frame)
	}
	return fault
}

func suiteFiles(t *testing.T, pattern string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(suites, pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skipf("shared/suites/%s is absent", pattern)
	}
	files := make(map[string][]byte, len(names))
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name)] = body
	}
	return files
}
