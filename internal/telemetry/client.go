package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/seed-de4804fb/verbatim/internal/netguard"
)

// The signals, by the last part of their paths.
const (
	traces     = "traces"
	metricsSig = "metrics"
	logs       = "logs"
)

// tries is how often a request is made before what is in it is lost.
const tries = 3

// client posts OTLP requests.
type client struct {
	base  string
	http  *netguard.Client
	log   *slog.Logger
	pause time.Duration

	failing [3]atomic.Bool
	lost    [3]atomic.Int64 // requests, by signal
}

func newClient(base string, guard *netguard.Client, log *slog.Logger) (*client, error) {
	base = strings.TrimRight(base, "/")
	if strings.ContainsAny(base, "?#") {
		return nil, netguard.ErrURL
	}
	if err := guard.CheckURL(base); err != nil {
		return nil, err
	}
	return &client{base: base, http: guard, log: log, pause: 500 * time.Millisecond}, nil
}

func index(signal string) int {
	switch signal {
	case traces:
		return 0
	case metricsSig:
		return 1
	default:
		return 2
	}
}

// post sends one message once.
func (c *client) post(ctx context.Context, signal string, m proto.Message) error {
	body, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	return c.http.Post(ctx, c.base+"/v1/"+signal, http.Header{"Content-Type": {"application/x-protobuf"}}, body)
}

// send sends one message, and counts it as lost where the collector does not
// take it in some tries. Nobody can do more about it, so there is no error.
func (c *client) send(ctx context.Context, signal string, m proto.Message) {
	var err error
	for try := range tries {
		if try > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(c.pause << (try - 1)):
			}
		}
		if err = c.post(ctx, signal, m); err == nil || ctx.Err() != nil || errors.Is(err, netguard.ErrForbidden) {
			break
		}
	}
	i := index(signal)
	was := c.failing[i].Swap(err != nil)
	if err != nil {
		c.lost[i].Add(1)
	}
	switch {
	case err != nil && !was:
		c.log.Warn("the collector does not take telemetry; it is lost meanwhile", "signal", signal, "error", err)
	case err == nil && was:
		c.log.Info("the collector takes telemetry again", "signal", signal)
	}
}
