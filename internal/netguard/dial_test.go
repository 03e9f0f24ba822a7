package netguard_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/netguard"
)

func TestTransportGoesWhereAFetchWould(t *testing.T) {
	t.Parallel()
	l := serve(t, false, say("rows"))
	for _, test := range []struct {
		name, base string
		listed     string
		want       error
	}{
		{"plain HTTP to a listed network", "http://127.0.0.1:" + l.port, "127.0.0.1/32", nil},
		{"plain HTTP to a public address", "http://8.8.8.8", "127.0.0.1/32", netguard.ErrForbidden},
		{"an inner address that is not listed", "https://127.0.0.1:" + l.port, "10.0.0.0/8", netguard.ErrForbidden},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			by, err := netguard.Transport(test.base, networks(test.listed), nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, test.base+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := by.RoundTrip(request)
			if err == nil {
				answer.Body.Close()
			}
			if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
	if _, err := netguard.Transport("http://8.8.8.8", nil, nil); !errors.Is(err, netguard.ErrURL) {
		t.Errorf("plain HTTP without a listed network: %v", err)
	}
}
