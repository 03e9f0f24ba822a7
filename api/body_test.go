package api_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-de4804fb/verbatim/api"
)

// TestABodyIsReadWholeWhateverItSaysOfItsLength: what it says is for the room
// that it gets, and only what is cut short is refused.
func TestABodyIsReadWholeWhateverItSaysOfItsLength(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		says int64
		cut  bool
	}{
		"as long":         {"0123456789", 10, false},
		"says nothing":    {"0123456789", -1, false},
		"nothing":         {"", 0, false},
		"longer":          {strings.Repeat("0123456789", 1000), 9, false},
		"one byte longer": {"0123456789", 9, false},
		"far too long":    {"0123456789", 1 << 40, false},
		"cut short":       {"0123456789", 11, true},
		"nothing came":    {"", 5, true},
	} {
		for _, from := range []io.Reader{strings.NewReader(tt.text), iotest.OneByteReader(strings.NewReader(tt.text)),
			iotest.DataErrReader(strings.NewReader(tt.text))} {
			got, err := api.Whole(from, tt.says)
			if tt.cut != (err != nil) || !tt.cut && string(got) != tt.text {
				t.Errorf("%s: %d bytes of %d: %v", name, len(got), len(tt.text), err)
			}
		}
	}
	if _, err := api.Whole(iotest.ErrReader(io.ErrClosedPipe), 5); err == nil {
		t.Error("a body that broke off was read")
	}
}
