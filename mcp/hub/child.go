package hub

import (
	"context"
	"io"
	"log/slog"
	"sync"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// child is a server that the gateway runs, over its standard streams.
type child struct {
	*gate.Stream
	process *gate.Process
	stop    sync.Once
}

// Child returns the Dial of a server that is a command. It is started in a
// process group of its own, which ends with the connection; what it writes to
// standard error goes to stderr.
func Child(c gate.Command, stderr io.Writer, log *slog.Logger) func(context.Context) (Transport, error) {
	return func(context.Context) (Transport, error) {
		p, err := gate.Start(c, stderr)
		if err != nil {
			return nil, err
		}
		return &child{Stream: gate.NewStream(p.Out, p.In, log), process: p}, nil
	}
}

// Listen reads the server until it ends.
func (c *child) Listen(other func(*wire.Message)) {
	_ = c.Stream.Listen(other) // the end of a process is told by Gone
}

// Close ends the server and whatever it has started, and waits for that.
func (c *child) Close() { c.stop.Do(c.process.Stop) }
