package hub

import (
	"context"
	"log/slog"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// nobody binds nothing: definitions are only looked at.
type nobody struct{}

func (nobody) Bind(string, wire.Tool) (*catalog.Tool, verbatim.Code) {
	return nil, verbatim.CodeToolRefused
}

// Definitions connects to a server, lists its tools and lets go of it. No tool
// is called, and no gate is between.
func Definitions(ctx context.Context, s Server, version string) ([]wire.Tool, error) {
	h := &Hub{cfg: Config{Binder: nobody{}, Version: version, Log: slog.New(slog.DiscardHandler)}}
	h.end, h.stop = context.WithCancel(ctx)
	defer h.stop()
	one := newServer(h, s)
	defer one.close()
	l, err := one.connect(ctx, modern)
	if err != nil {
		return nil, err
	}
	if err := l.roster.Load(ctx); err != nil {
		return nil, err
	}
	tools, _ := l.roster.Tools()
	return tools, nil
}
